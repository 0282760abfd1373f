"""A heartbeat round a stream of bytes, and an end to streams whose reader has gone silent (agent-events-v1
sections 2 and 4). One task owns the source from its first step to its close, because scopes inside it are
bound to the task that opened them.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from streaming.sse import PING

PING_SECONDS = 15.0
STALL_SECONDS = 30.0
#: How long a source may go on after `on_stall`, to say how it ended.
LAST_WORDS_SECONDS = 5.0
#: Items under way between source and reader. More than one, because in a burst each switch between the two
#: costs more than an item; few, because a slow reader is to slow its source.
ROOM = 8


class KeepAlive:
    """Yields what `source` yields, item by item, and PING after `ping_seconds` without one.

    A reader that holds an item longer than `stall_seconds` has stalled: `on_stall` is called, once, and
    should make the source end; a source that goes on is closed. Whatever it said by then waits for the
    reader, should it come back.

    The source runs in a context of its own, so that nothing in it can reach what belongs to the request.
    Once it was asked for anything it has begun, and is closed when `aclose` returns. Its errors come out
    where they happened in the stream.
    """

    def __init__(
        self,
        source: AsyncGenerator[bytes, None],
        *,
        ping_seconds: float = PING_SECONDS,
        stall_seconds: float = STALL_SECONDS,
        on_stall: Callable[[], None] | None = None,
        room: int = ROOM,
    ) -> None:
        self._source = source
        self._ping_seconds = ping_seconds
        self._stall_seconds = stall_seconds
        self._on_stall = on_stall
        self._room = room
        self._items: deque[bytes] = deque()
        self._owner: asyncio.Task[None] | None = None
        self._closed = False
        self._stalled = False
        self._begun = False
        #: The reader knows how the source ended.
        self._told = False
        #: Set while the reader waits for an item, and while the owner waits for room.
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        #: When the last item was taken; and whether its reader has not come back since.
        self._taken_at = 0.0
        self._reader_away = False
        self._timer: asyncio.TimerHandle | None = None

    def __aiter__(self) -> "KeepAlive":
        return self

    async def __anext__(self) -> bytes:
        self._reader_away = False
        owner = self._owner or self._start()
        while not self._items:
            if owner.done():
                return self._end(owner)
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        item = self._items.popleft()
        _wake(self._writer)
        self._taken_at = self._loop.time()
        self._reader_away = True
        return item

    async def aclose(self) -> None:
        """Close the source and wait until that is done. May be awaited at any moment, and again."""
        self._closed = True
        self._stop_timer()
        if self._owner is None:
            await self._source.aclose()
            return
        try:
            if not self._begun:
                # A task cancelled before its first step runs nothing, and the source's `finally` must run.
                await asyncio.sleep(0)
        finally:
            self._owner.cancel()
        await asyncio.wait({self._owner})
        if not (self._told or self._owner.cancelled()):
            self._owner.result()

    # --- The task that owns the source ----------------------------------------------------------------------

    def _start(self) -> asyncio.Task[None]:
        if self._closed:
            raise StopAsyncIteration
        self._loop = asyncio.get_running_loop()
        self._owner = self._loop.create_task(self._own(), context=contextvars.Context())
        self._owner.add_done_callback(self._owner_ended)
        self._taken_at = self._loop.time()
        self._ring_at(self._taken_at + self._ping_seconds)
        return self._owner

    async def _own(self) -> None:
        self._begun = True
        async with aclosing(self._source) as source:
            async for item in source:
                if not item:
                    continue
                if len(self._items) >= self._room and not self._stalled:
                    self._writer = self._loop.create_future()
                    await self._writer
                    self._writer = None
                self._items.append(item)
                _wake(self._reader)

    def _owner_ended(self, owner: "asyncio.Task[None]") -> None:
        self._stop_timer()
        _wake(self._reader)

    def _end(self, owner: "asyncio.Task[None]") -> bytes:
        self._told = True
        if not (owner.cancelled() and (self._stalled or self._closed)):
            owner.result()
        raise StopAsyncIteration

    # --- Time -----------------------------------------------------------------------------------------------
    #
    # One timer a stream, moved only when it rings: an item costs a look at the clock and no more.

    def _ring_at(self, due: float) -> None:
        """No later than the nearest moment that could become due before it rings."""
        nearest = self._loop.time() + min(self._ping_seconds, self._stall_seconds)
        self._timer = self._loop.call_at(min(due, nearest), self._ring)

    def _ring(self) -> None:
        now = self._loop.time()
        patience = self._stall_seconds if self._reader_away else self._ping_seconds
        due = self._taken_at + patience
        if now < due:
            self._ring_at(due)
        elif self._reader_away:
            self._stall()
        else:
            self._items.append(PING)
            _wake(self._reader)
            self._ring_at(now + patience)

    def _stall(self) -> None:
        assert self._owner is not None
        self._stalled = True
        _wake(self._writer)
        patience = LAST_WORDS_SECONDS if self._on_stall else 0.0
        self._timer = self._loop.call_later(patience, self._owner.cancel)
        if self._on_stall is not None:
            self._on_stall()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _wake(waiting: "asyncio.Future[None] | None") -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
