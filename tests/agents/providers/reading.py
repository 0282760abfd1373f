"""Reading bodies in tests: cut them, run a reader over them, say what came of it in the manifest's words."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.providers.base import (
    CallDelta,
    CallStarted,
    ProviderEvent,
    Reader,
    ReplayPart,
    ResponseEnded,
    ResponseFailed,
)
from streaming.events import TextDelta, ThinkingDelta


@dataclass
class Outcome:
    """What one response said. `calls` have the manifest's keys: id (None if none came), name, arguments."""

    text: str = ""
    thinking: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    replay: list[ReplayPart] = field(default_factory=list)
    ends: list[ResponseEnded | ResponseFailed] = field(default_factory=list)

    @property
    def ended(self) -> ResponseEnded:
        (end,) = self.ends
        assert isinstance(end, ResponseEnded), end
        return end

    @property
    def failed(self) -> ResponseFailed:
        (end,) = self.ends
        assert isinstance(end, ResponseFailed), end
        return end


def read(reader: Reader, pieces: Iterable[bytes]) -> list[ProviderEvent]:
    """Return every event of a body; asserts that exactly one end came, last."""
    events = [event for piece in pieces for event in reader.feed(piece)]
    events += reader.finish()
    ends = [event for event in events if isinstance(event, ResponseEnded | ResponseFailed)]
    assert len(ends) == 1
    assert events[-1] is ends[0]
    assert reader.feed(b"data: {}\n\n") == []
    assert reader.finish() == []
    return events


def outcome(events: Sequence[ProviderEvent]) -> Outcome:
    """Fold events; asserts that indexes are dense and nothing empty is said."""
    result = Outcome()
    for event in events:
        match event:
            case TextDelta(text=text):
                assert text
                result.text += text
            case ThinkingDelta(text=text):
                assert text
                result.thinking += text
            case CallStarted(index=index, id=id, name=name):
                assert index == len(result.calls)
                result.calls.append({"id": id or None, "name": name, "arguments": ""})
            case CallDelta(index=index, fragment=fragment):
                assert fragment
                result.calls[index]["arguments"] += fragment
            case ReplayPart():
                result.replay.append(event)
            case ResponseEnded() | ResponseFailed():
                result.ends.append(event)
    return result


def read_whole(make: Callable[[], Reader], body: bytes) -> Outcome:
    return outcome(read(make(), [body]))


def single_bytes(body: bytes) -> Iterator[bytes]:
    return (body[at : at + 1] for at in range(len(body)))


def random_cuts(body: bytes, seed: int) -> Iterator[bytes]:
    """Cut a body into pieces of very different lengths, empty ones included."""
    chance = random.Random(seed)
    at = 0
    while at < len(body):
        length = chance.choice((0, 1, 1, 2, 3, 7, 40, 300, 4096))
        yield body[at : at + length]
        at += length
