"""The admin's first page, before the first run and after some."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from runs.models import Run, Status, Surface
from studio import first_start, start_page

pytestmark = [pytest.mark.django_db]


def run(**fields: Any) -> Run:
    now = timezone.now()
    usage = {"total_tokens": 120}
    return Run.objects.create(surface=Surface.CHAT, lease_until=now, rounds=1, usage=usage, **fields)


@pytest.fixture
def page(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def test_it_opens_before_the_first_run(page: Client) -> None:
    first_start.prepare()
    response = page.get("/admin/")
    assert response.status_code == 200
    assert "script-src" not in response.headers["Content-Security-Policy"]  # default-src 'self' holds


def test_it_counts_runs_tokens_cost_and_what_is_not_known() -> None:
    run(status=Status.COMPLETED, cost=0.25)
    run(status=Status.COMPLETED, cost=0.5)
    run(status=Status.FAILED, cost=None)
    today = start_page.days(timezone.now())[-1]
    assert (today.runs, today.failed, today.tokens, today.cost) == (3, 1, 360, 0.75)
    tiles = {tile.label: tile for tile in start_page.tiles(timezone.now())}
    assert [tile.note for tile in tiles.values() if "not known" in tile.note] == [
        "without 1 runs whose price is not known"
    ]


def test_it_opens_after_runs_of_every_kind(page: Client) -> None:
    now = timezone.now()
    for status in Status.values:
        run(status=status, cost=0.1, started_at=now - timedelta(seconds=3), finished_at=now)
    assert page.get("/admin/").status_code == 200


def test_it_shows_numbers_only_to_those_who_may_see_runs(client: Client, staff: User) -> None:
    client.force_login(staff)
    response = client.get("/admin/")
    assert response.status_code == 200
    assert response.context["start"] is None
