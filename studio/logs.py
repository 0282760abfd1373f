"""The log's shape: one line an event, whatever is in it, so that nothing a stranger sent can forge a line."""

import logging

_ESCAPES = {code: repr(chr(code))[1:-1] for code in [*range(32), 127, 0x85, 0x2028, 0x2029]}


class OneLine(logging.Formatter):
    """`TIME LEVEL LOGGER message`, tracebacks included, with control characters written as escapes."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name} {message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).translate(_ESCAPES)
