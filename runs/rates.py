"""How often somebody may come: counts by the minute in the database, so that they hold for every process.

Counted before anything expensive (a password's hash, a run); a refused request is not counted twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from runs import gate
from runs.models import RateWindow
from runs.refusals import Refused
from streaming.codes import RefusalCode

#: An address may stand for a whole office: it gets this many times the requests of one visitor.
ADDRESS_FACTOR = 5


@dataclass(frozen=True)
class Rate:
    """At most `most` requests a minute for `key` (its scope in it: `chat:<id>:visitor:<hash>`)."""

    key: str
    most: int


def visitor_rates(scope: str, visitor: str, address: str, per_minute: int) -> list[Rate]:
    """Return the two rates of a public surface; a visitor without a token yet has only an address."""
    rates = [Rate(f"{scope}:address:{address}", per_minute * ADDRESS_FACTOR)]
    return [Rate(f"{scope}:visitor:{visitor}", per_minute), *rates] if visitor else rates


def count(rates: Sequence[Rate], now: datetime) -> None:
    """Count one request against every rate, or against none and raise Refused(RATE_LIMITED)."""
    minute = now.replace(second=0, microsecond=0)
    # In one order everywhere, so that two requests never wait for each other's rows.
    with gate.turn(), transaction.atomic():
        for rate in sorted(rates, key=lambda rate: rate.key):
            if not _counted(rate, minute):
                raise Refused(
                    RefusalCode.RATE_LIMITED, f"{rate.key}: {rate.most}", retry_after=60 - now.second
                )


def forget(now: datetime) -> int:
    """Delete windows nobody can count against any more; return how many."""
    deleted, _ = RateWindow.objects.filter(minute__lt=now - timedelta(hours=1)).delete()
    return deleted


def _counted(rate: Rate, minute: datetime) -> bool:
    window = RateWindow.objects.filter(key=rate.key, minute=minute, count__lt=rate.most)
    if window.update(count=F("count") + 1):
        return True
    RateWindow.objects.bulk_create([RateWindow(key=rate.key, minute=minute)], ignore_conflicts=True)
    return bool(window.update(count=F("count") + 1))
