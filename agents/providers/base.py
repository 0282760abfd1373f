"""The one port: a provider streams batches of events for one model call.

A batch is what one read from the network brought; it is never empty. A wire's `Reader` is pure: bytes in,
events out; the ten lines that do I/O stand beside it.
"""

from collections.abc import AsyncGenerator, Mapping
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from agents.conversation import ModelRequest
from streaming.codes import RunCode
from streaming.events import TextDelta, ThinkingDelta, Usage


class TurnStop(StrEnum):
    """Why a model call ended, vendor-neutral. Complete calls of a closed turn run, whatever it says, except
    after LENGTH and CONTENT_FILTER (agent-events-v1 section 4)."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"


class CallStarted(msgspec.Struct, frozen=True, gc=False):
    """A call's whole name is known: at its first argument fragment, the next call or the turn's end.

    `index` is dense, from 0, in order of start, made by the reader. `id` is the vendor's, empty if it sent
    none. `name` is ours again, where the vendor had to be given another.
    """

    index: int
    id: str
    name: str


class CallDelta(msgspec.Struct, frozen=True, gc=False):
    """A fragment of the arguments of call `index`, as emitted. Never empty."""

    index: int
    fragment: str


class ReplayPart(msgspec.Struct, frozen=True):
    """An opaque part of the answer that this vendor wants back in the next round."""

    data: Mapping[str, Any]


class ResponseEnded(msgspec.Struct, frozen=True, gc=False):
    """The model call is over. `closed` is false if neither a finish reason nor the end marker came.

    `model` is the vendor's name of the model that answered, empty if it named none; `raw_stop` its own word.
    """

    closed: bool
    stop: TurnStop
    usage: Usage
    model: str = ""
    raw_stop: str | None = None


class ResponseFailed(msgspec.Struct, frozen=True, gc=False):
    """The vendor reported an error inside the stream, or the stream could not be read. Last of its stream."""

    code: RunCode
    detail: str
    usage: Usage = Usage()


ProviderEvent = (
    TextDelta | ThinkingDelta | CallStarted | CallDelta | ReplayPart | ResponseEnded | ResponseFailed
)


class Reader(Protocol):
    """One response body, pure. After `ResponseEnded` or `ResponseFailed` it returns nothing more."""

    def feed(self, data: bytes) -> list[ProviderEvent]:
        """Read what came. Any cut of the body gives the same events."""

    def finish(self) -> list[ProviderEvent]:
        """The body ended: return what is left. Overall there is one `ResponseEnded` or `ResponseFailed`."""


class Provider(Protocol):
    """A place that answers model calls. `name` is the first half of `provider/model`."""

    name: str
    #: Opaque replay parts go back only to the vendor they came from.
    vendor: str

    def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        """Yield batches; the last event is `ResponseEnded` or `ResponseFailed`.

        Raises ProviderError if the call fails before its first byte. Closing the generator closes the
        connection.
        """
