"""What a serving process does beside answering requests: started once, drained at a stop, then ended."""

import logging

from agents.providers.model_call import load_sdk
from runs import process

logger = logging.getLogger("studio")

_stopping = False


def start() -> None:
    """Begin, unless it has begun. On the event loop that serves; returns at once."""
    process.start()


async def warm_up() -> None:
    """Load what the first answer of this process would otherwise wait a second or more for."""
    try:
        await load_sdk()
    except ImportError as error:
        logger.error("The models' SDK cannot be loaded: %s", error)


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
