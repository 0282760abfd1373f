"""The section `chats`: every field goes round, every mistake names its path, secrets never come out."""

from typing import Any

import pytest
from django.contrib.auth.hashers import check_password, make_password

from credentials.crypto import decrypt
from credentials.declare import Context, FileError
from deployments import access
from deployments.models import IDENTITY_KEY, ChatDeployment
from deployments.studio_file import apply_chats, export_chats
from tests.deployments.conftest import MakeChat
from workflows.models import Workflow

WHOLE: dict[str, Any] = {
    "slug": "support",
    "workflow": "support",
    "title": "Support",
    "description": "For customers",
    "welcome": "Hi there! How can I help you today?",
    "suggestions": ["Where is my order?"],
    "theme": {"color": "#ffd400"},
    "locale": "pt-BR",
    "active": False,
    "outputs": ["agent_1.content"],
    "include_thinking": True,
    "include_tool_calls": True,
    "access": {"mode": "email", "allowed": ["a@example.com", "@example.com"]},
    "allowed_origins": ["https://www.example.com"],
    "limits": {
        "requests_per_minute": 31,
        "max_input_chars": 20001,
        "max_run_seconds": 601,
        "max_concurrent_runs": {"visitor": 3, "address": 11, "chat": 101},
        "budget_usd": {"run": 0.5, "day": 10.0},
    },
    "redaction": [
        {"kind": "email"},
        {"kind": "phone", "regions": ["BR", "US"]},
        {"kind": "regex", "pattern": r"ORD-\d{6}", "replacement": "[order]"},
        {"kind": "words", "words": ["Project Falcon"], "replacement": "[internal]", "active": False},
    ],
}
SHORT: dict[str, Any] = {
    "slug": "support",
    "workflow": "support",
    "title": "Support",
    "outputs": ["agent_1.content"],
}

pytestmark = pytest.mark.usefixtures("workflow")


def apply(*chats: dict[str, Any], **env: str) -> list[str]:
    return [str(change) for change in apply_chats(list(chats), "chats", Context(env=env))]


def test_every_field_goes_round() -> None:
    assert apply(WHOLE) == ["created chats[0] support"]
    assert export_chats() == [WHOLE]
    assert apply(*export_chats()) == ["unchanged chats[0] support"]


def test_a_short_chat_gets_the_defaults_of_the_format() -> None:
    apply(SHORT)
    exported = export_chats()[0]
    assert exported["access"] == {"mode": "public"}
    assert exported["theme"] == {"color": "#2563eb"}
    assert exported["limits"] == {
        "requests_per_minute": 30,
        "max_input_chars": 20000,
        "max_run_seconds": 600,
        "max_concurrent_runs": {"visitor": 2, "address": 10, "chat": 100},
        "budget_usd": {"run": None, "day": None},
    }
    assert (exported["locale"], exported["redaction"], exported["active"]) == (None, [], True)
    assert (exported["include_thinking"], exported["include_tool_calls"]) == (False, False)


def test_what_is_left_out_stays_as_it_is() -> None:
    apply(WHOLE)
    assert apply(SHORT) == ["unchanged chats[0] support"]
    assert export_chats() == [WHOLE]


def test_lists_replace_what_is_stored() -> None:
    apply(WHOLE)
    assert apply({**SHORT, "redaction": [], "suggestions": []}) == ["updated chats[0] support"]
    exported = export_chats()[0]
    assert (exported["redaction"], exported["suggestions"]) == ([], [])


def test_only_other_rules_are_an_update_too() -> None:
    apply(WHOLE)
    assert apply({**WHOLE, "redaction": WHOLE["redaction"][:1]}) == ["updated chats[0] support"]
    assert apply({**WHOLE, "redaction": WHOLE["redaction"][:1]}) == ["unchanged chats[0] support"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"more": 1}, "chats[0]: unknown key 'more'"),
        ({"slug": "admin"}, "chats[0].slug: This word is one of Studio's own addresses."),
        ({"slug": "a b"}, "chats[0].slug: "),
        ({"slug": ""}, "chats[0].slug: must not be empty."),
        ({"workflow": "nothing"}, "chats[0].workflow: there is no workflow 'nothing'."),
        ({"title": " "}, "chats[0].title: must not be empty."),
        ({"title": 1}, "chats[0].title: must be text"),
        ({"outputs": []}, "chats[0].outputs: "),
        ({"outputs": ["agent_1.content", "agent_2.content"]}, "chats[0].outputs[1]: "),
        ({"outputs": ["agent_1.tokens"]}, "chats[0].outputs[0]: "),
        ({"outputs": [True]}, "chats[0].outputs[0]: must be text"),
        ({"active": "yes"}, "chats[0].active: must be true or false."),
        ({"include_thinking": 1}, "chats[0].include_thinking: must be true or false."),
        ({"theme": {"color": "red"}}, "chats[0].theme.color: A colour is # and six hexadecimal digits."),
        ({"theme": {}}, "chats[0].theme: 'color' is missing."),
        ({"locale": "english"}, "chats[0].locale: A language is like en, pt-BR or es."),
        ({"suggestions": [""]}, "chats[0].suggestions: An entry is empty."),
        ({"allowed_origins": ["https://a.test", "*"]}, "chats[0].allowed_origins[1]: * has a wildcard"),
        ({"access": {}}, "chats[0].access: 'mode' is missing."),
        (
            {"access": {"mode": "anybody"}},
            "chats[0].access.mode: must be one of public, password, email, jwt.",
        ),
        ({"access": {"mode": "public", "allowed": []}}, "chats[0].access: unknown key 'allowed'"),
        ({"access": {"mode": "password"}}, "chats[0].access.mode: This way of access needs a password."),
        ({"access": {"mode": "password", "password_env": "UNSET"}}, "chats[0].access.password_env: "),
        ({"access": {"mode": "email", "allowed": ["x"]}}, "chats[0].access.allowed: x is neither"),
        ({"limits": {"requests_per_minute": 0}}, "chats[0].limits.requests_per_minute: must be"),
        (
            {"limits": {"max_input_chars": 10**9}},
            "chats[0].limits.max_input_chars: Ensure this value is less",
        ),
        (
            {"limits": {"max_concurrent_runs": {"chat": True}}},
            "chats[0].limits.max_concurrent_runs.chat: must",
        ),
        ({"limits": {"max_concurrent_runs": {"chat": 10**9}}}, "chats[0].limits.max_concurrent_runs.chat: "),
        ({"limits": {"budget_usd": {"day": -1}}}, "chats[0].limits.budget_usd.day: must be"),
        ({"limits": {"budget_usd": {"week": 1}}}, "chats[0].limits.budget_usd: unknown key 'week'"),
        ({"redaction": [{"kind": "regex", "pattern": "("}]}, "chats[0].redaction[0].pattern: "),
        ({"redaction": [{"kind": "email"}, {"kind": "nothing"}]}, "chats[0].redaction[1].kind: "),
        ({"redaction": None}, "chats[0].redaction: must be a list."),
    ],
)
def test_every_mistake_names_its_path(values: dict[str, Any], said: str) -> None:
    with pytest.raises(FileError) as caught:
        apply({**SHORT, **values})
    assert str(caught.value).startswith(said)


def test_a_slug_stands_once() -> None:
    with pytest.raises(FileError, match=r"chats\[1\].slug: 'support' is already at chats\[0\].slug"):
        apply(SHORT, SHORT)


# --- Secrets ------------------------------------------------------------------------------------------------

LOCKED = {**SHORT, "access": {"mode": "password", "password_env": "CHAT_PASSWORD"}}


def test_a_password_comes_from_the_environment_and_never_leaves() -> None:
    apply(LOCKED, CHAT_PASSWORD="MAPLE-31")
    chat = ChatDeployment.objects.get()
    assert check_password("MAPLE-31", chat.password_hash)
    assert export_chats()[0]["access"] == {"mode": "password"}
    assert apply(*export_chats()) == ["unchanged chats[0] support"]


def test_the_same_password_changes_nothing_and_another_ends_every_grant() -> None:
    apply(LOCKED, CHAT_PASSWORD="MAPLE-31")
    token = access.grant(ChatDeployment.objects.get())
    assert apply(LOCKED, CHAT_PASSWORD="MAPLE-31") == ["unchanged chats[0] support"]
    assert access.is_granted(ChatDeployment.objects.get(), token)
    assert apply(LOCKED, CHAT_PASSWORD="CEDAR-12") == ["updated chats[0] support"]
    assert not access.is_granted(ChatDeployment.objects.get(), token)


def test_a_signing_key_is_stored_encrypted_and_compared() -> None:
    signed = {**SHORT, "access": {"mode": "jwt", "identity_key_env": "KEY"}}
    apply(signed, KEY="k" * 32)
    assert decrypt(ChatDeployment.objects.get().identity_key_encrypted, IDENTITY_KEY) == "k" * 32
    assert apply(signed, KEY="k" * 32) == ["unchanged chats[0] support"]
    assert apply(signed, KEY="l" * 32) == ["updated chats[0] support"]


def test_another_mode_keeps_the_stored_password(make_chat: MakeChat) -> None:
    make_chat(access_mode="password", password_hash=make_password("MAPLE-31"))
    apply({**SHORT, "access": {"mode": "public"}})
    assert apply({**SHORT, "access": {"mode": "password"}}) == ["updated chats[0] support"]


def test_a_chat_may_wait_for_its_workflow_to_be_published() -> None:
    Workflow.objects.create(slug="draft", name="Draft")
    assert apply({**SHORT, "workflow": "draft"}) == ["created chats[0] support"]
