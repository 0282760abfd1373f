"""An erased conversation leaves nothing of what was said, and no answer writes into it any more."""

from contextlib import aclosing

import pytest
from django.core import serializers
from django.utils import timezone

from runs import batches, ledger
from runs.admission import ConversationRef, Ticket
from runs.batches import Record
from runs.erasure import erase
from runs.ledger import Finish, finish
from runs.models import Conversation, Message, Run, Status, TraceEntry
from runs.supervisor import supervise
from runs.trace import Entry
from streaming.events import RunStatus
from tests.runs.conftest import Played, admit, admit_async, completed, flushed, in_thread, listen, row, text

SECRET = "MAPLE-31"


def everything() -> str:
    return "".join(
        serializers.serialize("json", model.objects.all())
        for model in (Run, TraceEntry, Conversation, Message)
    )


def traced(ticket: Ticket) -> Record:
    entry = Entry(1, "agent_1", "tool_result", {"output": SECRET}, timezone.now())
    return Record(ticket.run_id, ticket.attempt, [entry])


@pytest.mark.django_db
def test_it_leaves_nothing_of_what_was_said_and_keeps_the_bill() -> None:
    ticket = admit(SECRET, input={"input": SECRET})
    batches.write([traced(ticket), Finish(ticket.run_id, 1, completed(SECRET, detail=SECRET))])
    assert SECRET in everything()

    assert erase(str(ticket.conversation_id)) is True

    assert SECRET not in everything()
    assert Conversation.objects.count() == Message.objects.count() == 0
    run = row(ticket.run_id)
    assert (run.status, run.cost, run.conversation_id) == (Status.COMPLETED, 0.25, None)


@pytest.mark.django_db
def test_it_leaves_other_conversations_alone() -> None:
    mine, other = admit("one"), admit(SECRET)
    finish(Finish(other.run_id, 1, completed(SECRET)))

    erase(str(mine.conversation_id))

    assert Message.objects.filter(content=SECRET).count() == 2
    assert erase(str(mine.conversation_id)) is False


@pytest.mark.django_db
def test_it_ends_a_live_run_that_then_can_store_nothing() -> None:
    ticket = admit("one", ConversationRef("chat:1", "visitor"))
    ledger.start({ticket.run_id: 1})

    erase(str(ticket.conversation_id))
    batches.write([traced(ticket), Finish(ticket.run_id, 1, completed(SECRET))])

    assert SECRET not in everything()
    assert row(ticket.run_id).status == Status.CANCELLED
    assert row(ticket.run_id).cost == 0.25


@pytest.mark.usefixtures("ledger_loop")
async def test_it_stops_the_stream_of_a_live_run() -> None:
    ticket = await admit_async()
    async with aclosing(supervise(ticket, Played([text("x")]))) as source:
        await anext(source)
        await flushed()

        assert await in_thread(erase)(str(ticket.conversation_id))

        _, terminal = await listen(source)
    assert terminal.status is RunStatus.CANCELLED
