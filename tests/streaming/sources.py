"""A source of bytes that knows how it was treated, and a clock that can be put forward."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest

from streaming.keepalive import KeepAlive


class Clock:
    """The loop's own clock, which can be put forward."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        real, self._ahead = loop.time, 0.0
        monkeypatch.setattr(loop, "time", lambda: real() + self._ahead)

    async def forward(self, seconds: float) -> None:
        """Let time pass, and everything happen that is due then."""
        self._ahead += seconds
        await settle()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class Source:
    """Yields what is put in; knows who ran it, and how it ended."""

    def __init__(self, *items: bytes) -> None:
        self.items: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.closed = asyncio.Event()
        self.tasks: set[asyncio.Task[Any] | None] = set()
        self.asked = 0
        for item in items:
            self.items.put_nowait(item)

    async def stream(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                self.tasks.add(asyncio.current_task())
                self.asked += 1
                item = await self.items.get()
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.tasks.add(asyncio.current_task())
            await asyncio.sleep(0)  # closing a connection takes its time
            self.closed.set()


def alive(source: Source, **options: Any) -> KeepAlive:
    return KeepAlive(source.stream(), **options)


async def asked(stream: KeepAlive) -> "asyncio.Future[bytes]":
    """Return a reader that waits for the next item."""
    reader = asyncio.ensure_future(anext(stream))
    await settle()
    return reader


async def all_of(stream: AsyncIterator[bytes]) -> list[bytes]:
    return [item async for item in stream]
