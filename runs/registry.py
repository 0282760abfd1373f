"""The live runs of this process, and the one beat that keeps their leases and hears who asked them to stop.

Nothing here decides correctness: another process asks through the row (`cancel_requested`), and if this
process dies, the leases run out.
"""

import asyncio
import contextvars
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runs import ledger, writer
from runs.control import CancelReason, RunControl
from runs.models import Run
from runs.per_loop import PerLoop

logger = logging.getLogger("studio.runs")

#: Seconds between asking the ledger for cancels; and every how many beats leases are renewed.
BEAT = 1.0
BEATS_A_LEASE = 10


@dataclass(frozen=True, eq=False)
class _Live:
    attempt: int
    control: RunControl
    loop: asyncio.AbstractEventLoop


#: Of every loop, so that a view's thread finds a run by its id.
_live: dict[str, _Live] = {}


class Registry:
    """The runs of one event loop."""

    def __init__(self) -> None:
        self._runs: dict[str, _Live] = {}
        self._beating: asyncio.Task[None] | None = None
        self._stopping = False
        self._none_left = asyncio.Event()
        self._none_left.set()

    @contextmanager
    def live(self, run_id: str, attempt: int, control: RunControl) -> Iterator[None]:
        """Keep a run among the live ones. A process that is shutting down cancels it at once."""
        loop = asyncio.get_running_loop()
        self._runs[run_id] = _live[run_id] = _Live(attempt, control, loop)
        self._none_left.clear()
        if self._beating is None or self._beating.done():
            self._beating = loop.create_task(self._beat(), context=contextvars.Context())
        if self._stopping:
            control.cancel(CancelReason.SHUTDOWN)
        try:
            yield
        finally:
            self._runs.pop(run_id, None)
            _live.pop(run_id, None)
            if not self._runs:
                self._none_left.set()

    async def shutdown(self, patience: float) -> None:
        """Interrupt every run, and wait until their ends are stored, at most `patience` seconds."""
        self._stopping = True
        for run in list(self._runs.values()):
            run.control.cancel(CancelReason.SHUTDOWN)
        try:
            async with asyncio.timeout(patience):
                await self._none_left.wait()
        except TimeoutError:
            logger.warning("%d runs did not end in time; their leases will run out.", len(self._runs))

    async def _beat(self) -> None:
        """Beat while runs are live. A database that does not answer is asked again at the next beat."""
        beats = 0
        while self._runs:
            await asyncio.sleep(BEAT)
            beats += 1
            try:
                await self._hear_cancels()
                if beats % BEATS_A_LEASE == 0:
                    await self._keep_leases()
            except Exception as error:
                logger.warning("The ledger could not be asked about live runs: %s", error)

    async def _hear_cancels(self) -> None:
        for run_id in await writer.current().call(ledger.requested_cancels):
            self._cancel(run_id, CancelReason.USER)

    async def _keep_leases(self) -> None:
        runs = {run_id: run.attempt for run_id, run in self._runs.items()}
        for run_id in await writer.current().call(ledger.extend_leases, runs):
            # Ended by the reaper, taken over or erased while this process slept: its end is not ours to say.
            self._cancel(run_id, CancelReason.SHUTDOWN)

    def _cancel(self, run_id: str, reason: CancelReason) -> None:
        run = self._runs.get(run_id)
        if run is not None:
            run.control.cancel(reason)


#: The registry of the running event loop.
current = PerLoop(Registry)


def cancel(run_id: str, reason: CancelReason) -> bool:
    """Cancel a run if it is live in this process; from any thread. Returns whether it was."""
    run = _live.get(run_id)
    if run is None:
        return False
    try:
        run.loop.call_soon_threadsafe(run.control.cancel, reason)
    except RuntimeError:  # its loop has just been closed
        return False
    return True


def stop(run_id: str) -> Run | None:
    """Stop a run for whoever may: here at once, elsewhere within a beat. From a view's thread; repeatable.

    Returns its row as it stands, or None if there is no such run.
    """
    cancel(run_id, CancelReason.USER)
    return ledger.request_cancel(run_id)
