"""Runs under redaction rules (section 8): nothing unmasked leaves, whatever happens, and calls still end."""

import re
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from agents.conversation import UserMessage
from redaction.engine import Masker, compile_rules
from redaction.spec import RedactionFailed, RuleSpec
from runs.control import CancelReason, ExecutionEnded, RunControl
from streaming.codes import RunCode
from streaming.events import (
    BlockCompleted,
    BlockFailed,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
)
from tests.agents.doubles import Played, answer, call, calling, ended, failing, saying
from tests.workflows.doubles import Event, agent, end_of, graph, heard, plan, said_by, text_of, with_tools
from tests.workflows.scripts import Scene, scenes
from workflows.executor import execute
from workflows.plan import Plan

SECRET = "ann@example.org"
MASKER = compile_rules([RuleSpec("email")])


class BrokenAt(Masker):
    """Cannot run on any text that holds `word`."""

    def __init__(self, word: str) -> None:
        super().__init__(MASKER.rules, MASKER._detectors)
        self._word = word

    def mask(self, text: str, label: str = "") -> str:
        if self._word in text:
            raise RedactionFailed("redaction rule 1 (email) could not run")
        return super().mask(text, label)


def shown(events: Sequence[Event]) -> str:
    """Every word of it."""
    return str(
        [to_builtins(event, enc_hook=str) for event in events if not hasattr(event, "terminal_blocks")]
    ) + str(vars(end_of(events)))


def words_of(events: Sequence[Event]) -> str:
    """The same without what is ours: the names of fields and kinds."""
    return "\n".join(
        _texts(to_builtins([vars(e) if isinstance(e, ExecutionEnded) else e for e in events], enc_hook=str))
    )


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for item in value.values() for text in _texts(item))
        case list() | tuple():
            yield from (text for item in value for text in _texts(item))


def private(masker: Masker = MASKER, **more: Any) -> Plan:
    turn = calling(call(0, "find", f'{{"who": "{SECRET}"}}'), text=f"I ask for {SECRET}.")
    provider = Played([[ThinkingDelta(f"{SECRET}?")], *turn], answer("It is ", "ann@exa", "mple.org", "."))
    run = plan(graph(agent("a", **more)), {"a": provider}, input=f"Who is {SECRET}?", masker=masker)
    return with_tools(run, {"a": [saying("find", f"found {SECRET}")]})


async def test_it_masks_all_that_leaves() -> None:
    events = await heard(private())
    assert SECRET not in shown(events)
    end = end_of(events)
    assert end.outputs["a"]["content"] == end.answer == text_of(events, "a") == "It is [email]."
    assert end.outputs["start"]["input"] == "Who is [email]?"
    (tool,) = end.outputs["a"]["toolCalls"]["list"]
    assert (tool["arguments"], tool["result"]) == ('{"who": "[email]"}', "found [email]")


async def test_it_asks_the_model_with_what_was_really_said() -> None:
    provider = Played(answer("ok"))
    await heard(plan(graph(agent("a")), {"a": provider}, input=f"Who is {SECRET}?", masker=MASKER))
    assert provider.requests[0].messages == [UserMessage(f"Who is {SECRET}?")]


async def test_it_gives_the_next_block_only_what_may_leave() -> None:
    second = Played(answer("ok"))
    value = graph(agent("a"), agent("b", prompt="{{a.content}}"), edges=[("start", "a"), ("a", "b")])
    await heard(plan(value, {"a": Played(answer(SECRET)), "b": second}, masker=MASKER))
    assert second.requests[0].messages == [UserMessage("[email]")]


async def test_it_says_text_once_and_only_of_the_final_turn() -> None:
    said = said_by(await heard(private()), "a")
    assert [event.text for event in said if isinstance(event, TextDelta)] == ["It is [email]."]
    assert [event.text for event in said if isinstance(event, ThinkingDelta)] == ["[email]?"]


async def test_it_lets_texts_wait_where_only_tools_may_speak() -> None:
    run = private()
    events = await heard(Plan(**{**vars(run), "masked_texts": False}))
    said = said_by(events, "a")
    assert not any(isinstance(event, TextDelta | ThinkingDelta) for event in said)
    assert [type(event) for event in said if isinstance(event, ToolCallStarted | ToolSettled)] == [
        ToolCallStarted,
        ToolSettled,
    ]
    assert end_of(events).outputs["a"]["content"] == "It is [email]."


async def test_it_masks_why_a_block_failed() -> None:
    provider = Played(failing(RunCode.PROVIDER_BAD_REQUEST, detail=f"bad input: {SECRET}"))
    events = await heard(plan(graph(agent("a")), {"a": provider}, input=SECRET, masker=MASKER))
    assert SECRET not in shown(events)
    assert end_of(events).detail == "a: bad input: [email]"
    (failed,) = [event for event in events if isinstance(event, BlockFailed)]
    assert failed.input["prompt"] == "[email]"


@pytest.mark.parametrize("word", ["Who", "found", "It is", "?"])
async def test_it_ends_if_a_rule_cannot_run(word: str) -> None:
    events = await heard(private(BrokenAt(word)))
    end = end_of(events)
    assert end.code is RunCode.BLOCK_FAILED
    assert end.detail.endswith("redaction rule 1 (email) could not run")
    assert end.answer is None
    assert SECRET not in shown(events)
    said = said_by(events, "a")
    starts = [event.id for event in said if isinstance(event, ToolCallStarted)]
    assert starts == [event.id for event in said if isinstance(event, ToolSettled)]
    assert not any(isinstance(event, BlockCompleted) and event.block_id == "a" for event in events)


async def test_it_withholds_a_reason_that_cannot_be_masked() -> None:
    provider = Played(failing(RunCode.PROVIDER_BAD_REQUEST, detail=f"broken {SECRET}"))
    events = await heard(plan(graph(agent("a")), {"a": provider}, masker=BrokenAt("broken")))
    assert end_of(events).code is RunCode.PROVIDER_BAD_REQUEST
    assert end_of(events).detail == "a: The reason is withheld: redaction rule 1 (email) could not run"
    assert SECRET not in shown(events)


async def test_it_ends_a_call_whose_result_could_not_be_masked() -> None:
    two = calling(call(0, "find", "{}"), call(1, "find", "{}", "v1"))
    run = plan(graph(agent("a")), {"a": Played(two, answer("ok"))}, masker=BrokenAt("found"))
    events = await heard(with_tools(run, {"a": [saying("find", "found it")]}))
    ends = [event for event in said_by(events, "a") if isinstance(event, ToolSettled)]
    assert sorted(end.id for end in ends) == ["call_1", "call_2"]
    assert {end.output for end in ends} == {""}


async def test_it_ends_announced_calls_of_a_stopped_run() -> None:
    control = RunControl()
    run = private()

    class Stopping:
        """A tool during which the run is stopped."""

        spec = saying("find").spec
        idempotent = True

        async def call(self, arguments: dict[str, Any]) -> Any:
            control.cancel(CancelReason.USER)
            return await saying("find", SECRET).call(arguments)

    events = await heard(with_tools(run, {"a": [Stopping()]}), control)
    said = said_by(events, "a")
    assert [event.status for event in said if isinstance(event, ToolSettled)] in (
        [ToolStatus.CANCELLED],
        [ToolStatus.SUCCESS],
    )
    assert SECRET not in shown(events)
    assert end_of(events).code is RunCode.RUN_CANCELLED


@given(scenes(), st.booleans())
@settings(max_examples=60, deadline=None)
async def test_nothing_a_rule_finds_leaves_any_run(scene: Scene, texts: bool) -> None:
    masker = compile_rules([RuleSpec("regex", pattern="aab|bba|a  b")])
    run = plan(scene.graph, scene.providers(), masker=masker, masked_texts=texts)
    control, events = RunControl(), []
    async with aclosing(execute(run, control)) as stream:
        async for event in stream:
            events.append(event)
            if len(events) == scene.cut:
                control.cancel(scene.how or CancelReason.USER)
    assert not re.search("aab|bba|a  b", words_of(events))
    for block in scene.graph["blocks"]:
        said = said_by(events, block["id"])
        starts = [event.id for event in said if isinstance(event, ToolCallStarted)]
        ends = [event.id for event in said if isinstance(event, ToolSettled)]
        assert sorted(starts) == sorted(ends)
        done = end_of(events).outputs.get(block["id"], {})
        if texts and "content" in done and end_of(events).code is None:
            assert text_of(events, block["id"]) == done["content"]


@given(st.integers(0, len(SECRET)), st.integers(0, len(SECRET)), st.sampled_from(["text", "schema"]))
async def test_it_converges_however_the_value_is_cut(first: int, second: int, form: str) -> None:
    start, end = sorted((first, second))
    cut = [SECRET[:start], SECRET[start:end], SECRET[end:]]
    pieces = ['{"x": "', *cut, '"}'] if form == "schema" else cut
    turn = [[TextDelta(piece)] for piece in pieces if piece]
    more = {"response_schema": {"type": "object"}} if form == "schema" else {}
    run = plan(graph(agent("a", **more)), {"a": Played([*turn, [ended()]])}, masker=MASKER)
    events = await heard(run)
    assert text_of(events, "a") == end_of(events).outputs["a"]["content"]
    assert SECRET not in shown(events)
