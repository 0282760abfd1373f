"""The one queue of a run, from its blocks to whoever reads it.

Batches wait for room, so a slow reader slows the providers and memory stays flat; marks (a block's begin, its
end, the end of all) never wait. Every token passes here: a Queue with a Semaphore does the same at twice the
cost, most of it for readers that a run does not have.
"""

import asyncio
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")

#: Batches under way between the blocks of a run and its reader. Each is at most what one network read brings.
ROOM = 16


class Outbox(Generic[T]):
    """Many writers, served in the order in which they came, and one reader. On one event loop."""

    def __init__(self, room: int) -> None:
        self._free = room
        #: With each item, whether it takes up room.
        self._items: deque[tuple[T, bool]] = deque()
        self._writers: deque[asyncio.Future[None]] = deque()
        self._reader: asyncio.Future[None] | None = None

    async def put(self, batch: T) -> None:
        """Wait for room. Cancelled meanwhile, the batch still goes.

        It may hold the begin of a call or its end, and whoever made it will not say so again.
        """
        if self._free and not self._writers:
            self._free -= 1
        else:
            await self._wait_for_room(batch)
        self._add(batch, takes_room=True)

    def mark(self, item: T) -> None:
        self._add(item, takes_room=False)

    async def get(self) -> T:
        while not self._items:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        item, takes_room = self._items.popleft()
        if takes_room:
            self._give_room()
        return item

    def rest(self) -> list[T]:
        """Take all that is there now, and wait for nobody any more."""
        taken = [item for item, _ in self._items]
        self._items.clear()
        return taken

    def _add(self, item: T, *, takes_room: bool) -> None:
        self._items.append((item, takes_room))
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def _wait_for_room(self, batch: T) -> None:
        """Return when room was given to this writer, which nobody else can take then."""
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writers.append(room)
        try:
            await room
        except asyncio.CancelledError:
            if room.cancelled():
                self._writers.remove(room)
            else:
                self._give_room()
            self._add(batch, takes_room=False)
            raise

    def _give_room(self) -> None:
        """To the writer who waits longest, if one does."""
        for room in self._writers:
            if not room.done():
                self._writers.remove(room)
                room.set_result(None)
                return
        self._free += 1
