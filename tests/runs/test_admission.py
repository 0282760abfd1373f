"""A run is admitted whole or not at all."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from agents.conversation import AssistantMessage, UserMessage
from runs import ledger
from runs.admission import ConversationRef, NewRun, Room, Ticket, admit_run
from runs.ledger import Finish, finish
from runs.models import Conversation, Message, Run, Status, Surface
from runs.refusals import Refused
from streaming.codes import RefusalCode
from tests.runs.conftest import admit, completed, row

pytestmark = pytest.mark.django_db

CHAT = UUID("00000000-0000-0000-0000-000000000001")
MINE = ConversationRef("chat:1", "visitor")


def refusal(**arguments: Any) -> RefusalCode:
    before = (Run.objects.count(), Message.objects.count(), Conversation.objects.count())
    with pytest.raises(Refused) as refused:
        admit_run(NewRun(surface=Surface.CHAT, said="Hello", chat_id=CHAT), **arguments)
    assert (Run.objects.count(), Message.objects.count(), Conversation.objects.count()) == before
    return refused.value.code


def again(ticket: Ticket) -> ConversationRef:
    return ConversationRef("chat:1", "visitor", id=str(ticket.conversation_id))


def over(run_id: str) -> None:
    Run.objects.filter(pk=run_id).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_it_writes_down_what_was_admitted() -> None:
    new = NewRun(
        surface=Surface.API,
        said="Hi\x00",
        input={"input": "Hi\x00"},
        policy={"thinking": True},
        workflow_slug="support",
        workflow_version=3,
        chat_id=CHAT,
        visitor="v",
        address="a",
        trace_thinking=True,
        max_seconds=5,
    )

    ticket = admit_run(new, conversation=MINE)

    run = row(ticket.run_id)
    assert (run.status, run.attempt, run.surface) == (Status.QUEUED, 1, "api")
    assert (run.chat_id, run.workflow_slug, run.workflow_version) == (CHAT, "support", 3)
    assert (run.input, run.policy) == ({"input": "Hi\ufffd"}, {"thinking": True})
    assert timedelta(seconds=25) < run.lease_until - timezone.now() <= ledger.LEASE
    message = Message.objects.get(run=run)
    assert (message.role, message.content, message.conversation_id) == (
        "user",
        "Hi\ufffd",
        ticket.conversation_id,
    )
    assert ticket == Ticket(ticket.run_id, 1, run.conversation_id, (), True, 5)


def test_it_admits_without_a_conversation() -> None:
    ticket = admit_run(NewRun(surface=Surface.API, said="Hello"))

    assert (ticket.conversation_id, ticket.history) == (None, ())
    assert Message.objects.count() == 0


# --- Conversations ------------------------------------------------------------------------------------------


def test_it_goes_on_with_the_history_of_a_conversation() -> None:
    first = admit("one")
    finish(Finish(first.run_id, 1, completed("first")))

    second = admit("two", again(first))

    assert second.conversation_id == first.conversation_id
    assert second.history == (UserMessage("one"), AssistantMessage("first"))


@pytest.mark.parametrize(("recall", "length"), [(None, 2), (0, 0), (1, 0), (2, 2)])
def test_it_loads_as_much_as_the_blocks_want(recall: int | None, length: int) -> None:
    first = admit("one")
    finish(Finish(first.run_id, 1, completed("first")))

    assert len(admit("two", again(first), recall=recall).history) == length


@pytest.mark.parametrize(("scope", "owner"), [("chat:1", "other"), ("chat:2", "visitor"), ("chat:1", "")])
def test_it_finds_no_conversation_of_somebody_else(scope: str, owner: str) -> None:
    first = admit("one")
    finish(Finish(first.run_id, 1, completed("first")))

    ref = ConversationRef(scope, owner, id=str(first.conversation_id))
    assert refusal(conversation=ref) is RefusalCode.NOT_FOUND


def test_it_finds_or_makes_a_conversation_by_name_in_its_own_space() -> None:
    def named(scope: str) -> Ticket:
        ticket = admit("one", ConversationRef(scope, name="orders"))
        finish(Finish(ticket.run_id, 1, completed("first")))
        return ticket

    first, second, other = named("key:1"), named("key:1"), named("key:2")

    assert first.conversation_id == second.conversation_id != other.conversation_id
    assert len(second.history) == 2


def test_it_admits_one_turn_at_a_time() -> None:
    first = admit("one")

    assert refusal(conversation=again(first)) is RefusalCode.CONVERSATION_BUSY
    finish(Finish(first.run_id, 1, completed("first")))
    assert admit("two", again(first)).run_id


def test_it_ends_a_turn_that_nobody_answers_any_more() -> None:
    first = admit("one")
    over(first.run_id)

    second = admit("two", again(first))

    assert row(first.run_id).status == Status.CANCELLED
    assert second.history == (UserMessage("one"), AssistantMessage("[This answer was stopped.]"))


# --- Rooms --------------------------------------------------------------------------------------------------


def test_it_counts_live_runs_only() -> None:
    live, ended, orphan = (admit(chat_id=CHAT) for _ in range(3))
    finish(Finish(ended.run_id, 1, completed()))
    over(orphan.run_id)
    admit(chat_id=UUID(int=2))

    assert refusal(rooms=[Room({"chat_id": CHAT}, 1)]) is RefusalCode.RATE_LIMITED
    assert admit_run(NewRun(surface=Surface.CHAT), rooms=[Room({"chat_id": CHAT}, 2)])
    assert row(live.run_id).status == Status.QUEUED


def test_it_needs_room_everywhere() -> None:
    admit(chat_id=CHAT)
    chat, mine, others = (
        Room({"chat_id": CHAT}, 9),
        Room({"chat_id": CHAT, "visitor": "visitor"}, 1),
        Room({"chat_id": CHAT, "visitor": "other"}, 1),
    )

    assert refusal(rooms=[chat, mine]) is RefusalCode.RATE_LIMITED
    assert admit_run(NewRun(surface=Surface.CHAT), rooms=[chat, others])


def test_it_refuses_when_what_was_to_run_is_gone() -> None:
    assert refusal(lock=User.objects.filter(pk=0)) is RefusalCode.NOT_FOUND
