"""One model call through the official SDK: a rendered body out, batches of events back."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Protocol

from agents.providers.base import ProviderEvent, Reader
from streaming.codes import RunCode

if TYPE_CHECKING:
    from agents.providers.transport import Body as ResponseBody

#: Once a turn is over only its numbers and its end marker can follow; a vendor that forgets to end is left.
AFTER_THE_TURN_SECONDS = 5.0
#: How long the end of the body may take after the end marker. Worth waiting for: the connection lives on.
AFTER_THE_END_SECONDS = 0.05

Body = dict[str, Any]

#: (body, the vendor's complaint) → the body without what it complains about, and the names of that.
Soften = Callable[[Body, str], tuple[Body, Sequence[str]]]


class Wire(Enum):
    CHAT_COMPLETIONS = auto()
    RESPONSES = auto()


@dataclass(frozen=True)
class Place:
    """Where model calls go and with which key; `name` is the provider's, for errors."""

    name: str
    base_url: str
    api_key: str = field(repr=False)


class FailingReader(Reader, Protocol):
    """A reader that can be told that its connection broke."""

    turn_over: bool
    ended: bool

    def fail(self, code: RunCode, detail: str) -> list[ProviderEvent]: ...


async def call_model(
    place: Place, wire: Wire, body: Body, reader: FailingReader, soften: Soften
) -> AsyncGenerator[list[ProviderEvent], None]:
    """Stream one call. Raises ProviderError before the first byte; later failures are the last event."""
    await load_sdk()
    from agents.providers import errors, openai_client

    async with openai_client.open_stream(place, wire, body, soften) as response:
        begun = False
        while not reader.ended:
            try:
                data = await _read(response, reader)
            except Exception as error:
                failure = errors.provider_error(error, place.name, place.api_key)
                if not begun:
                    raise failure from error
                events = reader.fail(RunCode.PROVIDER_STREAM_BROKEN, failure.detail)
            else:
                begun = begun or bool(data)
                events = reader.feed(data) if data else reader.finish()
            if reader.ended:
                await _await_end(response)
            if events:
                yield events


async def _read(response: "ResponseBody", reader: FailingReader) -> bytes:
    if not reader.turn_over:
        return await response.read()
    try:
        async with asyncio.timeout(AFTER_THE_TURN_SECONDS):
            return await response.read()
    except TimeoutError:
        return b""


async def _await_end(response: "ResponseBody") -> None:
    """Let the body come to its end, so that its connection can be used again."""
    if response.at_end:
        return
    # Whatever happens to it now, the answer is whole.
    with suppress(Exception):
        async with asyncio.timeout(AFTER_THE_END_SECONDS):
            while await response.read():
                pass


_loaded = False


async def load_sdk() -> None:
    """Import the SDK, at first use or earlier; in a thread, for it takes a second and streams must go on."""
    global _loaded
    if not _loaded:
        await asyncio.to_thread(importlib.import_module, "agents.providers.openai_client")
        _loaded = True
