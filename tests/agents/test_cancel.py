"""Cancelling a run, at whatever moment: everything stops, facts stay, each open call gets its one end."""

import asyncio
import logging
from contextlib import aclosing, suppress
from typing import Any

import pytest

from agents.loop import AgentRun
from agents.records import CUT_SHORT
from agents.tools.base import ToolResult
from streaming.events import TextDelta, ToolCallStarted, ToolSettled, ToolStatus
from tests.agents.doubles import Doing, Played, answer, call, calling, ended, heard, run, saying


class Waiting:
    """A tool that waits for ever, and says when it began and when it was stopped."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.stopped = False
        self.tool = Doing("wait", self._wait)

    async def _wait(self, arguments: dict[str, Any]) -> ToolResult:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        raise AssertionError("never")


async def cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_closes_the_providers_stream() -> None:
    said: list[Any] = []
    provider = Played([[TextDelta("So")], asyncio.Event()])
    task = asyncio.create_task(_collect(run(provider), said))
    await asyncio.sleep(0)
    assert said == [TextDelta("So")]

    await cancel(task)

    assert provider.closed == 1


async def test_closing_closes_the_providers_stream() -> None:
    provider = Played([[TextDelta("So")], [TextDelta("on")]])

    async with aclosing(run(provider).events()) as batches:
        await anext(batches)

    assert provider.closed == 1


async def test_cancelling_stops_the_tools_and_settles_them() -> None:
    waiting, provider = Waiting(), Played(calling(call(0, "wait"), call(1, "wait")))
    agent = run(provider, tools=[waiting.tool])
    task = asyncio.create_task(heard(agent))
    await waiting.began.wait()

    await cancel(task)

    assert waiting.stopped
    settled = agent.settle_open_calls(ToolStatus.CANCELLED)
    assert [(event.id, event.status) for event in settled] == [
        ("call_1", ToolStatus.CANCELLED),
        ("call_2", ToolStatus.CANCELLED),
    ]
    assert agent.settle_open_calls(ToolStatus.CANCELLED) == []
    assert len(asyncio.all_tasks()) == 1


async def test_closing_between_two_ends_stops_the_other_tool() -> None:
    waiting = Waiting()
    agent = run(
        Played(calling(call(0, "wait"), call(1, "note"))), tools=[waiting.tool, saying("note", "noted")]
    )

    async with aclosing(agent.events()) as batches:
        async for batch in batches:
            if any(isinstance(event, ToolSettled) for event in batch):
                break

    assert waiting.stopped
    assert [event.id for event in agent.settle_open_calls(ToolStatus.CANCELLED)] == ["call_1"]


async def test_a_result_that_came_too_late_to_be_told_keeps_its_status() -> None:
    done = asyncio.Event()

    async def finish(arguments: dict[str, Any]) -> ToolResult:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return ToolResult("done all the same")
        raise AssertionError("never")

    async def begin(arguments: dict[str, Any]) -> ToolResult:
        done.set()
        return await finish(arguments)

    agent = run(Played(calling(call(0, "late"))), tools=[Doing("late", begin)])
    task = asyncio.create_task(heard(agent))
    await done.wait()

    await cancel(task)

    (settled,) = agent.settle_open_calls(ToolStatus.CANCELLED)
    assert (settled.status, settled.output) == (ToolStatus.SUCCESS, "done all the same")


async def test_a_tool_that_will_not_stop_is_left_after_a_while(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("agents.tool_turn.STOP_SECONDS", 0.01)
    began, release = asyncio.Event(), asyncio.Event()

    async def stubborn(arguments: dict[str, Any]) -> ToolResult:
        began.set()
        while not release.is_set():
            with suppress(asyncio.CancelledError):
                await release.wait()
        return ToolResult("at last")

    agent = run(Played(calling(call(0, "stubborn"))), tools=[Doing("stubborn", stubborn)])
    task = asyncio.create_task(heard(agent))
    await began.wait()

    with caplog.at_level(logging.ERROR):
        await cancel(task)

    assert "did not stop" in caplog.text
    assert [event.status for event in agent.settle_open_calls(ToolStatus.CANCELLED)] == [ToolStatus.CANCELLED]
    release.set()
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    assert [(call.status, call.result) for call in agent.tool_calls] == [(ToolStatus.CANCELLED, CUT_SHORT)]


async def test_a_tool_that_is_cancelled_by_its_own_side_is_a_failed_call() -> None:
    async def fall(arguments: dict[str, Any]) -> ToolResult:
        raise asyncio.CancelledError

    agent = run(Played(calling(call(0, "fall")), answer("Without it.")), tools=[Doing("fall", fall)])

    said = await heard(agent)

    assert [event.status for event in said if isinstance(event, ToolSettled)] == [ToolStatus.ERROR]
    assert agent.content == "Without it."


def whole_run() -> tuple[AgentRun, Played]:
    """Text, parallel tools of which one fails, a second tool turn, an answer; everything takes a few turns
    of the event loop."""

    async def slow(arguments: dict[str, Any]) -> ToolResult:
        for _ in range(arguments.get("n", 1)):
            await asyncio.sleep(0)
        return ToolResult("ok", is_error=arguments.get("bad", False))

    provider = Played(
        [
            [TextDelta("Let me")],
            [TextDelta(" see.")],
            call(0, "slow", '{"n":2}'),
            [*call(1, "slow", '{"n":4,"bad":true}'), *call(2, "made_up")],
            [ended()],
        ],
        calling(call(0, "slow", '{"n":3}')),
        answer("So", " it is."),
    )
    return run(provider, tools=[Doing("slow", slow)]), provider


async def steps_of_whole_run() -> int:
    agent, _ = whole_run()
    task, steps = asyncio.create_task(heard(agent)), 0
    while not task.done():
        await asyncio.sleep(0)
        steps += 1
    return steps


async def test_at_any_step_of_the_event_loop_each_announced_call_ends_once() -> None:
    steps = await steps_of_whole_run()
    assert steps > 10
    for step in range(steps):
        agent, provider = whole_run()
        said: list[Any] = []
        task = asyncio.create_task(_collect(agent, said))
        for _ in range(step):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

        assert_settled_once(agent, said)
        assert provider.closed == len(provider.requests)
        assert len(asyncio.all_tasks()) == 1


async def test_after_any_batch_a_closed_run_leaves_nothing_open() -> None:
    agent, _ = whole_run()
    batches = [batch async for batch in agent.events()]
    for taken in range(len(batches) + 1):
        agent, provider = whole_run()
        said: list[Any] = []
        async with aclosing(agent.events()) as events:
            for _ in range(taken):
                said += await anext(events)

        assert_settled_once(agent, said)
        assert provider.closed == len(provider.requests)
        assert len(asyncio.all_tasks()) == 1


async def _collect(agent: AgentRun, said: list[Any]) -> None:
    async with aclosing(agent.events()) as batches:
        async for batch in batches:
            said += batch


def assert_settled_once(agent: AgentRun, said: list[Any]) -> None:
    ends = [event for event in said if isinstance(event, ToolSettled)]
    ends += agent.settle_open_calls(ToolStatus.CANCELLED)
    started = [event.id for event in said if isinstance(event, ToolCallStarted)]
    assert sorted(end.id for end in ends) == sorted(started)
    assert agent.usage.total_tokens is not None or agent.rounds == 0
