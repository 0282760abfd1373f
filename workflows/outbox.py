"""The one queue of a run, from its blocks to whoever reads it.

Batches wait for room, so a slow reader slows the providers and memory stays flat; marks (a block's begin, its
end, the end of all) never wait.
"""

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")

#: Batches under way between the blocks of a run and its reader. Each is at most what one network read brings.
ROOM = 16


class Outbox(Generic[T]):
    """Many writers, one reader, first in first out."""

    def __init__(self, room: int) -> None:
        self._room = asyncio.Semaphore(room)
        #: With each item, whether it holds room.
        self._queue: asyncio.Queue[tuple[T, bool]] = asyncio.Queue()

    async def put(self, batch: T) -> None:
        """Wait for room. Cancelled meanwhile, the batch still goes.

        It may hold the begin of a call or its end, and whoever made it will not say so again.
        """
        try:
            await self._room.acquire()
        except asyncio.CancelledError:
            self._queue.put_nowait((batch, False))
            raise
        self._queue.put_nowait((batch, True))

    def mark(self, item: T) -> None:
        self._queue.put_nowait((item, False))

    async def get(self) -> T:
        item, holds_room = await self._queue.get()
        if holds_room:
            self._room.release()
        return item

    def rest(self) -> list[T]:
        """Take all that is there now."""
        taken: list[T] = []
        while not self._queue.empty():
            taken.append(self._queue.get_nowait()[0])
        return taken
