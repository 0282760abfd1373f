"""The process's one writer: what streams store goes through it, so that no stream touches the database.

A queue, drained in one transaction for all runs at once, at most every 50 ms while nobody waits for a result.
One instance for each event loop (`current()`), with threads of its own; it holds no connection when idle.
"""

import asyncio
import contextvars
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

from django.db import connections

from runs import batches
from runs.batches import Record, Result, Start, Unreachable, Work
from runs.ledger import Finish
from runs.per_loop import PerLoop
from runs.trace import Entry
from streaming.events import RunEnded

logger = logging.getLogger("studio.runs")

P = ParamSpec("P")
T = TypeVar("T")

#: While only traces and starts come, a transaction is begun at most this often, in seconds.
COLLECT = 0.05
#: A batch is no larger than this, so that none waits long for the others.
MAX_BATCH = 500
#: Trace lines that may wait. More are dropped: an answer is worth more than its trace.
MAX_ENTRIES = 5_000
#: After this long without work the connection is given back.
IDLE = 1.0
#: How long the end of a stream waits for its row.
PATIENCE = 15.0
#: How long a batch is tried again while the database does not answer.
GIVE_UP = 120.0


@dataclass(eq=False)
class _Job:
    work: Work
    done: asyncio.Future[Result]


class Writer:
    """Used on its event loop only. What is not awaited returns at once."""

    def __init__(self) -> None:
        self._jobs: deque[_Job] = deque()
        self._entries = 0
        self._dropping = False
        self._some = asyncio.Event()
        self._urgent = asyncio.Event()
        self._closing = False
        self._drainer: asyncio.Task[None] | None = None
        self._batch_thread = ThreadPoolExecutor(1, "studio-writer")
        self._call_thread = ThreadPoolExecutor(1, "studio-ledger")

    def start(self, run_id: str, attempt: int) -> asyncio.Future[Result]:
        """Mark a run as running; the result is false if it was ended before it began."""
        return self._put(Start(run_id, attempt)).done

    def record(self, run_id: str, attempt: int, entries: Sequence[Entry]) -> None:
        """Store lines of a run's trace, unless the run has ended or is another attempt's."""
        if self._entries + len(entries) > MAX_ENTRIES:
            if not self._dropping:
                logger.warning("The ledger is too slow: traces are incomplete, first that of %s.", run_id)
            self._dropping = True
            return
        self._dropping = False
        self._entries += len(entries)
        self._put(Record(run_id, attempt, entries))

    def finish_soon(self, end: Finish) -> None:
        """End a run that nobody listens to any more."""
        self._put(end)

    async def finish(self, end: Finish) -> RunEnded:
        """End a run and return what its row says then.

        Never raises and never waits longer than PATIENCE: a run whose row cannot be reached has failed, and
        will have failed too when the database is back (unless it was just being written).
        """
        job = self._put(end)
        self._urgent.set()
        try:
            async with asyncio.timeout(PATIENCE):
                result = await job.done
        except TimeoutError:
            logger.error("The end of run %s could not be stored in %.0f s.", end.run_id, PATIENCE)
            job.work = replace(end, ended=batches.unstorable(end.ended, "The ledger could not be reached."))
            return batches.unstored(end, "The ledger could not be reached.")
        assert isinstance(result, RunEnded)
        return result

    async def flush(self) -> None:
        """Return when all that was put in before is written."""
        job = self._put(Record("", 0, ()))
        self._urgent.set()
        await job.done

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that uses the database, one at a time, outside of any batch."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._call_thread, lambda: _unconnected(function, *args, **kwargs))

    async def close(self, patience: float = PATIENCE) -> None:
        """Write what is waiting, then give back threads and connections. Nothing may be put in afterwards."""
        self._closing = True
        self._some.set()
        self._urgent.set()
        if self._drainer is not None:
            await asyncio.wait([self._drainer], timeout=patience)
        self._batch_thread.shutdown(wait=False)
        self._call_thread.shutdown(wait=False)

    # --- The queue ------------------------------------------------------------------------------------------

    def _put(self, work: Work) -> _Job:
        loop = asyncio.get_running_loop()
        job = _Job(work, loop.create_future())
        self._jobs.append(job)
        self._some.set()
        if self._drainer is None or self._drainer.done():
            # Of no context: a task holds the context it was made in, and that one may be a request's.
            self._drainer = loop.create_task(self._drain(), context=contextvars.Context())
        return job

    def _take(self) -> list[_Job]:
        batch = [self._jobs.popleft() for _ in range(min(len(self._jobs), MAX_BATCH))]
        self._entries -= sum(len(job.work.entries) for job in batch if isinstance(job.work, Record))
        if not self._jobs:
            self._some.clear()
            self._urgent.clear()
        return batch

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time() - COLLECT
        while self._jobs or (not self._closing and await _within(IDLE, self._some)):
            await _within(begun + COLLECT - loop.time(), self._urgent)
            begun = loop.time()
            batch = self._take()
            for job, result in zip(batch, await self._write(batch), strict=True):
                if not job.done.done():
                    job.done.set_result(result)
        self._drainer = None
        with suppress(RuntimeError):  # its thread may have been given back already
            await loop.run_in_executor(self._batch_thread, connections.close_all)

    async def _write(self, batch: Sequence[_Job]) -> list[Result]:
        """Write a batch, again and again while the database does not answer."""
        loop = asyncio.get_running_loop()
        given_up, pause = loop.time() + GIVE_UP, 0.1
        while True:
            works = [job.work for job in batch]
            try:
                return await loop.run_in_executor(self._batch_thread, batches.write, works)
            except Unreachable as error:
                if self._closing or loop.time() > given_up:
                    return _lost(works, f"The database does not answer: {error}")
                logger.warning("The database does not answer; trying again in %.1f s: %s", pause, error)
            except Exception as error:  # closed, or a mistake of ours: the next batch may do better
                return _lost(works, f"The writer failed: {error}")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 5.0)


#: The writer of the running event loop.
current = PerLoop(Writer)


def _lost(works: Sequence[Work], detail: str) -> list[Result]:
    logger.error("%d rows are lost. %s", len(works), detail)
    return [batches.unstored(work, detail) if isinstance(work, Finish) else True for work in works]


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Wait for `event` at most so long; return whether it came."""
    if seconds <= 0 or event.is_set():
        return event.is_set()
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _unconnected(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` and leave no connection open in this thread."""
    try:
        return function(*args, **kwargs)
    finally:
        connections.close_all()
