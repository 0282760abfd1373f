"""A visitor's own conversations: read, erased, and out of everybody else's reach."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.utils import timezone

from deployments import visitors
from deployments.models import AccessMode, ChatDeployment
from deployments.visitors import Visitor
from runs import memory
from runs.models import Conversation, Message, Run, Status, Surface, TraceEntry
from tests.deployments.conftest import MakeChat


@pytest.fixture
def visitor(chat: ChatDeployment) -> Visitor:
    return visitors.new_visitor(chat)


@pytest.fixture
def conversation(chat: ChatDeployment, visitor: Visitor) -> Conversation:
    made = Conversation.objects.create(scope=chat.scope, owner=visitor.hash)
    now = timezone.now()
    run = make_run(chat, made, Status.COMPLETED)
    memory.append(made.pk, Message.Role.USER, "Where is my order?", run_id=run.pk, at=now)
    memory.append(made.pk, Message.Role.ASSISTANT, "On its way.", run_id=run.pk, at=now)
    memory.append(made.pk, Message.Role.USER, "And now?", run_id=run.pk, at=now)
    stopped = Message.State.STOPPED
    memory.append(made.pk, Message.Role.ASSISTANT, "", run_id=run.pk, at=now, state=stopped)
    return made


def make_run(chat: ChatDeployment, conversation: Conversation, status: Status) -> Run:
    return Run.objects.create(
        surface=Surface.CHAT,
        status=status,
        chat_id=chat.pk,
        conversation=conversation,
        lease_until=timezone.now() + timedelta(seconds=30),
        input={"input": "MAPLE-31"},
        output={"agent_1": {"content": "MAPLE-31"}},
    )


def get(client: Client, conversation: Conversation, token: str | None, slug: str = "support") -> Any:
    headers = {} if token is None else {"X-Studio-Visitor": token}
    return client.get(f"/api/chat/{slug}/conversations/{conversation.pk}", headers=headers)


def test_it_shows_a_visitor_what_was_said(
    client: Client, conversation: Conversation, visitor: Visitor
) -> None:
    answer = get(client, conversation, visitor.token)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    body = answer.json()
    assert list(body) == ["id", "messages"]
    assert body["id"] == conversation.pk
    assert [list(message) for message in body["messages"]] == [
        ["id", "role", "content", "status", "created_at"]
    ] * 4
    assert [(m["role"], m["content"], m["status"]) for m in body["messages"]] == [
        ("user", "Where is my order?", "complete"),
        ("assistant", "On its way.", "complete"),
        ("user", "And now?", "complete"),
        ("assistant", "", "stopped"),
    ]
    assert body["messages"][0]["created_at"].endswith("Z")


def test_it_takes_the_visitor_from_the_cookie(
    client: Client, conversation: Conversation, visitor: Visitor
) -> None:
    client.cookies["studio_visitor"] = visitor.token
    assert get(client, conversation, None).status_code == 200


@pytest.mark.parametrize("token", [None, "", "0" * 32, "0" * 31, "x" * 32, "\u00e9" * 32, "A" * 32])
def test_it_is_not_there_for_anybody_else(
    client: Client, conversation: Conversation, token: str | None
) -> None:
    answer = get(client, conversation, token)
    assert answer.status_code == 404
    assert answer.json() == {"error": "There is nothing here.", "code": "NOT_FOUND"}


def test_it_is_not_there_in_another_chat(
    client: Client, conversation: Conversation, visitor: Visitor, make_chat: MakeChat
) -> None:
    make_chat("other")
    assert get(client, conversation, visitor.token, "other").status_code == 404


@pytest.mark.parametrize("conversation_id", ["conv_0", "x" * 500, "%00", "%ed%a0%80", "é"])
def test_an_unknown_id_is_nothing(client: Client, visitor: Visitor, conversation_id: str) -> None:
    answer = client.get(
        f"/api/chat/support/conversations/{conversation_id}", headers={"X-Studio-Visitor": visitor.token}
    )
    assert answer.status_code == 404
    assert answer.json()["code"] == "NOT_FOUND"


def test_it_needs_access_like_the_chat_itself(
    client: Client, chat: ChatDeployment, conversation: Conversation, visitor: Visitor
) -> None:
    chat.access_mode, chat.password_hash = AccessMode.PASSWORD, make_password("open sesame")
    chat.save()
    assert get(client, conversation, visitor.token).json()["code"] == "AUTH_REQUIRED"


def test_the_token_itself_is_stored_nowhere(conversation: Conversation, visitor: Visitor) -> None:
    assert visitor.token not in str(Conversation.objects.values_list())
    assert conversation.owner == visitor.hash != visitor.token


def test_one_visitor_of_two_chats_looks_like_two(chat: ChatDeployment, make_chat: MakeChat) -> None:
    other = make_chat("other")
    token = visitors.new_visitor(chat).token
    assert visitors._hash(chat, token) != visitors._hash(other, token)


def delete(client: Client, conversation: Conversation, token: str) -> Any:
    path = f"/api/chat/support/conversations/{conversation.pk}"
    return client.delete(path, headers={"X-Studio-Visitor": token})


def test_erasing_it_leaves_nothing_of_what_was_said(
    client: Client, conversation: Conversation, visitor: Visitor
) -> None:
    TraceEntry.objects.create(run=Run.objects.get(), seq=1, kind="tool_call", at=timezone.now())
    assert delete(client, conversation, visitor.token).status_code == 204
    assert get(client, conversation, visitor.token).status_code == 404
    assert not Message.objects.exists()
    run = Run.objects.get()
    assert (run.input, run.output, run.trace.count()) == ({}, {}, 0)
    assert delete(client, conversation, visitor.token).status_code == 404


def test_nobody_else_can_erase_it(client: Client, conversation: Conversation) -> None:
    assert delete(client, conversation, "0" * 32).status_code == 404
    assert Conversation.objects.exists()


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_erasing_it_ends_the_answer_on_its_way(
    client: Client, chat: ChatDeployment, conversation: Conversation, visitor: Visitor, status: Status
) -> None:
    run = make_run(chat, conversation, status)
    assert delete(client, conversation, visitor.token).status_code == 204
    run.refresh_from_db()
    assert (run.status, run.code, run.input) == (Status.CANCELLED, "RUN_CANCELLED", {})
