"""The numbers and hints of the admin's first page."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from deployments.models import ChatDeployment
from runs.models import Run
from studio import start_page
from workflows.models import Workflow, WorkflowVersion

pytestmark = pytest.mark.django_db


@pytest.fixture
def now() -> datetime:
    return timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)


def ran(at: datetime, **fields: Any) -> Run:
    values = {
        "surface": "chat",
        "status": "completed",
        "lease_until": at,
        "workflow_slug": "support",
        **fields,
    }
    run = Run.objects.create(**values)
    Run.objects.filter(pk=run.pk).update(created_at=at, started_at=at, finished_at=at + timedelta(seconds=2))
    return run


def test_it_compares_today_with_the_same_hours_of_other_days(now: datetime) -> None:
    for _ in range(3):
        ran(now - timedelta(hours=1), usage={"total_tokens": 100}, cost=0.5)
    ran(now - timedelta(hours=2), status="failed", code="BLOCK_FAILED")
    for back in range(1, 8):
        ran(now - timedelta(days=back, hours=1))
        ran(now - timedelta(days=back) + timedelta(hours=3))  # later that day: not the same hours
    found = {tile.label: (tile.value, tile.note) for tile in start_page.tiles(now)}
    assert found["Runs today"] == ("4", "3 more than usual")
    assert found["Failures today"] == ("1", "1 more than usual")
    assert found["Tokens today"] == ("300", "300 more than usual")
    assert found["Cost today"] == ("$1.50", "all prices known")


def test_it_says_how_many_runs_have_no_known_price(now: datetime) -> None:
    ran(now - timedelta(hours=1), cost=None, rounds=1)
    tile = start_page.tiles(now)[3]
    assert tile.note == "without 1 run whose price is not known"


def test_it_shows_days_without_runs_too(now: datetime) -> None:
    ran(now - timedelta(days=3))
    found = start_page.days(now)
    assert len(found) == start_page.DAYS
    assert [day.runs for day in found][-4:] == [1, 0, 0, 0]
    assert start_page.duration_chart(found).lines[0].last is not None


def test_it_points_at_failing_providers_and_chats_behind_their_draft(now: datetime) -> None:
    ran(now - timedelta(hours=1), status="failed", code="PROVIDER_AUTH")
    workflow = Workflow.objects.create(slug="support", name="Support", draft={"blocks": []})
    chat = ChatDeployment.objects.create(slug="support", title="Support", workflow=workflow)
    texts = [item.text for item in start_page.attention(now)]
    assert texts == [
        "support: PROVIDER_AUTH, 1 in 24 hours",
        "Support: its workflow is not published, so visitors cannot use it",
    ]
    workflow.published = WorkflowVersion.objects.create(workflow=workflow, number=7, graph={"blocks": [1]})
    workflow.save()
    assert start_page.attention(now)[1].text == "Support runs version 7; the draft is ahead"
    chat.active = False
    chat.save()
    assert len(start_page.attention(now)) == 1


def test_it_shows_numbers_only_to_who_may_see_runs(now: datetime, client: Client, staff: User) -> None:
    ran(now)
    client.force_login(staff)
    assert "Runs today" not in client.get("/admin/").content.decode()
    staff.user_permissions.add(Permission.objects.get(codename="view_run"))
    assert "Runs today" in client.get("/admin/").content.decode()


def test_its_links_lead_to_runs_whatever_their_ids(now: datetime, client: Client, owner: User) -> None:
    ran(now, id="run_23fb", status="failed", code="BLOCK_FAILED")  # "_23" is how the admin writes "#"
    client.force_login(owner)
    (path,) = re.findall(r'"(/admin/runs/run/[^"?]+/change/)"', client.get("/admin/").content.decode())
    assert client.get(path).status_code == 200
