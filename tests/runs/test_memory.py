"""A conversation remembers what users said and final answers, and gives a model what it can read."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.conversation import AssistantMessage, UserMessage
from agents.conversation import Message as ModelMessage
from runs import memory
from runs.admission import ConversationRef
from runs.control import ExecutionEnded
from runs.ledger import Finish, finish
from runs.models import Conversation, Message
from streaming.codes import RunCode
from tests.runs.conftest import admit, completed, ended


def turn(conversation_id: str, said: str, how: ExecutionEnded) -> None:
    ticket = admit(said, ConversationRef("chat:1", "visitor", id=conversation_id))
    finish(Finish(ticket.run_id, 1, how))


@pytest.fixture
def conversation_id(db: None) -> str:
    return Conversation.objects.create(scope="chat:1", owner="visitor").pk


def test_it_gives_a_model_marks_instead_of_answers_that_never_were(conversation_id: str) -> None:
    turn(conversation_id, "one", completed("first"))
    turn(conversation_id, "two", ended(RunCode.RUN_CANCELLED))
    turn(conversation_id, "three", ended(RunCode.PROVIDER_AUTH, "key MAPLE-31 is wrong"))

    assert memory.history(conversation_id) == [
        UserMessage("one"),
        AssistantMessage("first"),
        UserMessage("two"),
        AssistantMessage("[This answer was stopped.]"),
        UserMessage("three"),
        AssistantMessage("[This answer failed.]"),
    ]


def test_b018_a_stopped_answer_keeps_its_mark_and_no_text(conversation_id: str) -> None:
    turn(conversation_id, "one", completed("partial", code=RunCode.RUN_CANCELLED))

    kept = Message.objects.filter(conversation_id=conversation_id)
    assert list(kept.values_list("role", "content", "status")) == [
        ("user", "one", "complete"),
        ("assistant", "", "stopped"),
    ]


def test_it_orders_by_position_whatever_the_clocks_say(conversation_id: str) -> None:
    now = timezone.now()
    ticket = admit("first", ConversationRef("chat:1", "visitor", id=conversation_id))
    for minutes, content in enumerate(["second", "third"], start=1):
        at = now - timedelta(minutes=minutes)
        memory.append(conversation_id, Message.Role.USER, content, run_id=ticket.run_id, at=at)

    assert [message.content for message in Message.objects.all()] == ["first", "second", "third"]


TALK: list[ModelMessage] = [
    UserMessage("1"),
    AssistantMessage("2"),
    UserMessage("3"),
    AssistantMessage("4"),
    UserMessage("5"),
]


@pytest.mark.parametrize(
    ("last", "kept"), [(None, 5), (0, 0), (1, 1), (2, 1), (3, 3), (4, 3), (5, 5), (6, 5), (100, 5)]
)
def test_it_begins_a_window_with_a_question(last: int | None, kept: int) -> None:
    assert memory.window(TALK, last) == TALK[len(TALK) - kept :]


@pytest.mark.parametrize(("last", "kept"), [(None, 4), (1, 0), (2, 2), (3, 2), (9, 4)])
def test_it_loads_only_the_window(conversation_id: str, last: int | None, kept: int) -> None:
    turn(conversation_id, "one", completed("first"))
    turn(conversation_id, "two", completed("second"))

    assert memory.history(conversation_id, last) == memory.history(conversation_id)[4 - kept :]
