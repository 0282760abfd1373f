"""An event-stream body, cut anywhere, split into events. Pure, and on the path of every token.

Works on bytes: a cut inside a character cannot matter, and nobody pays for decoding twice. Lines end with LF,
CRLF or CR; comments are skipped; the last event counts even if its blank line is missing.
"""

#: More than any vendor sends as one event; an endless line must not fill the memory.
MAX_EVENT_BYTES = 16 * 1024 * 1024

#: How much of a body that is no event stream is kept, to find the error in it.
MAX_STRAY_BYTES = 64 * 1024

_BOM = b"\xef\xbb\xbf"

#: (event name or b"", data)
SseEvent = tuple[bytes, bytes]


class EventTooLarge(ValueError):
    """One event is larger than MAX_EVENT_BYTES."""


class SseReader:
    """`feed` returns the events that are complete, `finish` what is left. Events without data are none.

    `stray` is what came before the first event and is no field of an event stream: a server that was asked
    for a stream and answers with a bare JSON document or a page is read there. A line `error: …` counts as an
    event named `error` (llama.cpp).
    """

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self.stray = b""
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._after_cr = False
        self._name = b""
        self._data: bytes | None = None
        self._seen = False
        #: No event has begun.
        self._between = True

    def feed(self, data: bytes) -> list[SseEvent]:
        # The usual read begins and ends with an event. The general way gives the same, slower.
        if self._between and data.endswith(b"\n\n") and b"\r" not in data:
            events: list[SseEvent] = []
            for block in data[:-2].split(b"\n\n"):
                name, data = b"", block
                if block.startswith(b"event: "):
                    name, _, data = block.partition(b"\n")
                if data.startswith(b"data: {") and b"\n" not in data:
                    events.append((name[7:], data[6:]))
                    self._seen = True
                else:
                    events += self._events([*block.split(b"\n"), b""])
            return events
        events = self._feed_lines(data)
        self._between = not self._pieces and self._data is None and not self._name and not self._after_cr
        return events

    def finish(self) -> list[SseEvent]:
        lines = [b"".join(self._pieces), b""] if self._pieces else [b""]
        self._pieces.clear()
        return self._events(lines)

    def _feed_lines(self, data: bytes) -> list[SseEvent]:
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == 0x0A:
                data = data[1:]
        if b"\n" not in data and b"\r" not in data:
            self._wait(data)
            return []
        if self._pieces:
            self._pieces.append(data)
            data = b"".join(self._pieces)
            self._pieces.clear()
            self._waiting = 0
        lines = data.splitlines()
        last = data[-1]
        if last == 0x0D:
            self._after_cr = True
        elif last != 0x0A:
            self._wait(lines.pop())
        return self._events(lines)

    def _wait(self, piece: bytes) -> None:
        self._waiting += len(piece)
        if self._waiting > self._max_bytes:
            raise EventTooLarge(f"an event of more than {self._max_bytes} bytes")
        if piece:
            self._pieces.append(piece)

    def _events(self, lines: list[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        for line in lines:
            if line.startswith(b"data:"):
                self._add(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if self._data:
                    events.append((self._name, self._data))
                    self._seen = True
                self._name, self._data = b"", None
            elif line[0] != 0x3A:
                self._field(line)
        return events

    def _add(self, value: bytes) -> None:
        if self._data is None:
            self._data = value
        else:
            self._data += b"\n" + value
            if len(self._data) > self._max_bytes:
                raise EventTooLarge(f"an event of more than {self._max_bytes} bytes")

    def _field(self, line: bytes) -> None:
        name, _, value = line.removeprefix(_BOM).partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._add(value)
            case b"event":
                self._name = value
            case b"error" if value.startswith(b"{"):
                self._name = b"error"
                self._add(value)
            case b"id" | b"retry":
                pass
            case _:
                if not self._seen and len(self.stray) < MAX_STRAY_BYTES:
                    self.stray += line + b"\n"
