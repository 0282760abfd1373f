"""Chats in the admin: toggles in the list, mistakes at their fields, secrets that never come back."""

from typing import Any

import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from credentials.crypto import decrypt
from deployments import access
from deployments.models import IDENTITY_KEY, AccessMode, ChatDeployment
from tests.deployments.conftest import MakeChat
from workflows.models import Workflow

LIST = "/admin/deployments/chatdeployment/"


@pytest.fixture
def desk(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def form(workflow: Workflow, **values: Any) -> dict[str, Any]:
    return {
        "title": "Support",
        "slug": "support",
        "workflow": workflow.pk,
        "active": "on",
        "outputs": "agent_1.content",
        "access_mode": "public",
        "theme_color": "#2563eb",
        "requests_per_minute": 30,
        "max_runs_visitor": 2,
        "max_runs_address": 10,
        "max_runs_chat": 100,
        "max_input_chars": 20000,
        "max_run_seconds": 600,
        "redaction_rules-TOTAL_FORMS": 0,
        "redaction_rules-INITIAL_FORMS": 0,
        **values,
    }


def rule(number: int, **values: Any) -> dict[str, Any]:
    return {f"redaction_rules-{number}-{key}": value for key, value in values.items()}


def test_it_saves_what_the_form_says(desk: Client, workflow: Workflow) -> None:
    lists = {"suggestions": "Where is it?\n\n When? \n", "allowed_origins": "https://shop.example.org"}
    answer = desk.post(f"{LIST}add/", form(workflow, include_thinking="on", **lists))
    assert answer.status_code == 302, answer.context["errors"]
    chat = ChatDeployment.objects.get()
    assert chat.suggestions == ["Where is it?", "When?"]
    assert chat.allowed_origins == ["https://shop.example.org"]
    assert chat.outputs == ["agent_1.content"]
    assert (chat.include_thinking, chat.include_tool_calls) == (True, False)


def test_b150_it_makes_an_address_for_a_title_without_latin_letters(desk: Client, workflow: Workflow) -> None:
    for title in ("Привет", "Пока", "🌍"):
        assert desk.post(f"{LIST}add/", form(workflow, title=title, slug="")).status_code == 302
    assert set(ChatDeployment.objects.values_list("slug", flat=True)) == {"chat-1", "chat-2", "chat-3"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"slug": "admin"}, "one of Studio&#x27;s own addresses"),
        ({"allowed_origins": "https://*.example.org"}, "wildcard"),
        ({"access_mode": "password"}, "This way of access needs a password"),
        ({"theme_color": "red"}, "six hexadecimal digits"),
        ({"budget_day_usd": "nan"}, "Enter a number"),
        ({"requests_per_minute": "0"}, "greater than or equal to 1"),
        ({"replace_identity_key": "short"}, "at least 32 characters"),
    ],
)
def test_it_says_what_is_wrong_and_keeps_what_was_typed(
    desk: Client, workflow: Workflow, values: dict[str, str], said: str
) -> None:
    answer = desk.post(f"{LIST}add/", form(workflow, **{"suggestions": "Kept?", **values}))
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert "Kept?" in answer.content.decode()
    assert not ChatDeployment.objects.exists()


def test_the_form_names_what_the_published_version_offers(desk: Client, chat: ChatDeployment) -> None:
    assert "Offered are: " in (page := desk.get(change(chat)).content.decode())
    assert "agent_1.content" in page
    assert "agent_1.tokens" not in page


def test_it_saves_rules_with_the_chat(desk: Client, workflow: Workflow) -> None:
    rules = {
        "redaction_rules-TOTAL_FORMS": 2,
        **rule(0, kind="phone", regions="BR\nUS", active="on", position=0),
        **rule(1, kind="words", words="Project Falcon", replacement="[internal]", active="on", position=1),
    }
    assert desk.post(f"{LIST}add/", form(workflow, **rules)).status_code == 302
    stored = ChatDeployment.objects.get().redaction_rules.all()
    assert [(found.kind, found.regions, found.words) for found in stored] == [
        ("phone", ["BR", "US"], []),
        ("words", [], ["Project Falcon"]),
    ]


def test_it_refuses_a_rule_that_cannot_run(desk: Client, workflow: Workflow) -> None:
    rules = {
        "redaction_rules-TOTAL_FORMS": 1,
        **rule(0, kind="regex", pattern="(?=a)", active="on", position=0),
    }
    answer = desk.post(f"{LIST}add/", form(workflow, **rules))
    assert answer.status_code == 200
    assert not ChatDeployment.objects.exists()


# --- The list -----------------------------------------------------------------------------------------------


def flip(desk: Client, chat: ChatDeployment, **toggles: str) -> Any:
    rows = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": chat.pk, "_save": "Save"}
    return desk.post(LIST, rows | {f"form-0-{name}": value for name, value in toggles.items()}, follow=True)


def test_both_toggles_are_flipped_in_the_list(desk: Client, chat: ChatDeployment) -> None:
    answer = flip(desk, chat, include_thinking="on", include_tool_calls="on")
    chat.refresh_from_db()
    assert (chat.include_thinking, chat.include_tool_calls) == (True, True)
    page = answer.content.decode()
    assert "Thinking is now shown to visitors of Support. Their next message will use it." in page
    assert "Tool calls are now shown to visitors of Support." in page


def test_flipping_a_toggle_in_the_list_changes_nothing_else(desk: Client, make_chat: MakeChat) -> None:
    chat = make_chat(
        access_mode="password", password_hash=make_password("x"), allowed_origins=["https://a.test"]
    )
    before = dict(ChatDeployment.objects.values().get())
    flip(desk, chat, include_thinking="on")
    after = dict(ChatDeployment.objects.values().get())
    changed = {key for key in after if after[key] != before[key]}
    assert changed == {"include_thinking", "updated_at"}


def test_it_says_in_which_state_a_chat_is(desk: Client, make_chat: MakeChat, workflow: Workflow) -> None:
    make_chat("live")
    make_chat("off", active=False)
    make_chat("unpublished", workflow=Workflow.objects.create(slug="draft", name="Draft"))
    page = desk.get(LIST).content.decode()
    assert all(f'field-state">{state}<' in page for state in ("Live", "Inactive", "Not published"))


def test_a_chat_behind_its_draft_says_so(chat: ChatDeployment, workflow: Workflow) -> None:
    workflow.draft = {"blocks": [], "edges": []}
    assert chat.state == "behind"


def test_the_list_asks_the_database_a_few_times_however_long_it_is(
    desk: Client, make_chat: MakeChat, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        make_chat(f"chat-{number}")
    with django_assert_max_num_queries(8):
        desk.get(LIST)


# --- Secrets ------------------------------------------------------------------------------------------------


@pytest.fixture
def locked(make_chat: MakeChat) -> ChatDeployment:
    return make_chat(access_mode=AccessMode.PASSWORD, password_hash=make_password("MAPLE-31"))


def change(chat: ChatDeployment) -> str:
    return f"{LIST}{chat.pk}/change/"


def test_b145_an_untouched_password_is_kept(desk: Client, locked: ChatDeployment, workflow: Workflow) -> None:
    token = access.grant(locked)
    answer = desk.post(change(locked), form(workflow, access_mode="password"))
    assert answer.status_code == 302
    locked.refresh_from_db()
    assert check_password("MAPLE-31", locked.password_hash)
    assert access.is_granted(locked, token)


def test_another_password_ends_every_grant(desk: Client, locked: ChatDeployment, workflow: Workflow) -> None:
    token = access.grant(locked)
    desk.post(change(locked), form(workflow, access_mode="password", replace_password=" two words "))
    locked.refresh_from_db()
    assert check_password(" two words ", locked.password_hash)
    assert not access.is_granted(locked, token)


def test_a_signing_key_is_stored_encrypted(desk: Client, chat: ChatDeployment, workflow: Workflow) -> None:
    key = "k" * 40
    desk.post(change(chat), form(workflow, access_mode="jwt", replace_identity_key=key))
    chat.refresh_from_db()
    assert decrypt(chat.identity_key_encrypted, IDENTITY_KEY) == key


@pytest.mark.parametrize("path", ["", "?q=MAPLE", "{pk}/change/", "{pk}/history/", "{pk}/delete/"])
def test_b143_no_page_holds_a_password_or_its_hash(desk: Client, locked: ChatDeployment, path: str) -> None:
    page = desk.get(LIST + path.format(pk=locked.pk)).content.decode()
    assert "MAPLE-31" not in page
    assert locked.password_hash not in page


def test_b145_a_refused_form_does_not_send_the_password_back(desk: Client, workflow: Workflow) -> None:
    values = {"access_mode": "password", "replace_password": "MAPLE-31", "slug": "admin"}
    answer = desk.post(f"{LIST}add/", form(workflow, **values))
    assert answer.status_code == 200
    assert b"MAPLE-31" not in answer.content


def test_b146_who_may_only_look_sees_no_more(client: Client, staff: User, locked: ChatDeployment) -> None:
    staff.user_permissions.add(Permission.objects.get(codename="view_chatdeployment"))
    client.force_login(staff)
    page = client.get(change(locked)).content.decode()
    assert "A password is set." in page
    assert locked.password_hash not in page
    assert 'type="password"' not in page
    assert client.get(LIST).status_code == 200
