import logging

from studio.logs import OneLine


def line(message: str, *args: object, error: BaseException | None = None) -> str:
    info = (type(error), error, error.__traceback__) if error else None
    return OneLine().format(logging.LogRecord("runs", logging.INFO, "x.py", 1, message, args, info))


def test_it_names_level_and_logger() -> None:
    assert line("run %s ended", "run_1").endswith(" INFO runs run run_1 ended")


def test_it_lets_no_value_forge_a_line() -> None:
    written = line("agent said %s", "x\n2026-01-01 INFO runs all is well\r\x1b[2K\u2028\x00")
    assert written.isprintable()
    assert "x\\n2026" in written


def test_it_writes_a_traceback_on_the_same_line() -> None:
    try:
        raise ValueError("no")
    except ValueError as error:
        written = line("failed", error=error)
    assert "\n" not in written
    assert "failed\\nTraceback" in written
    assert written.endswith("ValueError: no")
