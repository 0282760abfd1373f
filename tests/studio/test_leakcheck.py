"""`manage.py leakcheck` finds nothing where nothing comes out, and names the place where something does."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.models import AuditEntry
from deployments.models import ChatDeployment, ChatRedactionRule
from runs.models import Conversation, Message, RateWindow, Run, TraceEntry
from streaming import envelope
from streaming.agent_events_v1 import Encoder
from streaming.chips import Chips
from streaming.speaker import Speaker
from studio.leakcheck import check
from studio.leakcheck.endings import ENDINGS, sample
from studio.leakcheck.marks import Marks
from workflows.models import Workflow, WorkflowRedactionRule, WorkflowVersion

ROWS = (
    *(Run, TraceEntry, Conversation, Message, RateWindow, AuditEntry),
    *(ChatDeployment, ChatRedactionRule, Workflow, WorkflowVersion, WorkflowRedactionRule),
)
TOOL = {
    "type": "http",
    "name": "find_order",
    "method": "POST",
    "url": "https://orders.example.com/{id}",
    "headers": {"Authorization": "Bearer {{secret:ORDER_KEY}}"},
    "parameters": {"type": "object", "properties": {"id": {"type": "string"}, "code": {"type": "integer"}}},
}
AGENT = {"id": "agent_1", "type": "agent", "model": "local/llama-3", "tools": [TOOL]}
OTHER = {"id": "agent_0", "type": "agent", "model": "local/llama-3", "prompt": "About {{start.input}}"}
START = {"id": "start", "type": "start"}
GRAPH = {"blocks": [START, OTHER, AGENT], "edges": [["start", "agent_0"], ["agent_0", "agent_1"]]}


def make(graph: Mapping[str, Any] = GRAPH, **chat: Any) -> ChatDeployment:
    workflow = Workflow.objects.create(slug="orders", name="Orders", draft=graph)
    workflow.published = workflow.versions.create(number=3, graph=graph)
    workflow.save()
    values = {"slug": "orders", "title": "Orders", "outputs": ["agent_1.content"], **chat}
    return ChatDeployment.objects.create(workflow=workflow, **values)


def leakcheck(slug: str = "orders") -> str:
    out = io.StringIO()
    call_command("leakcheck", slug, stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def few_endings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first four are enough to find a fault."""
    monkeypatch.setattr(check, "ENDINGS", ENDINGS[:4])


def leaks() -> str:
    out = io.StringIO()
    with pytest.raises(CommandError) as error:
        call_command("leakcheck", "orders", stdout=out, stderr=out)
    assert error.value.returncode == 1
    return out.getvalue()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("shown", [False, True])
def test_it_finds_nothing_in_a_sound_chat_and_leaves_nothing(shown: bool) -> None:
    make(include_thinking=shown, include_tool_calls=shown)
    before = [model._default_manager.count() for model in ROWS]
    said = leakcheck()
    assert said.startswith("Nothing hidden came out of orders")
    assert [model._default_manager.count() for model in ROWS] == before
    assert set(said.splitlines()[1:]) == {f"  {ending}: {code}" for ending, code in ENDS.items()}


#: What the endings come to: each of them is really played.
ENDS = {
    "success": "answered",
    "tools that fail": "answered",
    "tools that cannot be reached": "answered",
    "a provider that refuses": "PROVIDER_RATE_LIMITED",
    "a provider that refuses the second round": "PROVIDER_BAD_REQUEST",
    "a provider that breaks off": "PROVIDER_STREAM_BROKEN",
    "a bad request": "PROVIDER_BAD_REQUEST",
    "a fallback model": "answered",
    "a fault of our own": "AGENT_RUN_FAILED",
    "an empty answer": "EMPTY_ANSWER",
    "a content filter": "PROVIDER_CONTENT_FILTERED",
    "too many rounds": "MAX_TOOL_ROUNDS",
    "calls cut by length": "OUTPUT_LIMIT",
    "endless failures": "TOOL_FAILURE_LIMIT",
    "Stop": "RUN_CANCELLED",
    "Stop while a call is announced": "RUN_CANCELLED",
    "a timeout": "RUN_TIMEOUT",
    "a restart of the server": "RUN_INTERRUPTED",
    "a rule that cannot run": "BLOCK_FAILED",
}


@pytest.mark.django_db(transaction=True)
def test_it_checks_a_chat_with_a_password_and_rules_and_an_answer_in_fields() -> None:
    schema = {"type": "object", "properties": {"mood": {"enum": ["good"]}, "why": {"type": "string"}}}
    agent = {**AGENT, "response_schema": schema, "fallbacks": ["spare/x"]}
    graph = {"blocks": [START, agent], "edges": [["start", "agent_1"]]}
    chat = make(graph, access_mode="password", password_hash="x", outputs=["agent_1.content", "agent_1.mood"])
    ChatRedactionRule.objects.create(chat=chat, kind="email")
    WorkflowRedactionRule.objects.create(workflow=chat.workflow, kind="phone", regions=["BR"])
    assert "success: answered" in leakcheck()
    chat.refresh_from_db()
    assert (chat.password_hash, chat.slug) == ("x", "orders")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("few_endings")
def test_it_names_the_place_of_a_result_in_the_final_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    make()
    honest = envelope.picked

    def picked(output: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
        calls = output.get("toolCalls", {}).get("list", [])
        return {**honest(output, paths), "content": [call["result"] for call in calls]}

    monkeypatch.setattr(envelope, "picked", picked)
    said = leaks()
    assert "message, frame" in said
    assert "(final) (plain client, success): the result of a tool" in said
    assert "(negotiated client, tools that fail): the result of a tool that failed" in said
    assert "the same message again" in said


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("few_endings")
def test_it_names_the_place_of_a_reason_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    make()
    monkeypatch.setattr(Encoder, "_reason", lambda self, code, detail: detail)
    said = leaks()
    assert "(error) (plain client, a provider that refuses): the reason why a provider refused" in said
    assert "an error text that is not the fixed sentence" in said


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("few_endings")
def test_it_finds_tools_that_are_told_although_they_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    make()
    honest = Encoder.__init__

    def init(self: Encoder, view: Any) -> None:
        honest(self, view)
        self._tells_tools = True

    monkeypatch.setattr(Encoder, "__init__", init)
    monkeypatch.setattr(Chips, "listed", lambda self, block_id, counted: [])
    said = leaks()
    assert "(tool) (plain client, success): a tool call" in said
    assert "the name of a tool" in said
    assert "the key toolCalls" in said


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("few_endings")
def test_it_finds_text_of_a_turn_that_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    make()
    honest = Speaker.end_turn
    monkeypatch.setattr(Speaker, "end_turn", lambda self, kind: honest(self, type(kind)("final")))
    said = leaks()
    assert "(chunk) (plain client, success): text of a turn that is no answer" in said


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("few_endings")
def test_it_tells_an_author_whose_own_block_shows_what_tools_answered() -> None:
    template = {"id": "shown", "type": "template", "template": "{{agent_1.toolCalls}}"}
    graph = {"blocks": [START, AGENT, template], "edges": [["start", "agent_1"], ["agent_1", "shown"]]}
    make(graph, outputs=["shown.text"])
    assert "(chunk) (plain client, success): the result of a tool" in leaks()


@pytest.mark.django_db
def test_it_refuses_what_visitors_cannot_reach() -> None:
    with pytest.raises(CommandError, match="There is no chat nowhere") as error:
        leakcheck("nowhere")
    assert error.value.returncode == 2
    chat = make()
    Workflow.objects.update(published=None)
    with pytest.raises(CommandError, match="not published"):
        leakcheck(chat.slug)


def test_marks_are_found_in_base64_and_in_any_case() -> None:
    import base64

    marks = Marks()
    mark, number = marks.at("a word"), marks.number("a count")
    assert marks.found(b"nothing") == []
    assert marks.found(mark.upper().encode()) == ["a word"]
    assert marks.found(b"%d tokens" % number) == ["a count"]
    for before in (b"", b"x", b"xy", b"xyz"):
        assert marks.found(base64.b64encode(before + mark.encode() + b"!")) == ["a word"]


def test_a_sample_fits_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "kind": {"enum": ["a", "b"]},
            "many": {"type": "array", "items": {"type": "number", "minimum": 3}},
            "sure": {"type": "boolean"},
        },
    }
    assert sample(schema, "x") == {"text": "x", "kind": "a", "many": [3], "sure": True}


def test_every_ending_is_expected() -> None:
    assert [ending.name for ending in ENDINGS] == list(ENDS)
