"""`manage.py serve` as a real process: what it prints, when, and how it ends."""

import http.client
import json
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.servers import ROOT, environment

pytestmark = [pytest.mark.socket]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(data_dir: Path, port: int, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "serve", *arguments],
        cwd=ROOT,
        env=environment(data_dir, {"PORT": str(port)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watchdog = threading.Timer(60, process.kill)  # a line that never comes must not hang the tests
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def lines_until(process: subprocess.Popen[str], start: str) -> list[str]:
    """Read its lines up to the first that begins with `start`."""
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith(start):
            return lines
    raise AssertionError("it ended without that line:\n" + "\n".join(lines))


def status_of(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path)
    status = connection.getresponse().status
    connection.close()
    return status


def test_it_prepares_says_where_it_is_and_ends_cleanly(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, port, "--prepare") as process:
        lines = lines_until(process, "Chat:")
        address = f"http://127.0.0.1:{port}"
        assert lines[0] == f"Studio is ready at {address}"
        assert re.fullmatch(
            rf"Admin: {address}/admin/   name: admin   password, .*: [a-z2-9]{{16}}", lines[1]
        )
        assert lines[2] == f"Chat:  {address}/chat/demo"
        assert [status_of(port, path) for path in ("/health/ready", "/admin/login/")] == [200, 200]
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=15)[0] == ""
        assert process.returncode == 0

    with serving(tmp_path, port, "--prepare") as process:
        lines = lines_until(process, "Chat:")
        assert lines[1] == f"Admin: {address}/admin/"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=15)[0] == ""
        assert process.returncode == 0


def test_it_says_that_the_port_is_busy_and_touches_nothing(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with serving(tmp_path, port, "--prepare") as process:
            said = process.communicate(timeout=30)[0]
    assert said.startswith(f"CommandError: Port {port} is in use by another program.")
    assert process.returncode == 1
    assert not (tmp_path / "studio.sqlite3").exists()


def test_it_ends_open_answers_properly_when_it_is_stopped(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, port, "--prepare") as process:
        lines_until(process, "Chat:")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        headers = {"Content-Type": "application/json", "X-Studio-Stream-Protocol": "agent-events-v1"}
        connection.request("POST", "/api/chat/demo", json.dumps({"input": "What is 6 * 7?"}), headers)
        answer = connection.getresponse()
        assert json.loads(answer.readline().removeprefix(b"data: "))["event"] == "thinking"
        process.send_signal(signal.SIGTERM)
        *_, end, sentinel = [line for line in answer.read().splitlines() if line]
        connection.close()
        assert json.loads(end.removeprefix(b"data: "))["code"] == "RUN_INTERRUPTED"
        assert sentinel == b'data: "[DONE]"'
        assert process.communicate(timeout=15)[0] == ""
        assert process.returncode == 0
    with closing(sqlite3.connect(tmp_path / "studio.sqlite3")) as database:
        rows = database.execute("SELECT status, code FROM runs_run").fetchall()
    assert rows == [("failed", "RUN_INTERRUPTED")]
