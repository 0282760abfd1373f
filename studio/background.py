"""What a serving process does beside answering requests: started once, drained at a stop, then ended."""

_stopping = False


def start() -> None:
    """Begin, once a process; must be called on its event loop."""


def stopping() -> bool:
    """Whether a stop signal came: no new work should be sent here."""
    return _stopping


async def drain() -> None:
    """Let answers under way come to their end, or interrupt them in time for their terminal frame."""
    global _stopping
    _stopping = True


async def stop() -> None:
    """End what `start` began; nothing is lost that was said to be stored."""
    await drain()
