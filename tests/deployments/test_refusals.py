"""Bad input: each refusal with its status, code and sentence, never stored, and none of them runs."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from deployments import access, policy, visitors
from deployments.models import AccessMode, ChatDeployment
from runs.models import Conversation, Message, Run, Status, Surface
from streaming.codes import REFUSALS, RefusalCode
from tests.deployments.conftest import MakeChat

LISTED = "https://shop.example.org"
JSON = "application/json"


@pytest.fixture(autouse=True)
def nothing_runs(db: None) -> Any:
    """A refused message leaves no run, no conversation and no message."""
    runs = set(Run.objects.values_list("pk"))
    yield
    assert set(Run.objects.exclude(pk__startswith="given").values_list("pk")) == runs
    assert not Message.objects.exists()


def say(
    client: Client, body: Any = None, *, slug: str = "support", content_type: str = JSON, **headers: str
) -> Any:
    body = {"input": "Hello"} if body is None else body
    data = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.generic("POST", f"/api/chat/{slug}", data, content_type=content_type, headers=headers)


def check(answer: Any, code: RefusalCode) -> None:
    status, sentence = REFUSALS[code]
    assert answer.status_code == status
    assert answer.json() == {"error": sentence, "code": code.value}
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == JSON
    assert answer.headers["Vary"] == "Origin"
    assert not answer.cookies
    assert not [name for name in answer.headers if name.startswith("X-Studio")]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b" ", RefusalCode.INVALID_JSON),
        (b"{", RefusalCode.INVALID_JSON),
        (b"{'input': 'x'}", RefusalCode.INVALID_JSON),
        (b'{"input": NaN}', RefusalCode.INVALID_JSON),
        (b'{"input": "\xff"}', RefusalCode.INVALID_JSON),
        (b'{"input": ' + b"[" * 100_000, RefusalCode.INVALID_JSON),
        ([], RefusalCode.INVALID_BODY),
        ("null", RefusalCode.INVALID_BODY),
        ('"Hello"', RefusalCode.INVALID_BODY),
        ({}, RefusalCode.INVALID_BODY),
        ({"input": None}, RefusalCode.INVALID_BODY),
        ({"input": True}, RefusalCode.INVALID_BODY),
        ({"input": 1}, RefusalCode.INVALID_BODY),
        ({"input": ["Hello"]}, RefusalCode.INVALID_BODY),
        ({"Input": "Hello"}, RefusalCode.INVALID_BODY),
        ({"input": "Hello", "more": 1}, RefusalCode.INVALID_BODY),
        ({"input": "Hello", "includeThinking": True}, RefusalCode.INVALID_BODY),
        ({"input": "Hello", "selectedOutputs": []}, RefusalCode.INVALID_BODY),
        ({"input": "Hello", "conversationId": None}, RefusalCode.INVALID_BODY),
        ({"input": "Hello", "conversationId": 1}, RefusalCode.INVALID_BODY),
        ({"input": "Hello", "conversation_id": "x"}, RefusalCode.INVALID_BODY),
        ({"input": "Hello", "password": False}, RefusalCode.INVALID_BODY),
        ({"input": "x" * 20_001}, RefusalCode.INVALID_BODY),
        ({"input": ""}, RefusalCode.INPUT_EMPTY),
        ({"input": " \t\r\n\u00a0\u2003"}, RefusalCode.INPUT_EMPTY),
        ({"input": "x", "conversationId": ""}, RefusalCode.NOT_FOUND),
        ({"input": "x", "conversationId": "conv_0"}, RefusalCode.NOT_FOUND),
        ({"input": "x", "conversationId": "\x00"}, RefusalCode.NOT_FOUND),
        ({"input": "x", "conversationId": "x" * 10_000}, RefusalCode.NOT_FOUND),
        ({"input": "x" * 1_100_000}, RefusalCode.BODY_TOO_LARGE),
    ],
)
def test_a_bad_body_is_refused(client: Client, chat: ChatDeployment, body: Any, code: RefusalCode) -> None:
    check(say(client, body), code)


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/jsonp"],
)
def test_only_json_is_read(client: Client, chat: ChatDeployment, content_type: str) -> None:
    check(say(client, content_type=content_type), RefusalCode.UNSUPPORTED_MEDIA_TYPE)


@pytest.mark.parametrize("slug", ["nobody", "inactive", "unpublished"])
def test_a_chat_that_is_not_there_is_refused(client: Client, make_chat: MakeChat, slug: str) -> None:
    make_chat("inactive", active=False)
    check(say(client, slug=slug), RefusalCode.NOT_FOUND)


@pytest.mark.parametrize("origin", ["https://evil.test", "null", "https://shop.example.org.evil.test"])
def test_b130_a_foreign_origin_is_refused_before_anything_runs(
    client: Client, make_chat: MakeChat, origin: str
) -> None:
    make_chat(allowed_origins=[LISTED])
    check(say(client, Origin=origin), RefusalCode.ORIGIN_NOT_ALLOWED)


def test_b036_a_session_of_ours_opens_nothing_from_another_site(
    client: Client, make_chat: MakeChat, owner: User
) -> None:
    make_chat(access_mode=AccessMode.PASSWORD, password_hash=make_password("open sesame"))
    client.force_login(owner)
    check(say(client, Origin="https://evil.test", content_type="text/plain"), RefusalCode.ORIGIN_NOT_ALLOWED)
    check(say(client, content_type="text/plain"), RefusalCode.UNSUPPORTED_MEDIA_TYPE)
    check(say(client), RefusalCode.AUTH_REQUIRED)


# --- Access -------------------------------------------------------------------------------------------------


@pytest.fixture
def locked(make_chat: MakeChat) -> ChatDeployment:
    return make_chat(
        access_mode=AccessMode.PASSWORD, password_hash=make_password("open sesame"), max_input_chars=5
    )


def test_a_locked_chat_needs_a_password(client: Client, locked: ChatDeployment) -> None:
    check(say(client), RefusalCode.AUTH_REQUIRED)
    check(say(client, **{"X-Studio-Access": "invented"}), RefusalCode.AUTH_REQUIRED)
    check(say(client, {"input": "Hello", "password": "wrong"}), RefusalCode.AUTH_FAILED)


@pytest.mark.parametrize("mode", [AccessMode.EMAIL, AccessMode.JWT])
def test_a_mode_without_a_way_in_yet_is_never_open(
    client: Client, make_chat: MakeChat, mode: AccessMode
) -> None:
    make_chat(access_mode=mode, password_hash=make_password("open sesame"))
    check(say(client, {"input": "Hello", "password": "open sesame"}), RefusalCode.AUTH_REQUIRED)


@pytest.mark.parametrize("text", ["", "much too long"])
def test_before_access_nothing_is_said_of_the_message(
    client: Client, locked: ChatDeployment, text: str
) -> None:
    check(say(client, {"input": text}), RefusalCode.AUTH_REQUIRED)


def test_passwords_in_messages_are_counted_as_tries(
    client: Client, locked: ChatDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    monkeypatch.setattr(access, "PASSWORDS_PER_MINUTE", 2)
    codes = [say(client, {"input": "x", "password": "wrong"}).json()["code"] for _ in range(3)]
    assert codes == ["AUTH_FAILED", "AUTH_FAILED", "RATE_LIMITED"]


# --- Limits -------------------------------------------------------------------------------------------------


@pytest.fixture
def still_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute must not end in the middle of a test."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.mark.usefixtures("still_clock")
def test_no_hash_is_made_once_messages_are_too_many(
    client: Client, locked: ChatDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked.requests_per_minute = 1
    locked.save()
    monkeypatch.setattr("runs.rates.ADDRESS_FACTOR", 1)
    say(client)
    monkeypatch.setattr(access, "check_password", lambda *_: pytest.fail("hashed after the limit"))
    answer = say(client, {"input": "x", "password": "open sesame"})
    check(answer, RefusalCode.RATE_LIMITED)
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


@pytest.mark.usefixtures("still_clock")
@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_b128_an_invented_address_evades_no_limit(
    client: Client, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    make_chat(requests_per_minute=3)
    monkeypatch.setattr("runs.rates.ADDRESS_FACTOR", 1)
    codes = [say(client, {"input": ""}, **{header: f"10.0.0.{n}"}).json()["code"] for n in range(5)]
    assert codes == ["INPUT_EMPTY"] * 3 + ["RATE_LIMITED"] * 2


@pytest.mark.usefixtures("still_clock")
def test_b128_behind_a_trusted_proxy_each_visitor_is_counted_alone(
    client: Client, make_chat: MakeChat, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STUDIO_TRUSTED_PROXIES = 1
    make_chat(requests_per_minute=1)
    monkeypatch.setattr("runs.rates.ADDRESS_FACTOR", 1)
    hops = ["10.0.0.1", "10.0.0.2", "10.9.9.9, 10.0.0.1", "10.0.0.1, 10.0.0.3"]
    codes = [say(client, {"input": ""}, **{"X-Forwarded-For": hop}).json()["code"] for hop in hops]
    assert codes == ["INPUT_EMPTY", "INPUT_EMPTY", "RATE_LIMITED", "INPUT_EMPTY"]


def live_run(chat: ChatDeployment, number: int, **fields: Any) -> Run:
    return Run.objects.create(
        pk=f"given_{number}",
        surface=Surface.CHAT,
        status=Status.RUNNING,
        chat_id=chat.pk,
        lease_until=timezone.now() + timedelta(seconds=30),
        **fields,
    )


def test_there_is_room_for_so_many_answers_at_once(client: Client, make_chat: MakeChat) -> None:
    chat = make_chat(max_runs_chat=2)
    for number in range(2):
        live_run(chat, number)
    answer = say(client)
    check(answer, RefusalCode.RATE_LIMITED)
    assert int(answer.headers["Retry-After"]) >= 1


def test_one_visitor_has_room_of_its_own(client: Client, make_chat: MakeChat) -> None:
    chat = make_chat(max_runs_visitor=1)
    visitor = visitors.new_visitor(chat)
    live_run(chat, 1, visitor=visitor.hash)
    check(say(client, **{"X-Studio-Visitor": visitor.token}), RefusalCode.RATE_LIMITED)


def test_a_conversation_has_one_answer_at_a_time(client: Client, chat: ChatDeployment) -> None:
    visitor = visitors.new_visitor(chat)
    conversation = Conversation.objects.create(scope=chat.scope, owner=visitor.hash)
    live_run(chat, 1, visitor=visitor.hash, conversation=conversation)
    body = {"input": "And?", "conversationId": conversation.pk}
    check(say(client, body, **{"X-Studio-Visitor": visitor.token}), RefusalCode.CONVERSATION_BUSY)


def test_a_spent_budget_refuses_until_the_next_day(client: Client, make_chat: MakeChat) -> None:
    chat = make_chat(budget_day_usd=1.0)
    Run.objects.filter(pk=live_run(chat, 1, cost=0.6).pk).update(status=Status.COMPLETED)
    Run.objects.filter(pk=live_run(chat, 2, cost=0.6).pk).update(status=Status.COMPLETED)
    answer = say(client)
    check(answer, RefusalCode.BUDGET_EXCEEDED)
    assert 1 <= int(answer.headers["Retry-After"]) <= 24 * 3600


def test_yesterdays_cost_is_forgiven(make_chat: MakeChat) -> None:
    chat = make_chat(budget_day_usd=1.0)
    run = live_run(chat, 1, cost=5.0)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=1, minutes=1))
    policy.check_budget(chat, timezone.now())


# --- Idempotency-Key ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "é", "a\tb"])
def test_a_key_that_is_none_is_refused(client: Client, chat: ChatDeployment, key: str) -> None:
    check(say(client, **{"Idempotency-Key": key}), RefusalCode.INVALID_BODY)
