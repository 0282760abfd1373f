"""Any provider script with any tools keeps the order of events, and every announced call has one end."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.conversation import AssistantMessage, ModelRequest, ToolMessage
from agents.errors import AgentError, ProviderError
from agents.loop import AgentRun
from agents.providers.base import (
    CallDelta,
    CallStarted,
    ProviderEvent,
    ReplayPart,
    ResponseEnded,
    ResponseFailed,
    TurnStop,
)
from agents.providers.scripted import Step
from agents.tools.base import ToolResult
from streaming.codes import FALLBACK_CODES, RunCode
from streaming.events import AgentEvent, AgentFinished, TextDelta, ThinkingDelta, ToolStatus, Usage
from tests.agents.doubles import Doing, Played, Script, run_of, spec_of
from tests.agents.order import Order, Phase

NAMES = ["slow", "slow", "fails", "raises", "made_up"]
ARGUMENTS = ["", "{}", '{"n": 1}', '{"n": 3}', '{"n"', "[]"]
CODES = st.sampled_from([RunCode.PROVIDER_BAD_REQUEST, *sorted(FALLBACK_CODES)])
USAGES = st.sampled_from([Usage(), Usage(7, 3, 10), Usage(7)])


@st.composite
def turns(draw: st.DrawFn) -> Script:
    """One model call: what it says, cut into reads anywhere, and how it ends."""
    said: list[ProviderEvent] = []
    started = 0
    for kind in draw(st.lists(st.sampled_from(["text", "thinking", "call", "replay"]), max_size=5)):
        match kind:
            case "text":
                said.append(TextDelta(draw(st.sampled_from(["a", " ", "two words"]))))
            case "thinking":
                said.append(ThinkingDelta("hm"))
            case "replay":
                said.append(ReplayPart({"opaque": started}))
            case _:
                said.append(
                    CallStarted(started, draw(st.sampled_from(["", "x", "y"])), draw(st.sampled_from(NAMES)))
                )
                arguments = draw(st.sampled_from(ARGUMENTS))
                cut = draw(st.integers(0, len(arguments)))
                said += [CallDelta(started, part) for part in (arguments[:cut], arguments[cut:]) if part]
                started += 1
    end = draw(ends())
    steps: list[Step] = list(batches(draw, [*said, *end[:1]] if isinstance(end, list) else said))
    return [*steps, end] if isinstance(end, ProviderError) else steps


@st.composite
def ends(draw: st.DrawFn) -> list[ProviderEvent] | ProviderError:
    match draw(st.sampled_from(["closed", "closed", "closed", "unclosed", "nothing", "failed", "raised"])):
        case "closed":
            return [ResponseEnded(True, draw(st.sampled_from(TurnStop)), draw(USAGES))]
        case "unclosed":
            return [ResponseEnded(False, TurnStop.STOP, draw(USAGES))]
        case "failed":
            return [ResponseFailed(draw(CODES), "in the stream", draw(USAGES))]
        case "raised":
            return ProviderError(draw(CODES), "raised")
        case _:
            return []


def batches(draw: st.DrawFn, events: Sequence[ProviderEvent]) -> Iterable[Sequence[ProviderEvent]]:
    position = 0
    while position < len(events):
        size = draw(st.integers(1, 4))
        yield events[position : position + size]
        position += size


async def slow(arguments: dict[str, Any]) -> ToolResult:
    for _ in range(arguments.get("n", 0)):
        await asyncio.sleep(0)
    return ToolResult("ok")


async def fails(arguments: dict[str, Any]) -> ToolResult:
    return ToolResult("HTTP 500", is_error=True)


async def raises(arguments: dict[str, Any]) -> ToolResult:
    raise RuntimeError("boom")


def agent_of(scripts: Sequence[Sequence[Script]]) -> tuple[AgentRun, list[Played]]:
    providers = [
        Played(*played, name=f"p{number}", vendor=f"v{number}") for number, played in enumerate(scripts)
    ]
    tools = [Doing("slow", slow), Doing("fails", fails), Doing("raises", raises)]
    return run_of(spec_of(*providers, tools=tools, max_rounds=6)), providers


CHAINS = st.lists(st.lists(turns(), min_size=1, max_size=6), min_size=1, max_size=3)


async def follow(agent: AgentRun, order: Order) -> AgentError | None:
    try:
        async with aclosing(agent.events()) as events:
            async for batch in events:
                assert batch
                order.follow(batch)
    except AgentError as error:
        return error
    return None


@given(CHAINS)
@settings(max_examples=60)
def test_any_run_keeps_the_order_and_ends_once(scripts: list[list[Script]]) -> None:
    async def check() -> None:
        agent, providers = agent_of(scripts)
        order = Order()

        error = await follow(agent, order)

        assert (order.phase is Phase.FINISHED) is (error is None)
        left = agent.settle_open_calls(ToolStatus.ERROR)
        assert [end.id for end in left] == order.open
        assert all(end.status is ToolStatus.ERROR for end in left)
        assert [record.id for record in agent.tool_calls] == order.ids
        assert agent.rounds == order.round or error is not None
        for provider in providers:
            assert provider.closed == len(provider.requests)
            for asked in provider.requests:
                assert_valid(asked, provider.vendor)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(check())


@given(CHAINS, st.integers(0, 40))
@settings(max_examples=60)
def test_any_run_may_be_cancelled_at_any_step(scripts: list[list[Script]], step: int) -> None:
    async def check() -> None:
        agent, providers = agent_of(scripts)
        order = Order()
        task = asyncio.create_task(follow(agent, order))
        for _ in range(step):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

        left = agent.settle_open_calls(ToolStatus.CANCELLED)

        assert sorted(end.id for end in left) == sorted(order.open)
        assert agent.settle_open_calls(ToolStatus.CANCELLED) == []
        assert all(provider.closed == len(provider.requests) for provider in providers)
        assert agent.usage is not None
        assert len(asyncio.all_tasks()) == 1
        if not task.cancelled():
            assert task.exception() is None

    asyncio.run(check())


def assert_valid(request: ModelRequest, vendor: str) -> None:
    """Each call has its one result, at once and in order; ids are unique; opaque parts are the vendor's."""
    waiting: list[str] = []
    seen: set[str] = set()
    for message in request.messages:
        match message:
            case AssistantMessage(calls=calls, replay=replay):
                assert not waiting
                waiting = [call.id for call in calls]
                assert seen.isdisjoint(waiting)
                assert len(set(waiting)) == len(waiting)
                seen.update(waiting)
                assert not replay or message.vendor == vendor
            case ToolMessage(call_id=identity):
                assert identity == waiting.pop(0)
            case _:
                assert not waiting
    assert not waiting


@pytest.mark.parametrize(
    "events",
    [
        [TextDelta("a"), AgentFinished("a", 1, "end_turn", Usage(), 0.0)],  # type: ignore[arg-type]
        [ThinkingDelta("")],
    ],
)
def test_the_reader_of_the_order_does_object(events: list[AgentEvent]) -> None:
    with pytest.raises(AssertionError):
        Order().follow(events)
