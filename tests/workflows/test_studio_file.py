"""The section `workflows`: what is applied is there, exports change nothing, mistakes have paths."""

import copy
from typing import Any

import pytest

from credentials.declare import Context, FileError, Outcome
from workflows import publishing
from workflows.models import Workflow
from workflows.studio_file import apply_workflows, export_workflows, verify_workflows

pytestmark = pytest.mark.django_db

SUPPORT: dict[str, Any] = {
    "slug": "support",
    "name": "Support",
    "publish": True,
    "blocks": [
        {"id": "start", "type": "start", "fields": [{"name": "order", "type": "string", "required": False}]},
        {
            "id": "agent_1",
            "type": "agent",
            "name": "First look",
            "model": "local/llama-3",
            "fallbacks": ["openai/gpt-5-mini"],
            "instructions": "You help customers. The order is {{start.order}}.\n",
            "prompt": "{{start.input}}",
            "memory": "conversation",
            "thinking": "medium",
            "temperature": 0.2,
            "max_output_tokens": 1024,
            "max_rounds": 20,
            "response_schema": None,
            "tools": [
                {
                    "type": "http",
                    "name": "lookup_order",
                    "description": "Find an order",
                    "method": "POST",
                    "url": "https://orders.example.com/find",
                    "headers": {"Authorization": "Bearer {{secret:ORDER_KEY}}"},
                    "parameters": {
                        "type": "object",
                        "properties": {"id": {"type": "string"}},
                        "required": ["id"],
                    },
                    "timeout": 20,
                    "idempotent": True,
                },
                {"type": "builtin", "name": "current_time"},
            ],
        },
        {
            "id": "branch_1",
            "type": "condition",
            "cases": [{"if": "{{agent_1.content}} contains 'refund'", "then": "refund_1"}],
            "else": "text_1",
        },
        {
            "id": "refund_1",
            "type": "http",
            "method": "GET",
            "url": "https://orders.example.com/refunds/{{start.order}}",
        },
        {"id": "text_1", "type": "template", "template": "Order {{start.order}}: {{agent_1.content}}"},
        {
            "id": "response_1",
            "type": "response",
            "status": 200,
            "data": {"text": "{{text_1.text}}", "refund": "{{refund_1.body}}"},
        },
    ],
    "edges": [
        ["start", "agent_1"],
        ["agent_1", "branch_1"],
        ["text_1", "response_1"],
        ["refund_1", "response_1"],
    ],
    "redaction": [{"kind": "email"}, {"kind": "phone", "regions": ["BR", "US"]}],
}


def apply(*entries: Any) -> list[Outcome]:
    return [change.outcome for change in apply_workflows(list(entries), "workflows", Context())]


def changed(**keys: Any) -> dict[str, Any]:
    return copy.deepcopy(SUPPORT) | keys


def with_agent(**keys: Any) -> dict[str, Any]:
    entry = copy.deepcopy(SUPPORT)
    entry["blocks"][1] |= keys
    return entry


def test_it_creates_and_publishes() -> None:
    assert apply(SUPPORT) == [Outcome.CREATED]
    workflow = Workflow.objects.get(slug="support")
    assert workflow.draft == {"blocks": SUPPORT["blocks"], "edges": SUPPORT["edges"]}
    assert workflow.published is not None
    assert (workflow.published.number, workflow.published.graph) == (1, workflow.draft)
    assert [rule.kind for rule in workflow.redaction_rules.all()] == ["email", "phone"]


def test_it_changes_nothing_when_applied_again() -> None:
    apply(SUPPORT)
    assert apply(SUPPORT) == [Outcome.UNCHANGED]
    workflow = Workflow.objects.get()
    assert (workflow.revision, workflow.versions.count()) == (1, 1)


def test_it_exports_what_it_would_find_unchanged() -> None:
    apply(SUPPORT, changed(slug="other", publish=False, redaction=[]))
    exported = export_workflows()
    assert [entry["slug"] for entry in exported] == ["other", "support"]
    assert exported[1] == SUPPORT
    assert apply(*exported) == [Outcome.UNCHANGED, Outcome.UNCHANGED]


def test_it_does_not_claim_that_a_draft_ahead_is_published() -> None:
    apply(SUPPORT)
    apply(with_agent(instructions="Be brief.") | {"publish": False})
    (exported,) = export_workflows()
    assert "publish" not in exported
    assert apply(exported) == [Outcome.UNCHANGED]
    assert apply(exported | {"publish": True}) == [Outcome.UPDATED]
    assert Workflow.objects.get().versions.count() == 2


def test_it_exports_keys_in_the_order_people_read() -> None:
    apply(SUPPORT)
    workflow = Workflow.objects.get()
    workflow.draft["blocks"][1] = dict(sorted(workflow.draft["blocks"][1].items()))
    workflow.save()
    (exported,) = export_workflows()
    assert list(exported["blocks"][1])[:4] == ["id", "type", "name", "model"]


def test_it_counts_changes_of_the_draft() -> None:
    apply(SUPPORT)
    apply(changed(name="Help desk"))
    assert Workflow.objects.get().revision == 1
    apply(with_agent(temperature=0.5))
    assert Workflow.objects.get().revision == 2


def test_it_keeps_what_is_left_out() -> None:
    apply(SUPPORT)
    assert apply({"slug": "support"}) == [Outcome.UNCHANGED]
    assert apply({"slug": "support", "redaction": []}) == [Outcome.UPDATED]
    assert not Workflow.objects.get().redaction_rules.exists()


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        (with_agent(model="llama"), "workflows[0].blocks[1].model"),
        (with_agent(tools=[{"type": "http", "name": "x"}]), "workflows[0].blocks[1].tools[0]"),
        (changed(edges=[["start", "nobody"]]), "workflows[0].edges[0]"),
        (changed(redaction=[{"kind": "nonsense"}]), "workflows[0].redaction[0].kind"),
        (changed(slug="no slug"), "workflows[0].slug"),
        (changed(slug=7), "workflows[0].slug"),
        (changed(extra=1), "workflows[0]"),
        (changed(publish="yes"), "workflows[0].publish"),
        ({"slug": "new"}, "workflows[0]"),
    ],
)
def test_it_names_the_path_of_a_mistake(entry: dict[str, Any], path: str) -> None:
    with pytest.raises(FileError) as caught:
        apply(entry)
    assert caught.value.path == path
    assert not Workflow.objects.filter(published__isnull=False).exists()


def test_it_names_every_mistake_of_a_graph_at_once() -> None:
    with pytest.raises(FileError) as caught:
        apply(with_agent(model="llama", thinking="very") | {"edges": [["start", "nobody"]]})
    text = str(caught.value)
    assert "workflows[0].blocks[1].thinking: " in text
    assert "workflows[0].edges[0]: there is no block 'nobody'." in text


def test_it_says_whose_chat_would_lose_its_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        publishing, "_checks", [lambda workflow, graph: ["The chat Help shows agent_9.content."]]
    )
    apply(SUPPORT)  # the file's chats come later, and may change with it
    with pytest.raises(FileError, match=r"workflows\[0\]\.publish: The chat Help shows agent_9\.content\."):
        verify_workflows([SUPPORT], "workflows")
    verify_workflows([changed(publish=False)], "workflows")
