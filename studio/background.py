"""What a serving process does beside answering requests: started once, drained at a stop, then ended."""

from runs import process

_stopping = False


def start() -> None:
    """Begin, unless it has begun. On the event loop that serves; returns at once."""
    process.start()


def stopping() -> bool:
    """Whether a stop signal came: no new work should be sent here."""
    return _stopping


async def drain() -> None:
    """Interrupt the answers under way in time for their terminal frames, and store how they ended."""
    global _stopping
    _stopping = True
    await process.drain()


async def stop() -> None:
    """End what `start` began, with nothing left unwritten."""
    await drain()
    await process.stop()
