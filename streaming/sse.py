"""Messages as frames of an event stream: `data: `, compact JSON, LF LF (agent-events-v1 section 2). Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from streaming.text import clean_json

#: Sent after a time without a byte. A comment: no client sees it as a frame.
PING = b": ping\n\n"
#: After the terminal frame, on every stream whose socket is still open.
DONE = b'data: "[DONE]"\n\n'

#: Unicode's other line ends. JSON and the event stream allow them as they are, but readers that split with a
#: language's own idea of a line would cut the frame there; as JSON escapes they are the same text.
_LINE_ENDS = {b"\xc2\x85": rb"\u0085", b"\xe2\x80\xa8": rb"\u2028", b"\xe2\x80\xa9": rb"\u2029"}

_encode = msgspec.json.Encoder().encode


def frame(message: Mapping[str, Any]) -> bytes:
    """Return one message as one frame."""
    return b"data: %b\n\n" % _json(message)


def frames(messages: Iterable[Mapping[str, Any]]) -> bytes:
    """Return messages as frames one after the other, to leave in one send; empty for none."""
    return b"".join([b"data: %b\n\n" % _json(message) for message in messages])


def _json(message: Mapping[str, Any]) -> bytes:
    try:
        data = _encode(message)
    except UnicodeEncodeError:
        # Text is cleaned where it enters; a stream does not end because one was forgotten.
        data = _encode(clean_json(message))
    if not data.isascii():
        for raw, escaped in _LINE_ENDS.items():
            if raw in data:
                data = data.replace(raw, escaped)
    return data
