"""What the ledger needs of a serving process, on its loop: `start`, `drain` at a stop signal, `stop`."""

from runs import reaper, registry, writer


def start() -> None:
    """Begin the background work, unless it has begun. Returns at once."""
    reaper.current().start()


async def drain(patience: float = 8.0) -> None:
    """Interrupt the live runs (RUN_INTERRUPTED), so that their streams end by their terminal frames."""
    await registry.current().shutdown(patience)


async def stop() -> None:
    """Write what is waiting and give back threads and connections."""
    await reaper.current().stop()
    await writer.current().close()
