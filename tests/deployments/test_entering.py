"""`POST /api/chat/{slug}/access`: the password's way in, and that a grant travels the right way."""

import json
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.utils import timezone

from deployments import access
from deployments.models import AccessMode, ChatDeployment
from tests.deployments.conftest import MakeChat

LISTED = "https://shop.example.org"


@pytest.fixture
def locked(make_chat: MakeChat) -> ChatDeployment:
    return make_chat(
        "locked",
        access_mode=AccessMode.PASSWORD,
        password_hash=make_password("open sesame"),
        allowed_origins=[LISTED],
    )


def enter(client: Client, slug: str = "locked", body: Any = None, **headers: str) -> Any:
    body = {"password": "open sesame"} if body is None else body
    return client.post(f"/api/chat/{slug}/access", body, content_type="application/json", headers=headers)


def test_on_our_own_origin_the_grant_is_a_cookie_no_script_can_read(
    client: Client, locked: ChatDeployment
) -> None:
    answer = enter(client, Origin="http://testserver")
    assert (answer.status_code, answer.content) == (204, b"")
    cookie = answer.cookies["studio_access"]
    assert access.is_granted(locked, cookie.value)
    assert cookie["httponly"] is True
    assert cookie["samesite"] == "Lax"
    assert cookie["path"] == "/api/chat/locked"
    assert cookie["max-age"] == 7 * 24 * 3600
    assert "X-Studio-Access" not in answer.headers
    assert "welcome" in client.get("/api/chat/locked").json()


def test_elsewhere_the_grant_is_a_header_and_no_cookie(client: Client, locked: ChatDeployment) -> None:
    answer = enter(client, Origin=LISTED)
    assert access.is_granted(locked, answer.headers["X-Studio-Access"])
    assert not answer.cookies
    seen = client.get(
        "/api/chat/locked", headers={"Origin": LISTED, "X-Studio-Access": answer.headers["X-Studio-Access"]}
    )
    assert "welcome" in seen.json()


def test_elsewhere_a_cookie_counts_for_nothing(client: Client, locked: ChatDeployment) -> None:
    enter(client, Origin="http://testserver")
    assert "welcome" not in client.get("/api/chat/locked", headers={"Origin": LISTED}).json()


def test_a_program_without_origin_may_use_either(client: Client, locked: ChatDeployment) -> None:
    answer = enter(client)
    assert answer.headers["X-Studio-Access"] == answer.cookies["studio_access"].value


def test_in_production_the_cookie_is_secure(client: Client, locked: ChatDeployment, settings: Any) -> None:
    assert not enter(client).cookies["studio_access"]["secure"]
    settings.PRODUCTION = True
    assert enter(client).cookies["studio_access"]["secure"]


@pytest.mark.parametrize(
    "password", ["", "open", "OPEN SESAME", "open sesame\x00", "x" * 5000, "\ud800", "é"]
)
def test_a_wrong_password_gets_nothing(client: Client, locked: ChatDeployment, password: str) -> None:
    answer = enter(client, body=json.dumps({"password": password}))
    assert answer.status_code == 401
    assert answer.json() == {"error": "The credential was not accepted.", "code": "AUTH_FAILED"}
    assert not answer.cookies
    assert "X-Studio-Access" not in answer.headers


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (" ", 400, "INVALID_JSON"),
        ("{", 400, "INVALID_JSON"),
        ("[]", 400, "INVALID_BODY"),
        ("{}", 400, "INVALID_BODY"),
        ('{"password": 1}', 400, "INVALID_BODY"),
        ('{"password": null}', 400, "INVALID_BODY"),
        ('{"password": "a", "more": 1}', 400, "INVALID_BODY"),
        ('{"password": "' + "x" * 1_100_000 + '"}', 413, "BODY_TOO_LARGE"),
    ],
)
def test_it_refuses_a_bad_body(
    client: Client, locked: ChatDeployment, body: str, status: int, code: str
) -> None:
    answer = enter(client, body=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute must not end in the middle of a test."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


def test_one_address_may_try_ten_passwords_a_minute(
    client: Client, locked: ChatDeployment, monkeypatch: Any
) -> None:
    stop_the_clock(monkeypatch)
    wrong = {"password": "wrong"}
    assert [enter(client, body=wrong).status_code for _ in range(11)] == [401] * 10 + [429]
    answer = enter(client, Origin=LISTED)
    assert answer.json()["code"] == "RATE_LIMITED"
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert answer.headers["Access-Control-Allow-Origin"] == LISTED


def test_no_hash_is_made_once_the_tries_are_used_up(
    client: Client, locked: ChatDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_the_clock(monkeypatch)
    monkeypatch.setattr(access, "PASSWORDS_PER_MINUTE", 1)
    enter(client, body={"password": "wrong"})
    monkeypatch.setattr(access, "check_password", lambda *_: pytest.fail("hashed after the limit"))
    assert enter(client).status_code == 429


def test_an_open_chat_needs_no_grant(client: Client, chat: ChatDeployment) -> None:
    answer = enter(client, "support")
    assert answer.status_code == 204
    assert not answer.cookies


@pytest.mark.parametrize("mode", [AccessMode.EMAIL, AccessMode.JWT])
def test_a_mode_without_a_way_in_yet_stays_shut(
    client: Client, make_chat: MakeChat, mode: AccessMode
) -> None:
    chat = make_chat(access_mode=mode, password_hash=make_password("open sesame"))
    assert enter(client, "support").json()["code"] == "AUTH_REQUIRED"
    # Not even a grant of the mode's own opens what nobody can be let into.
    assert client.get("/api/chat/support/conversations/x").status_code == 401
    assert chat.access_mode == mode


def test_another_password_puts_everybody_out(client: Client, locked: ChatDeployment) -> None:
    enter(client)
    locked.password_hash = make_password("another")
    locked.save()
    assert "welcome" not in client.get("/api/chat/locked").json()
    assert enter(client).status_code == 401
