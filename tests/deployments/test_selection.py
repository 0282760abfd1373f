"""What visitors may select, when a chat is saved and when a version is published."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from deployments import selection
from deployments.models import ChatDeployment
from streaming.selection import PRIVATE_PATHS, same
from tests.deployments.conftest import MakeChat
from workflows import publishing
from workflows.graph import Graph, read
from workflows.models import Workflow

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "model": {"type": "string"}, "steps": {"type": "array"}},
    "required": ["answer"],
}


def graph(**agent: Any) -> dict[str, Any]:
    block = {"id": "agent_1", "type": "agent", "name": "First look", "model": "local/llama-3", **agent}
    return {"blocks": [{"id": "start", "type": "start"}, block], "edges": [["start", "agent_1"]]}


@pytest.fixture(scope="module")
def text() -> Graph:
    return read(graph())


@pytest.mark.parametrize(
    "entry", ["agent_1.content", "agent_1", "Agent-1.content", "first look", "First look.content"]
)
def test_an_answer_can_be_selected_in_every_spelling(text: Graph, entry: str) -> None:
    assert selection.missing(entry, text) is None
    (found,) = selection.selected([entry], text)
    assert (found.block_id, found.path) == ("agent_1", "content")


@pytest.mark.parametrize("path", sorted(PRIVATE_PATHS))
@pytest.mark.parametrize("block", ["agent_1", "First look", "AGENT 1"])
def test_what_is_private_about_an_agent_is_refused(text: Graph, block: str, path: str) -> None:
    for entry in (f"{block}.{path}", f"{block}.{path}.total", f"{block}.{path}[0]"):
        assert selection.missing(entry, text) is not None
        assert selection.selected([entry], text) == ()


@pytest.mark.parametrize(
    "entry", ["", ".", "agent_2", "agent_2.content", "agent_1.nothing", "agent_1.content.", "x" * 5000]
)
def test_what_names_nothing_is_refused_with_what_can_be_chosen(text: Graph, entry: str) -> None:
    said = selection.missing(entry, text)
    assert said is not None
    assert "agent_1.content" in said


def test_fields_of_a_structured_answer_can_be_selected() -> None:
    structured = read(graph(response_schema={**SCHEMA, "properties": {"answer": {"type": "string"}}}))
    assert selection.missing("agent_1.answer", structured) is None
    (found,) = selection.selected(["agent_1.answer"], structured)
    assert not found.live


def test_choices_hold_nothing_private(text: Graph) -> None:
    choices = selection.choices(text)
    assert "agent_1.content" in choices
    assert all(selection.missing(choice, text) is None for choice in choices)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.builds(
                "{}{}{}".format,
                st.sampled_from(["agent_1", "First look", "start"]),
                st.sampled_from([".", ""]),
                st.sampled_from([*sorted(PRIVATE_PATHS), "content", "input", "model.x", "toolCalls.list[0]"]),
            ),
        ),
        max_size=5,
    )
)
def test_nothing_private_is_ever_selected(entries: list[str]) -> None:
    found = selection.selected(entries, read(graph()))
    assert not [one for one in found if one.block_id == "agent_1" and same(one.path)[0] in PRIVATE_PATHS]
    assert len({(one.block_id, same(one.path)) for one in found}) == len(found)


# --- When a chat is saved -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ([], "at least one output"),
        (["agent_2.content"], "There is no output agent_2.content. Choose of: "),
        (["agent_1.cost"], "agent_1.cost is never shown to visitors."),
        ("agent_1.content", "list of texts"),
        ([1], "list of texts"),
    ],
)
def test_a_chat_with_other_outputs_is_refused(chat: ChatDeployment, outputs: Any, said: str) -> None:
    chat.outputs = outputs
    with pytest.raises(ValidationError) as caught:
        chat.full_clean()
    assert said in " ".join(caught.value.message_dict["outputs"])


def test_a_toggle_can_be_flipped_whatever_else_is_wrong(
    client: Client, owner: User, make_chat: MakeChat
) -> None:
    chat = make_chat(
        outputs=["gone.content"],
        allowed_origins=["*"],
        suggestions=[""],
        access_mode="password",
        include_thinking=True,
    )
    client.force_login(owner)
    rows = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": chat.pk, "_save": "Save"}
    answer = client.post("/admin/deployments/chatdeployment/", rows)
    assert answer.status_code == 302
    chat.refresh_from_db()
    assert not chat.include_thinking


# --- When a version is published ----------------------------------------------------------------------------


def test_a_version_that_takes_an_output_away_is_refused_with_the_chats_name(
    make_chat: MakeChat, workflow: Workflow
) -> None:
    make_chat("orders", title="Orders")
    make_chat("billing", title="Billing", active=False)
    workflow.draft = graph(id="agent_2", name="") | {"edges": [["start", "agent_2"]]}
    workflow.save()
    before = workflow.published
    with pytest.raises(publishing.NotPublishable) as caught:
        publishing.publish(workflow)
    assert [sentence.split(":")[0] for sentence in caught.value.sentences] == [
        "The chat “Billing” (billing)",
        "The chat “Orders” (orders)",
    ]
    workflow.refresh_from_db()
    assert workflow.published == before


def test_a_version_that_keeps_all_outputs_is_published(chat: ChatDeployment, workflow: Workflow) -> None:
    workflow.draft = graph(instructions="Be brief.")
    workflow.save()
    assert publishing.publish(workflow).version.number == 2


def test_chats_of_another_workflow_do_not_object(make_chat: MakeChat) -> None:
    make_chat()
    other = Workflow.objects.create(
        slug="other", name="Other", draft={"blocks": [{"id": "start", "type": "start"}]}
    )
    assert publishing.publish(other).new
