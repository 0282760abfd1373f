"""The ledger in the admin: readable, private where it must be, never changed by hand."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs import batches, ledger
from runs.admission import Ticket
from runs.batches import Record
from runs.ledger import Finish
from runs.models import Conversation, Message, Run, Status
from runs.trace import Entry
from tests.runs.conftest import admit, completed, row

pytestmark = pytest.mark.django_db

SECRET = "MAPLE-31 <img src=x>"
LIST = "/admin/runs/run/"


@pytest.fixture
def grant(client: Client, staff: User) -> Callable[..., Client]:
    """Sign in a member of staff with these permissions of the ledger."""

    def signed_in(*names: str) -> Client:
        staff.user_permissions.set(
            Permission.objects.filter(content_type__app_label="runs", codename__in=names)
        )
        client.force_login(staff)
        return client

    return signed_in


@pytest.fixture
def ticket() -> Ticket:
    admitted = admit(
        SECRET, input={"input": SECRET}, chat_slug="support", workflow_slug="flow", policy={"x": SECRET}
    )
    entry = Entry(1, "agent_1", "tool_result", {"output": SECRET}, timezone.now())
    end = completed(SECRET, detail=SECRET, outputs={"agent_1": {"content": SECRET}})
    batches.write([Record(admitted.run_id, 1, [entry]), Finish(admitted.run_id, 1, end)])
    return admitted


def page(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_it_lists_how_runs_went(grant: Callable[..., Client], ticket: Ticket) -> None:
    listed = page(grant("view_run"), LIST)

    for shown in ("✓ Done", "Chat", "support", "10", "$0.25"):
        assert shown in listed
    assert "MAPLE" not in listed


@pytest.mark.parametrize(
    "query",
    [
        "surface=chat",
        "status=completed",
        "code=",
        "workflow_slug=flow",
        "created_at__year=2999",
        "q=run_",
        "q=MAPLE",
    ],
)
def test_it_filters_and_searches(grant: Callable[..., Client], ticket: Ticket, query: str) -> None:
    assert "MAPLE-31" not in page(grant("view_run"), f"{LIST}?{query}").replace('value="MAPLE"', "")


def test_b146_it_keeps_what_was_said_from_those_who_may_only_see_runs(
    grant: Callable[..., Client], ticket: Ticket
) -> None:
    shown = page(grant("view_run"), f"{LIST}{quote(ticket.run_id)}/change/")

    assert "✓ Done" in shown
    assert "MAPLE" not in shown


def test_b136_it_shows_what_was_said_as_text_to_those_who_may(
    grant: Callable[..., Client], ticket: Ticket
) -> None:
    shown = page(grant("view_run", "view_trace"), f"{LIST}{quote(ticket.run_id)}/change/")

    assert shown.count("MAPLE-31 &lt;img src=x&gt;") >= 4
    assert "MAPLE-31 <img" not in shown
    assert "tool_result" in shown


def test_it_shows_messages_by_the_same_permission(grant: Callable[..., Client], ticket: Ticket) -> None:
    path = f"/admin/runs/conversation/{ticket.conversation_id}/change/"

    assert "MAPLE" not in page(grant("view_conversation"), path)
    assert "MAPLE-31 &lt;img" in page(grant("view_conversation", "view_trace"), path)


def test_it_is_read_only(owner: User, client: Client, ticket: Ticket) -> None:
    client.force_login(owner)

    assert client.get(f"{LIST}add/").status_code == 403
    assert client.get(f"{LIST}{quote(ticket.run_id)}/delete/").status_code == 403
    assert client.post(f"{LIST}{quote(ticket.run_id)}/change/", {"status": "failed"}).status_code == 403
    assert 'name="_save"' not in page(client, f"{LIST}{quote(ticket.run_id)}/change/")


def test_it_keeps_strangers_out(client: Client, stranger: User, ticket: Ticket) -> None:
    client.force_login(stranger)

    assert client.get(LIST).status_code == 302


def act(client: Client, action: str, *runs: str) -> Any:
    return client.post(LIST, {"action": action, "_selected_action": list(runs)}, follow=True)


def test_it_stops_runs_and_says_who_did(grant: Callable[..., Client], ticket: Ticket, staff: User) -> None:
    queued, running = admit(), admit()
    ledger.start({running.run_id: 1})

    response = act(grant("view_run", "stop_run"), "stop", ticket.run_id, queued.run_id, running.run_id)

    assert "2 asked to stop. 1 had ended already." in response.content.decode()
    assert row(queued.run_id).status == Status.CANCELLED
    assert row(running.run_id).cancel_requested
    assert set(LogEntry.objects.values_list("object_id", "user_id")) == {
        (queued.run_id, staff.pk),
        (running.run_id, staff.pk),
    }


def test_it_stops_nothing_without_the_permission(grant: Callable[..., Client]) -> None:
    queued = admit()

    act(grant("view_run", "view_trace"), "stop", queued.run_id)

    assert row(queued.run_id).status == Status.QUEUED


def test_it_erases_a_conversation_from_the_ledger_too(owner: User, client: Client, ticket: Ticket) -> None:
    client.force_login(owner)

    client.post(f"/admin/runs/conversation/{ticket.conversation_id}/delete/", {"post": "yes"})

    assert Conversation.objects.count() == Message.objects.count() == 0
    assert row(ticket.run_id).output == {}


def test_it_lists_a_hundred_runs_in_few_queries(owner: User, client: Client) -> None:
    now = timezone.now()
    Run.objects.bulk_create(Run(surface="chat", lease_until=now, created_at=now) for _ in range(100))
    client.force_login(owner)

    with CaptureQueriesContext(connection) as queries:
        page(client, LIST)

    assert len(queries) <= 8, [query["sql"] for query in queries]
