"""Counts by the minute: exact, shared, and gone after an hour."""

from datetime import UTC, datetime, timedelta

import pytest

from runs import rates
from runs.models import RateWindow
from runs.rates import Rate, count, forget, visitor_rates
from runs.refusals import Refused
from streaming.codes import RefusalCode

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 4, 12, 30, 45, 999, tzinfo=UTC)


def admitted(wanted: list[Rate], times: int, now: datetime = NOW) -> int:
    passed = 0
    for _ in range(times):
        try:
            count(wanted, now)
        except Refused:
            continue
        passed += 1
    return passed


def test_it_counts_to_the_limit_and_says_when_the_minute_ends() -> None:
    assert admitted([Rate("a", 3)], 5) == 3

    with pytest.raises(Refused) as refused:
        count([Rate("a", 3)], NOW)
    assert refused.value.code is RefusalCode.RATE_LIMITED
    assert refused.value.retry_after == 15


def test_it_begins_again_with_the_next_minute() -> None:
    assert admitted([Rate("a", 2)], 3) == 2
    assert admitted([Rate("a", 2)], 3, NOW + timedelta(seconds=15)) == 2


def test_it_counts_keys_apart() -> None:
    assert admitted([Rate("a", 2)], 3) == 2
    assert admitted([Rate("b", 2)], 3) == 2


def test_it_counts_a_refused_request_against_no_rate() -> None:
    visitor, address = Rate("a", 10), Rate("b", 1)
    assert admitted([visitor, address], 3) == 1

    assert RateWindow.objects.get(key="a").count == 1


def test_it_gives_an_address_five_times_a_visitor() -> None:
    wanted = visitor_rates("chat:1", "v", "192.0.2.9", 2)
    assert admitted(wanted, 3) == 2
    others = sum(admitted(visitor_rates("chat:1", f"v{n}", "192.0.2.9", 2), 3) for n in range(9))
    assert others == 2 * rates.ADDRESS_FACTOR - 2


def test_b128_a_visitor_without_a_token_is_counted_by_address() -> None:
    assert admitted(visitor_rates("chat:1", "", "192.0.2.9", 2), 40) == 10


def test_it_forgets_after_an_hour() -> None:
    count([Rate("old", 1)], NOW - timedelta(hours=1, minutes=1))
    count([Rate("new", 1)], NOW)

    assert forget(NOW) == 1
    assert RateWindow.objects.get().key == "new"
