"""Runs that end by themselves: order, parallel blocks, joins, one queue, and what is left at the end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any
from zlib import crc32

import pytest

from agents.conversation import AssistantMessage, ModelRequest, UserMessage
from agents.providers.base import ProviderEvent
from runs.control import RunControl
from streaming.codes import RunCode
from streaming.events import (
    BlockCompleted,
    BlockStarted,
    BlockStreamed,
    TextDelta,
    ToolCallStarted,
    TurnEnd,
    TurnEnded,
    Warned,
)
from streaming.selection import Selected
from tests.agents.doubles import Played, answer, call, calling, ended, failing
from tests.workflows.doubles import agent, end_of, graph, heard, plan, said_by, text_of
from workflows.executor import execute
from workflows.outbox import ROOM

CALCULATOR = {"type": "builtin", "name": "calculator"}


def calculating(expression: str = "1+1") -> Any:
    return call(0, "calculator", f'{{"expression": "{expression}"}}')


async def test_it_runs_an_agent_from_start_to_end() -> None:
    provider = Played(answer("Hel", "lo"))
    events = await heard(plan(graph(agent("a")), {"a": provider}, input="Hi there"))
    assert [type(event).__name__ for event in events] == [
        "BlockStarted",
        "BlockCompleted",
        "BlockStarted",
        "BlockStreamed",
        "BlockStreamed",
        "BlockStreamed",
        "BlockCompleted",
        "ExecutionEnded",
    ]
    assert text_of(events, "a") == "Hello"
    end = end_of(events)
    assert (end.code, end.detail, end.answer, end.terminal_blocks) == (None, "", "Hello", ("a",))
    assert (end.rounds, end.tool_calls, end.stop_reason) == (1, 0, "end_turn")
    assert (end.usage.input_tokens, end.usage.output_tokens, end.cost) == (10, 5, 2e-05)
    assert provider.requests[0].messages == [UserMessage("Hi there")]
    assert provider.closed == 1


async def test_it_gives_a_block_its_whole_output() -> None:
    provider = Played(calling(calculating("6*7"), text="Let me see."), answer("42"))
    events = await heard(
        plan(graph(agent("a", tools=[CALCULATOR], instructions="Be {{start.input}}")), {"a": provider})
    )
    done = next(event for event in events if isinstance(event, BlockCompleted) and event.block_id == "a")
    assert (done.name, done.type, done.order) == ("a", "agent", 2)
    assert done.input == {"instructions": "Be Hi", "prompt": "Hi", "remembered": 0}
    output = done.output
    assert (output["content"], output["model"]) == ("42", "fake/m")
    assert output["tokens"] == {
        "input": 20,
        "output": 10,
        "total": 30,
        "cached": None,
        "reasoning": None,
        "estimated": False,
    }
    assert output["cost"] == {"total_cost_usd": 4e-05}
    (tool,) = output["toolCalls"]["list"]
    assert output["toolCalls"]["count"] == 1
    assert (tool["id"], tool["name"], tool["status"], tool["result"]) == (
        "call_1",
        "calculator",
        "success",
        "42",
    )
    assert tool["arguments"] == '{"expression": "6*7"}'
    assert tool["startTime"] <= tool["endTime"]
    assert tool["startTime"].endswith("Z")
    assert len(tool["startTime"]) == len("2026-12-01T13:09:29.034Z")
    kinds = [segment["type"] for segment in output["providerTiming"]["timeSegments"]]
    assert kinds == ["model", "tool", "model"]
    assert "Let me see." not in str(output)


async def test_it_interleaves_blocks_as_they_speak() -> None:
    first, second, third = asyncio.Event(), asyncio.Event(), asyncio.Event()
    a = Played([[TextDelta("a1")], first, [TextDelta("a2")], third, [ended()]])
    b = Played([second, [TextDelta("b1")], [ended()]])
    spoken: list[str] = []
    async with aclosing(
        execute(plan(graph(agent("a"), agent("b")), {"a": a, "b": b}), RunControl())
    ) as stream:
        async for event in stream:
            if isinstance(event, BlockStreamed) and isinstance(event.events[0], TextDelta):
                spoken.append(event.events[0].text)
                {"a1": second, "b1": first, "a2": third}[spoken[-1]].set()
    assert spoken == ["a1", "b1", "a2"]


async def test_it_joins_what_ran_in_parallel() -> None:
    joined = Played(answer("both"))
    value = graph(
        agent("a"),
        agent("b"),
        agent("j", prompt="{{a.content}} and {{b.content}}"),
        edges=[("start", "a"), ("start", "b"), ("a", "j"), ("b", "j")],
    )
    events = await heard(plan(value, {"a": Played(answer("one")), "b": Played(answer("two")), "j": joined}))
    assert joined.requests[0].messages == [UserMessage("one and two")]
    assert end_of(events).terminal_blocks == ("j",)
    assert end_of(events).answer == "both"
    orders = [(event.block_id, event.order) for event in events if isinstance(event, BlockStarted)]
    assert orders == [("start", 1), ("a", 2), ("b", 3), ("j", 4)]


async def test_it_numbers_calls_over_all_blocks() -> None:
    blocks = [agent(name, tools=[CALCULATOR]) for name in ("a", "b", "c")]
    providers = {name: Played(calling(calculating()), answer("ok")) for name in "abc"}
    events = await heard(plan(graph(*blocks), providers))
    ids = [e.id for block in "abc" for e in said_by(events, block) if isinstance(e, ToolCallStarted)]
    assert sorted(ids) == ["call_1", "call_2", "call_3"]
    assert end_of(events).tool_calls == 3


class Talkative:
    """Never stops and never waits. `made` counts its batches."""

    name = vendor = "a"

    def __init__(self) -> None:
        self.made = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        while True:
            self.made += 1
            yield [TextDelta("x")]


@pytest.mark.parametrize("blocks", [1, 20])
async def test_it_lets_a_slow_reader_slow_the_providers(blocks: int) -> None:
    """One room a run: many talkative blocks take no more memory than one, but for the batch in each hand."""
    provider, read = Talkative(), 0
    value = graph(*(agent(f"a{number}", model="a/m") for number in range(blocks)))
    async with aclosing(execute(plan(value, {"a": provider}), RunControl())) as stream:
        async for event in stream:
            read += isinstance(event, BlockStreamed)
            for _ in range(100):
                await asyncio.sleep(0)
            assert provider.made <= read + ROOM + blocks
            if read == 100:
                break
    assert provider.made >= 100


async def test_it_passes_batches_on_untouched() -> None:
    batch = [TextDelta("a"), TextDelta("b")]
    events = await heard(plan(graph(agent("a")), {"a": Played([batch, [ended()]])}))
    streamed = [event for event in events if isinstance(event, BlockStreamed)]
    assert list(streamed[0].events) == batch
    assert all(given is sent for given, sent in zip(batch, streamed[0].events, strict=True))


async def test_it_keeps_the_requests_context_out_of_blocks() -> None:
    """A task that inherits it keeps a database connection open for as long as the answer takes."""
    connection: ContextVar[str] = ContextVar("connection", default="none")
    seen: list[str] = []

    class Looking(Played):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
            seen.append(connection.get())
            async with aclosing(super().stream(request)) as batches:
                async for batch in batches:
                    yield batch

    connection.set("the request's")
    value = graph(agent("a"), agent("b"), edges=[("start", "a"), ("a", "b")])
    await heard(plan(value, {"a": Looking(answer("x")), "b": Looking(answer("y"))}))
    assert seen == ["none", "none"]


async def test_it_falls_back_to_the_next_model() -> None:
    value = graph(agent("a", model="bad/m", fallbacks=["good/m"]))
    broken = failing(RunCode.PROVIDER_OVERLOADED, [TextDelta("half")])
    events = await heard(plan(value, {"bad": Played(broken, name="bad"), "good": Played(answer("whole"))}))
    assert end_of(events).code is None
    said = said_by(events, "a")
    assert TurnEnded(TurnEnd.ABANDONED) in said
    assert any(isinstance(event, Warned) for event in said)
    assert end_of(events).outputs["a"]["content"] == "whole"
    assert "half" not in str(end_of(events).outputs)


async def test_it_gives_the_conversation_to_blocks_that_remember() -> None:
    history = [UserMessage("1"), AssistantMessage("one"), UserMessage("2"), AssistantMessage("two")]
    providers = {name: Played(answer("ok")) for name in ("none", "all", "last")}
    value = graph(agent("none"), agent("all", memory="conversation"), agent("last", memory={"window": 3}))
    await heard(plan(value, providers, input="3", history=history))
    asked = {name: [m.text for m in provider.requests[0].messages] for name, provider in providers.items()}
    assert asked == {"none": ["3"], "all": ["1", "one", "2", "two", "3"], "last": ["2", "two", "3"]}


async def test_it_remembers_what_the_reader_was_shown() -> None:
    value = graph(agent("a"), agent("b"), edges=[("start", "a"), ("a", "b")])
    providers = {"a": Played(answer("first")), "b": Played(answer("second"))}
    selected = [
        Selected("a", "content", agent=True, live=True),
        Selected("b", "model", agent=True, live=True),
    ]
    assert end_of(await heard(plan(value, providers, selected=selected))).answer == "first\n\nfake/m"


async def test_it_answers_in_fields() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    value = graph(
        agent("a", response_schema=schema),
        agent("b", prompt="In {{a.city}}?"),
        edges=[("start", "a"), ("a", "b")],
    )
    b = Played(answer("yes"))
    events = await heard(plan(value, {"a": Played(answer('```json\n{"city": "Lisbon"}\n```')), "b": b}))
    assert end_of(events).outputs["a"]["city"] == "Lisbon"
    assert b.requests[0].messages == [UserMessage("In Lisbon?")]


async def test_it_counts_what_was_used_over_all_blocks() -> None:
    control = RunControl()
    value = graph(agent("a", tools=[CALCULATOR]), agent("b"))
    providers = {"a": Played(calling(calculating()), answer("2")), "b": Played(answer("ok"))}
    end = end_of(await heard(plan(value, providers), control))
    assert (end.rounds, end.tool_calls, end.usage.total_tokens) == (3, 1, 45)
    facts = control.facts
    assert (facts.rounds, facts.tool_calls, facts.usage, facts.cost) == (3, 1, end.usage, end.cost)


async def test_it_gives_start_its_fields() -> None:
    value = graph(agent("a", prompt="{{start.order}}: {{start.input}} {{start.conversationId}}"))
    value["blocks"][0]["fields"] = [{"name": "order", "type": "number", "required": True}]
    provider = Played(answer("ok"))
    await heard(plan(value, {"a": provider}, fields={"order": 7}, conversation_id="conv_1"))
    assert provider.requests[0].messages == [UserMessage("7: Hi conv_1")]
    for fields in ({}, {"order": "7"}, {"order": True}, {"order": 7, "other": 1}):
        end = end_of(await heard(plan(value, {"a": provider}, fields=fields)))
        assert end.code is RunCode.BLOCK_FAILED
        assert end.detail.startswith("start: The")


async def test_it_says_that_a_stored_graph_does_not_validate() -> None:
    (end,) = await heard(plan(graph(agent("a", model="x"))))
    assert end_of([end]).code is RunCode.BLOCK_FAILED
    assert end_of([end]).detail == "The graph does not validate: blocks[1].model: must be provider/model."


async def test_b029_it_never_mixes_runs() -> None:
    class Echo:
        """Says the input in 30 deltas, at no steady pace."""

        name = vendor = "a"

        async def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
            (asked,) = request.messages
            assert isinstance(asked, UserMessage)
            for number in range(30):
                for _ in range(crc32(f"{asked.text} {number}".encode()) % 7):
                    await asyncio.sleep(0)
                yield [TextDelta(f"{asked.text} ")]
            yield [ended()]

    provider, value = Echo(), graph(agent("a"), agent("b", model="a/m"))
    inputs = [f"user-{number:02}" for number in range(1, 21)]
    runs = await asyncio.gather(*(heard(plan(value, {"a": provider}, input=name)) for name in inputs))
    for name, events in zip(inputs, runs, strict=True):
        for block in ("a", "b"):
            assert set(text_of(events, block).split()) == {name}
        assert end_of(events).answer == "\n\n".join([f"{name} " * 30] * 2)


async def test_it_ends_by_rule_when_tools_only_fail() -> None:
    broken = calling(*[call(number, "calculator", "no json", f"v{number}") for number in range(15)])
    sibling = Played([asyncio.Event()])
    value = graph(agent("a", tools=[CALCULATOR]), agent("b"))
    events = await heard(plan(value, {"a": Played(broken), "b": sibling}))
    end = end_of(events)
    assert (end.code, end.detail) == (RunCode.TOOL_FAILURE_LIMIT, "a: too many tool calls in a row failed")
    assert end.outputs["a"]["content"] == ""
    assert end.outputs["a"]["toolCalls"]["count"] == 15
    assert (end.answer, end.stop_reason) == (None, "tool_failure_limit")
    assert sibling.closed == 1


async def test_it_does_not_tell_names_that_a_model_made_up() -> None:
    provider = Played(calling(call(0, "tell_secrets")), answer("ok"))
    events = await heard(plan(graph(agent("a", tools=[CALCULATOR])), {"a": provider}))
    (tool,) = end_of(events).outputs["a"]["toolCalls"]["list"]
    assert (tool["name"], tool["status"]) == ("unknown_tool", "error")
