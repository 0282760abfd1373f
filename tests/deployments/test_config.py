"""`GET /api/chat/{slug}`, its preflight and its refusals: what a chat says before and after access."""

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client

from deployments import access
from deployments.models import AccessMode, ChatDeployment
from deployments.theme import theme
from tests.deployments.conftest import MakeChat
from workflows.models import Workflow

LISTED = "https://shop.example.org"


@pytest.fixture
def locked(make_chat: MakeChat) -> ChatDeployment:
    password = make_password("open sesame")
    return make_chat("locked", title="Orders", access_mode=AccessMode.PASSWORD, password_hash=password)


def test_it_says_all_a_visitor_of_an_open_chat_may_know(client: Client, make_chat: MakeChat) -> None:
    make_chat(welcome="Hi there!", suggestions=["Where is my order?"], locale="pt-BR", include_thinking=True)
    answer = client.get("/api/chat/support")
    assert answer.status_code == 200
    assert list(answer.json().items()) == [
        ("title", "Support"),
        ("access", {"mode": "public"}),
        ("locale", "pt-BR"),
        ("welcome", "Hi there!"),
        ("suggestions", ["Where is my order?"]),
        ("theme", theme("#2563eb").as_json()),
        ("includeThinking", True),
        ("includeToolCalls", False),
    ]
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("mode", [AccessMode.PASSWORD, AccessMode.EMAIL, AccessMode.JWT])
def test_it_says_only_the_title_before_access(client: Client, make_chat: MakeChat, mode: AccessMode) -> None:
    make_chat(access_mode=mode, welcome="MAPLE-31", allowed_emails=["@example.com"])
    answer = client.get("/api/chat/support")
    assert answer.json() == {"title": "Support", "access": {"mode": mode}, "locale": None}


def test_it_says_everything_to_a_grant_in_the_header(client: Client, locked: ChatDeployment) -> None:
    answer = client.get("/api/chat/locked", headers={"X-Studio-Access": access.grant(locked)})
    assert "welcome" in answer.json()


def test_it_sets_no_cookie_and_asks_for_no_session(client: Client, chat: ChatDeployment) -> None:
    answer = client.get("/api/chat/support")
    assert not answer.cookies
    assert answer.headers["Vary"] == "Origin"


@pytest.mark.parametrize("slug", ["nobody", "inactive", "unpublished", "a%20b", "%00", "..", "x" * 300, "é"])
def test_unknown_inactive_and_unpublished_chats_are_alike(
    client: Client, make_chat: MakeChat, workflow: Workflow, slug: str
) -> None:
    make_chat("inactive", active=False, allowed_origins=[LISTED])
    make_chat("unpublished", workflow=Workflow.objects.create(slug="draft", name="Draft"))
    headers = {"Origin": LISTED}
    expected = client.get("/api/chat/never-was", headers=headers)
    answer = client.get(f"/api/chat/{slug}", headers=headers)
    assert (answer.status_code, answer.content, answer.headers) == (404, expected.content, expected.headers)
    assert answer.json() == {"error": "There is nothing here.", "code": "NOT_FOUND"}
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("method", ["get", "post", "options", "delete", "put"])
def test_unknown_chats_answer_every_method_alike(client: Client, make_chat: MakeChat, method: str) -> None:
    make_chat("inactive", active=False)
    answers = [getattr(client, method)(f"/api/chat/{slug}") for slug in ("nobody", "inactive")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    assert answers[0].headers == answers[1].headers


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_it_refuses_other_methods(client: Client, chat: ChatDeployment, method: str) -> None:
    answer = getattr(client, method)("/api/chat/support")
    assert answer.status_code == 405
    assert answer.json() == {"error": "This method is not allowed here.", "code": "METHOD_NOT_ALLOWED"}


# --- Origins ------------------------------------------------------------------------------------------------


def test_b138_a_preflight_needs_no_credential(client: Client, locked: ChatDeployment) -> None:
    locked.allowed_origins = [LISTED]
    locked.save()
    asked = {"Origin": LISTED, "Access-Control-Request-Method": "POST"}
    answer = client.options("/api/chat/locked", headers=asked)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == LISTED
    assert "X-Studio-Stream-Protocol" in answer.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Vary"] == "Origin"
    assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/api/chat/support", "/api/chat/support/access", "/api/chat/support/conversations/x"]
)
def test_b130_a_foreign_origin_is_refused_everywhere(client: Client, make_chat: MakeChat, path: str) -> None:
    make_chat(allowed_origins=[LISTED])
    for method in (client.get, client.post, client.options):
        answer = method(path, headers={"Origin": "https://evil.test"})
        assert answer.status_code == 403
        assert answer.json()["code"] == "ORIGIN_NOT_ALLOWED"
        assert answer.headers["Vary"] == "Origin"
        assert not [name for name in answer.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://testserver", 200),
        ("https://testserver", 200),
        ("http://testserver:81", 403),
        ("http://testserver.evil.test", 403),
    ],
)
def test_our_own_origin_needs_no_listing(
    client: Client, chat: ChatDeployment, origin: str, status: int
) -> None:
    assert client.get("/api/chat/support", headers={"Origin": origin}).status_code == status


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/api/chat/locked", "get", 200),
        ("/api/chat/locked", "put", 405),
        ("/api/chat/locked/access", "post", 415),
        ("/api/chat/locked/conversations/x", "get", 401),
    ],
)
def test_b138_refusals_carry_cors_headers(
    client: Client, locked: ChatDeployment, path: str, method: str, status: int
) -> None:
    locked.allowed_origins = [LISTED]
    locked.save()
    answer = getattr(client, method)(path, headers={"Origin": LISTED})
    assert answer.status_code == status
    assert answer.headers["Access-Control-Allow-Origin"] == LISTED
    assert "X-Studio-Visitor" in answer.headers["Access-Control-Expose-Headers"]


def test_b138_our_own_faults_carry_cors_headers(
    client: Client, make_chat: MakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_chat(allowed_origins=[LISTED])

    def broken(chat: ChatDeployment) -> None:
        raise RuntimeError("MAPLE-31")

    monkeypatch.setattr("deployments.serializers.config", broken)
    answer = client.get("/api/chat/support", headers={"Origin": LISTED})
    assert answer.status_code == 500
    assert answer.headers["Access-Control-Allow-Origin"] == LISTED
    assert b"MAPLE-31" not in answer.content
