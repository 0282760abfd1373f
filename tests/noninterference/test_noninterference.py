"""Section 9 over the real application: what is hidden changes no byte that a visitor gets, on any path."""

import os

import pytest
from hypothesis import HealthCheck, given, settings

from deployments.urls import urlpatterns
from studio.leakcheck import endpoints
from tests.noninterference.conftest import Check
from tests.noninterference.scenes import Pair, pairs

PAIRS = int(os.environ.get("NONINTERFERENCE_PAIRS", "300"))
ASKED = tuple(endpoint.name for endpoint in endpoints.TABLE if not endpoint.always)


@settings(
    max_examples=PAIRS,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(pair=pairs(ASKED))
def test_what_is_hidden_changes_no_byte(check: Check, pair: Pair) -> None:
    check(pair)


def test_it_asks_every_public_endpoint() -> None:
    assert {endpoint.route for endpoint in endpoints.TABLE} == {pattern.name for pattern in urlpatterns}


@pytest.mark.parametrize("name", ASKED)
def test_each_endpoint_has_a_name_of_its_own(name: str) -> None:
    assert ASKED.count(name) == 1
