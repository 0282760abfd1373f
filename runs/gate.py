"""A line before the ledger: so many of a process's request threads are inside it at once, and no more.

A burst of requests is a burst of threads, which would only take interpreter and locks from
each other: of 200 at once SQLite keeps some waiting beyond its patience, and a pool of 10 refuses some.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from runs.refusals import Refused
from streaming.codes import RefusalCode

#: Enough that one slow statement stops nobody; more would not be faster.
PLACES = 4
#: Who waits longer than this for a place is told to come again.
PATIENCE = 30.0

_places = threading.BoundedSemaphore(PLACES)


@contextmanager
def turn() -> Iterator[None]:
    """Wait in line for a place; raises Refused(SERVICE_UNAVAILABLE). Not to be nested."""
    if not _places.acquire(timeout=PATIENCE):
        raise Refused(RefusalCode.SERVICE_UNAVAILABLE, f"No turn at the ledger within {PATIENCE:.0f} s.")
    try:
        yield
    finally:
        _places.release()
