"""What the pure half of a token costs: a vendor's bytes to events, events to the frames of a visitor."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from agents.providers.base import ProviderEvent
from agents.providers.chat_completions.reader import ChatCompletionsReader
from bench.clock import Result, per_call
from streaming import sse
from streaming.agent_events_v1 import Audience, Encoder, Selected, View
from streaming.events import BlockStreamed, TextDelta

TOKENS = 1000
#: Tokens that one network read brings, as a fast vendor's do.
A_READ = 4
VIEW = View(Audience.CHAT, True, True, True, (Selected("agent_1", "content", True, True),))


def chunk(text: str) -> bytes:
    """Return one Chat Completions chunk as vendors send it."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def measure() -> Iterator[Result]:
    reads = [chunk("word ") * A_READ] * (TOKENS // A_READ)
    yield Result("read a token from Chat Completions", _a_token(partial(_read, reads)), "µs")
    batches = [[TextDelta("word ")] * A_READ] * (TOKENS // A_READ)
    yield Result("encode and frame a token", _a_token(partial(_encode, batches)), "µs")


def _a_token(function: Callable[[], object]) -> float:
    return per_call(function) / TOKENS * 1e6


def _read(reads: Sequence[bytes]) -> list[ProviderEvent]:
    reader = ChatCompletionsReader()
    events = [event for read in reads for event in reader.feed(read)]
    assert len(events) == TOKENS
    return events


def _encode(batches: Sequence[Sequence[TextDelta]]) -> int:
    encoder = Encoder(VIEW)
    return sum(len(sse.frames(encoder.encode(BlockStreamed("agent_1", batch)))) for batch in batches)
