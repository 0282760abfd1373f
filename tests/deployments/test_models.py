"""What a chat may say about itself: every mistake is refused with a sentence at its field."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from deployments.models import ChatDeployment
from tests.deployments.conftest import MakeChat
from workflows.models import Workflow


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("slug", "admin", "one of Studio's own addresses"),
        ("slug", "API", "one of Studio's own addresses"),
        ("slug", "a b", "slug"),
        ("theme_color", "red", "six hexadecimal digits"),
        ("theme_color", "#2563eb\n", "at most 7 characters"),
        ("locale", "english", "A language is like"),
        ("suggestions", "Where is my order?", "list of texts"),
        ("suggestions", [1], "list of texts"),
        ("suggestions", [" "], "An entry is empty"),
        ("suggestions", ["x" * 201], "longer than 200"),
        ("suggestions", ["x"] * 201, "more than 200"),
        ("allowed_emails", ["nobody"], "neither an address nor a domain"),
        ("allowed_origins", ["https://*.example.org"], "wildcard"),
        ("allowed_origins", ["https://shop.example.org/"], "without a slash"),
        ("allowed_origins", {"https://shop.example.org": 1}, "list of texts"),
        ("access_mode", "password", "needs a password"),
        ("access_mode", "email", "needs at least one address"),
        ("access_mode", "jwt", "needs the key"),
        ("access_mode", "anybody", "not a valid choice"),
        ("requests_per_minute", 0, "greater than or equal to 1"),
        ("max_input_chars", 10**7, "less than or equal to 250000"),
        ("budget_run_usd", -1, "greater than or equal to 0"),
    ],
)
def test_it_refuses_a_bad_setting(chat: ChatDeployment, field: str, value: Any, said: str) -> None:
    setattr(chat, field, value)
    with pytest.raises(ValidationError) as caught:
        chat.full_clean()
    assert list(caught.value.message_dict) == [field]
    assert said in " ".join(caught.value.message_dict[field])


def test_it_accepts_what_the_form_shows_as_examples(chat: ChatDeployment) -> None:
    chat.suggestions = ["Where is my order?"]
    chat.allowed_emails = ["a@example.com", "@example.com"]
    chat.allowed_origins = ["https://www.example.com", "http://localhost:5173"]
    chat.locale = "pt-BR"
    chat.full_clean()


def test_b150_it_finds_an_address_itself(workflow: Workflow) -> None:
    made = [
        ChatDeployment.objects.create(workflow=workflow, title=title, outputs=["agent_1.content"])
        for title in ("Привет", "Пока", "admin", "Ünïcode", "Unicode")
    ]
    assert [chat.slug for chat in made] == ["chat-1", "chat-2", "admin-1", "unicode", "unicode-2"]


def test_b150_its_address_stays_when_its_title_changes(chat: ChatDeployment) -> None:
    chat.title = "Another name"
    chat.full_clean()
    chat.save()
    assert chat.slug == "support"


def test_b151_a_form_without_an_address_gets_a_free_one(make_chat: MakeChat, workflow: Workflow) -> None:
    make_chat("support")
    second = ChatDeployment(workflow=workflow, title="Support", outputs=["agent_1.content"])
    second.full_clean()
    assert second.slug == "support-2"


def test_both_toggles_are_off_by_default(workflow: Workflow) -> None:
    chat = ChatDeployment(workflow=workflow, title="Support")
    assert (chat.include_thinking, chat.include_tool_calls) == (False, False)
