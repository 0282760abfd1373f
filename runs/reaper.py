"""The broom: ends runs nobody lives for, deletes counts nobody needs. Every serving process has one."""

import asyncio
import contextvars
import logging

from django.utils import timezone

from runs import ledger, rates, writer
from runs.per_loop import PerLoop

logger = logging.getLogger("studio.runs")

#: Seconds between two rounds. The first is at once: what a killed process left is ended at the next start.
EVERY = 10.0


class Reaper:
    """Started and stopped with its process, on the event loop."""

    def __init__(self) -> None:
        self._sweeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, unless it has begun."""
        if self._sweeping is None or self._sweeping.done():
            loop = asyncio.get_running_loop()
            self._sweeping = loop.create_task(self._sweep_on(), context=contextvars.Context())

    async def stop(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.wait([self._sweeping])

    async def _sweep_on(self) -> None:
        while True:
            try:
                await writer.current().call(sweep)
            except Exception as error:
                logger.warning("The ledger could not be swept: %s", error)
            await asyncio.sleep(EVERY)


#: The reaper of the running event loop.
current = PerLoop(Reaper)


def sweep() -> None:
    """One round."""
    now = timezone.now()
    ledger.reap(now)
    rates.forget(now)
