"""Runs that are ended: by a failing block, a cancel, a timeout, or a reader that leaves.

Whatever happens and whenever: every announced call has one end, every provider is closed, no task is left,
and exactly one `ExecutionEnded` comes last unless nobody listens any more.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from agents.errors import AgentError
from agents.tools.base import ToolResult
from runs.control import CancelReason, ExecutionEnded, RunControl
from streaming.codes import RunCode
from streaming.events import (
    BlockCompleted,
    BlockFailed,
    BlockStreamed,
    TextDelta,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
)
from tests.agents.doubles import Doing, Played, answer, call, calling, failing
from tests.workflows.doubles import Event, agent, end_of, graph, heard, plan, said_by, with_tools
from workflows import executor
from workflows.executor import execute
from workflows.plan import Plan


@pytest.fixture(autouse=True)
async def no_task_is_left() -> AsyncIterator[None]:
    yield
    current = asyncio.current_task()
    assert [task for task in asyncio.all_tasks() if task is not current] == []


def hanging(name: str = "wait") -> Doing:
    """A tool that never has a result."""

    async def does(arguments: dict[str, Any]) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    return Doing(name, does)


def calls_of(events: list[Event], block: str) -> dict[str, ToolStatus]:
    """How each announced call ended; each must have ended once, after it began."""
    open_calls: set[str] = set()
    ends: dict[str, ToolStatus] = {}
    for event in said_by(events, block):
        if isinstance(event, ToolCallStarted):
            open_calls.add(event.id)
        if isinstance(event, ToolSettled):
            open_calls.remove(event.id)
            ends[event.id] = event.status
    assert not open_calls
    return ends


async def until(
    plan: Plan, reached: Callable[[Event], bool], control: RunControl, reason: CancelReason
) -> list[Event]:
    """Listen, and cancel once `reached`."""
    events: list[Event] = []
    async with aclosing(execute(plan, control)) as stream:
        async for event in stream:
            events.append(event)
            if reached(event):
                control.cancel(reason)
    return events


def starts_call(event: Event) -> bool:
    return isinstance(event, BlockStreamed) and any(isinstance(e, ToolCallStarted) for e in event.events)


def says_text(event: Event) -> bool:
    return isinstance(event, BlockStreamed) and any(isinstance(e, TextDelta) for e in event.events)


def settles_call(event: Event) -> bool:
    return isinstance(event, BlockStreamed) and any(isinstance(e, ToolSettled) for e in event.events)


async def test_it_ends_with_the_failing_blocks_code() -> None:
    provider = Played(failing(RunCode.PROVIDER_RATE_LIMITED, [TextDelta("ha")], detail="429: slow down"))
    events = await heard(plan(graph(agent("a")), {"a": provider}))
    (failed,) = [event for event in events if isinstance(event, BlockFailed)]
    assert (failed.block_id, failed.code, failed.detail) == (
        "a",
        RunCode.PROVIDER_RATE_LIMITED,
        "429: slow down",
    )
    assert failed.input == {"instructions": "", "prompt": "Hi", "remembered": 0}
    end = end_of(events)
    assert (end.code, end.detail) == (RunCode.PROVIDER_RATE_LIMITED, "a: 429: slow down")
    assert (end.answer, set(end.outputs)) == (None, {"start"})
    assert end.rounds == 1
    assert end.usage.estimated


async def test_it_says_what_each_model_of_a_chain_answered() -> None:
    value = graph(agent("a", model="x/m", fallbacks=["y/m"]))
    providers = {
        "x": Played(failing(RunCode.PROVIDER_AUTH, detail="no key"), name="x"),
        "y": Played(failing(RunCode.PROVIDER_UNAVAILABLE, detail="down"), name="y"),
    }
    end = end_of(await heard(plan(value, providers)))
    assert end.code is RunCode.PROVIDER_UNAVAILABLE
    assert end.detail == "a: down; x/m: PROVIDER_AUTH: no key; y/m: PROVIDER_UNAVAILABLE: down"


async def test_it_cancels_the_siblings_of_a_failing_block() -> None:
    called = asyncio.Event()

    class WaitingForCall(Doing):
        async def call(self, arguments: dict[str, Any]) -> ToolResult:
            called.set()
            return await super().call(arguments)

    tool = hanging()
    waiting = WaitingForCall("wait", tool._does)
    failing_turn = [call(0, "wait"), called, *failing(RunCode.PROVIDER_STREAM_BROKEN)]
    value = graph(agent("bad"), agent("good"), agent("quiet"))
    quiet = Played([asyncio.Event()])
    run = with_tools(
        plan(value, {"bad": Played(failing_turn), "good": Played(calling(call(0, "wait"))), "quiet": quiet}),
        {"bad": [waiting], "good": [waiting]},
    )
    events = await heard(run)
    assert list(calls_of(events, "bad").values()) == [ToolStatus.ERROR]
    assert list(calls_of(events, "good").values()) == [ToolStatus.CANCELLED]
    assert quiet.closed == 1
    kinds = [type(event) for event in events]
    failed = kinds.index(BlockFailed)
    assert set(kinds[failed + 1 : -1]) == {BlockStreamed}
    assert not any(isinstance(event, BlockCompleted) and event.type == "agent" for event in events)
    assert end_of(events).code is RunCode.PROVIDER_STREAM_BROKEN


@pytest.mark.parametrize(
    ("reason", "code", "status"),
    [
        (CancelReason.USER, RunCode.RUN_CANCELLED, ToolStatus.CANCELLED),
        (CancelReason.TIMEOUT, RunCode.RUN_TIMEOUT, ToolStatus.ERROR),
        (CancelReason.SHUTDOWN, RunCode.RUN_INTERRUPTED, ToolStatus.CANCELLED),
        (CancelReason.STALLED, RunCode.RUN_CANCELLED, ToolStatus.CANCELLED),
    ],
)
async def test_it_ends_open_calls_when_it_is_cancelled(
    reason: CancelReason, code: RunCode, status: ToolStatus
) -> None:
    provider = Played(calling(call(0, "wait"), call(1, "wait"), text="hm"))
    run = with_tools(plan(graph(agent("a")), {"a": provider}), {"a": [hanging()]})
    control = RunControl()
    events = await until(run, starts_call, control, reason)
    assert set(calls_of(events, "a").values()) == {status}
    end = end_of(events)
    assert (end.code, end.answer) == (code, None)
    assert not any(isinstance(event, BlockFailed) for event in events)
    assert provider.closed == 1
    assert control.facts.rounds == 1


@pytest.mark.parametrize("reached", [says_text, starts_call, settles_call])
async def test_it_stops_wherever_the_run_is(reached: Callable[[Event], bool]) -> None:
    async def does(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult("done")

    never = asyncio.Event()
    provider = Played(calling(call(0, "tool"), text="Let me see."), [never])
    run = with_tools(plan(graph(agent("a")), {"a": provider}), {"a": [Doing("tool", does)]})
    events = await until(run, reached, RunControl(), CancelReason.USER)
    calls_of(events, "a")
    assert end_of(events).code is RunCode.RUN_CANCELLED
    assert end_of(events).detail == "Stopped by its user."
    assert provider.closed == len(provider.requests)


async def test_it_honours_a_stop_that_came_before_the_start() -> None:
    control, provider = RunControl(), Played(answer("x"))
    control.cancel(CancelReason.USER)
    (end,) = await heard(plan(graph(agent("a")), {"a": provider}), control)
    assert isinstance(end, ExecutionEnded)
    assert (end.code, end.cost, end.rounds) == (RunCode.RUN_CANCELLED, 0.0, 0)
    assert provider.requests == []


async def test_it_lets_the_first_reason_win() -> None:
    control, never = RunControl(), asyncio.Event()
    provider = Played([[TextDelta("x")], never])
    events = await until(plan(graph(agent("a")), {"a": provider}), says_text, control, CancelReason.TIMEOUT)
    control.cancel(CancelReason.USER)
    assert end_of(events).code is RunCode.RUN_TIMEOUT


async def test_it_closes_everything_when_its_reader_leaves() -> None:
    never = asyncio.Event()
    providers = {"a": Played([[TextDelta("x")], never]), "b": Played(calling(call(0, "wait")))}
    run = with_tools(plan(graph(agent("a"), agent("b")), providers), {"b": [hanging()]})
    control = RunControl()
    async with aclosing(execute(run, control)) as stream:
        async for event in stream:
            if says_text(event):
                break
    assert all(provider.closed == len(provider.requests) for provider in providers.values())
    assert control.facts.rounds == len([p for p in providers.values() if p.requests])
    assert control.facts.usage.estimated


async def test_it_is_nothing_if_nobody_begins_to_listen() -> None:
    provider = Played(answer("x"))
    await execute(plan(graph(agent("a")), {"a": provider}), RunControl()).aclose()
    assert provider.requests == []


async def test_it_closes_everything_when_its_readers_task_is_cancelled() -> None:
    began, never = asyncio.Event(), asyncio.Event()

    class Noticing(Played):
        def stream(self, request: Any) -> Any:
            began.set()
            return super().stream(request)

    provider = Noticing([never])
    reading = asyncio.create_task(heard(plan(graph(agent("a")), {"a": provider})))
    await began.wait()
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert provider.closed == 1


async def test_it_keeps_a_surprise_inside_its_block() -> None:
    class Surprising(Played):
        def stream(self, request: Any) -> Any:
            raise RuntimeError("boom")

    events = await heard(
        plan(graph(agent("a"), agent("b")), {"a": Surprising(answer("x")), "b": Played([asyncio.Event()])})
    )
    assert end_of(events).code is RunCode.AGENT_RUN_FAILED
    assert "boom" in end_of(events).detail


async def test_it_ends_though_a_block_was_interrupted_by_its_own_side() -> None:
    class SelfCancelling(Played):
        def stream(self, request: Any) -> Any:
            raise asyncio.CancelledError

    events = await heard(plan(graph(agent("a")), {"a": SelfCancelling(answer("x"))}))
    end = end_of(events)
    assert end.code is RunCode.BLOCK_FAILED
    assert "interrupted" in end.detail


async def test_it_does_not_wait_for_ever_for_a_block_that_will_not_stop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(executor, "STOP_SECONDS", 0.01)
    release = asyncio.Event()

    async def stubborn(arguments: dict[str, Any]) -> ToolResult:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return ToolResult("at last")

    provider = Played(calling(call(0, "tool")))
    run = with_tools(plan(graph(agent("a")), {"a": provider}), {"a": [Doing("tool", stubborn)]})
    with caplog.at_level(logging.ERROR, "workflows"):
        events = await until(run, starts_call, RunControl(), CancelReason.TIMEOUT)
    assert list(calls_of(events, "a").values()) == [ToolStatus.ERROR]
    assert end_of(events).code is RunCode.RUN_TIMEOUT
    assert caplog.text.count("Block a did not stop") == 1
    release.set()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})


@pytest.mark.parametrize("answered", ["no json", "[1]", '{"city": 7}', "{}", '{"city": NaN}'])
async def test_it_fails_if_an_answer_is_not_what_its_schema_says(answered: str) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    events = await heard(plan(graph(agent("a", response_schema=schema)), {"a": Played(answer(answered))}))
    end = end_of(events)
    assert end.code is RunCode.BLOCK_FAILED
    assert end.detail.startswith("a: the answer ")
    assert end.usage.total_tokens == 15


@pytest.mark.parametrize(
    ("error", "code", "detail"),
    [
        (AgentError(RunCode.BUDGET_EXCEEDED, "spent"), RunCode.BUDGET_EXCEEDED, "a: spent"),
        (RuntimeError("boom"), RunCode.BLOCK_FAILED, "a: RuntimeError: boom"),
        (TimeoutError(), RunCode.BLOCK_FAILED, "a: TimeoutError: "),
    ],
)
async def test_it_fails_with_what_a_block_raises(error: Exception, code: RunCode, detail: str) -> None:
    class Failing:
        async def run(self, scope: Any) -> Any:
            raise error

    run = plan(graph(agent("a")), {"a": Played(answer("x"))})
    end = end_of(await heard(replace(run, works={**run.works, "a": Failing()})))
    assert (end.code, end.detail) == (code, detail)
