"""What can be read of a run at any time: usage, cost, records, timing."""

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from agents.conversation import UserMessage
from agents.loop import AgentRun
from agents.providers.base import ResponseEnded, TurnStop
from agents.records import ToolRecord
from agents.spec import AgentSpec, ModelChoice, Price
from agents.spending import Spent, completed
from agents.timeline import Timeline
from agents.tools.base import ToolResult
from streaming.events import RoundUsage, TextDelta, ToolSettled, ToolStatus, Usage
from tests.agents.doubles import (
    Doing,
    Played,
    Script,
    answer,
    call,
    calling,
    ended,
    heard,
    run,
    saying,
    spec_of,
)

UNKNOWN = Usage()


async def test_usage_sums_all_rounds() -> None:
    first: Script = [call(0, "note"), [ended(usage=Usage(10, 5, 15, 4, 2))]]
    second: Script = [[TextDelta("ok"), ended(usage=Usage(20, 6, 26, None, 1))]]
    agent = run(Played(first, second), tools=[saying("note")])

    await heard(agent)

    assert agent.usage == Usage(30, 11, 41, 4, 3)


async def test_a_round_says_what_was_stated_and_the_total_estimates_the_rest() -> None:
    agent = run(Played([[TextDelta("12345678"), ended(usage=UNKNOWN)]]))

    said = await heard(agent)

    assert [event.usage for event in said if isinstance(event, RoundUsage)] == [UNKNOWN]
    assert agent.usage == Usage(2, 2, 4, estimated=True)


async def test_b067_usage_is_estimated_when_the_stream_is_cut() -> None:
    hold = asyncio.Event()
    agent = run(Played([[TextDelta("word " * 20)], hold]))

    async with aclosing(agent.events()) as batches:
        await anext(batches)
        live = agent.usage

    assert agent.usage == live == Usage(2, 25, 27, estimated=True)
    assert agent.cost == pytest.approx((2 * 1.0 + 25 * 2.0) / 1e6)
    assert (agent.rounds, agent.stop_reason, agent.content) == (1, None, "")
    assert [segment["type"] for segment in agent.provider_timing["timeSegments"]] == ["model"]


async def test_nothing_is_used_before_it_starts() -> None:
    agent = run(Played(answer("Hi")))

    assert (agent.usage, agent.cost, agent.rounds, agent.model) == (Usage(), 0.0, 0, "fake/model")
    assert agent.settle_open_calls(ToolStatus.CANCELLED) == []


async def test_cost_is_unknown_once_a_price_is() -> None:
    priced = ModelChoice(Played(calling(call(0, "note"))), "a", Price(1, 1))
    agent = AgentRun(AgentSpec(models=[priced]), [UserMessage("Hi")], next_call_id=lambda: "call_1")
    assert agent.cost == 0.0
    unpriced = AgentSpec(models=[ModelChoice(Played(answer("Hi")), "a")])
    agent = AgentRun(unpriced, [UserMessage("Hi")], next_call_id=lambda: "call_1")

    await heard(agent)

    assert agent.cost is None
    assert agent.usage.total_tokens == 15


@pytest.mark.parametrize(
    ("price", "usage", "dollars"),
    [
        (Price(2.0, 10.0), Usage(1_000_000, 500_000), 7.0),
        (Price(2.0, 10.0, 0.5), Usage(1_000_000, 0, None, 400_000), 1.4),
        (Price(2.0, 10.0), Usage(1_000_000, 0, None, 400_000), 2.0),
        (Price(2.0, 10.0, 0.5), Usage(100, 0, None, 900), 100 * 0.5 / 1e6),
        (Price(0, 0), Usage(5, 5), 0.0),
        (None, Usage(5, 5), None),
    ],
)
def test_a_price_is_dollars_per_million_tokens(
    price: Price | None, usage: Usage, dollars: float | None
) -> None:
    cost = Spent().plus(price, usage).cost

    assert cost == (None if dollars is None else pytest.approx(dollars))


def test_an_unknown_cost_stays_unknown() -> None:
    assert Spent().plus(None, Usage(1, 1)).plus(Price(1, 1), Usage(1, 1)).cost is None


@pytest.mark.parametrize(
    ("stated", "whole"),
    [
        (Usage(10, 5), Usage(10, 5, 15)),
        (Usage(10, 5, 99), Usage(10, 5, 99)),
        (Usage(), Usage(3, 2, 5, estimated=True)),
        (Usage(10), Usage(10, 2, 12, estimated=True)),
        (Usage(None, 7, None, None, 3), Usage(3, 7, 10, None, 3, estimated=True)),
    ],
)
def test_only_what_is_missing_is_estimated(stated: Usage, whole: Usage) -> None:
    assert completed(stated, sent=9, received=5) == whole


async def test_the_model_is_the_one_that_answered() -> None:
    end = ResponseEnded(True, TurnStop.STOP, UNKNOWN, model="model-2026-01-01")
    agent = run(Played([[TextDelta("Hi"), end]]))

    said = await heard(agent)

    assert agent.model == "fake/model-2026-01-01"
    assert [event.model for event in said if isinstance(event, RoundUsage)] == ["fake/model-2026-01-01"]


async def test_it_times_models_and_tools() -> None:
    ticks = count()
    timeline = Timeline(lambda: float(next(ticks)), lambda: datetime(2026, 12, 1, 12, tzinfo=UTC))
    spec = spec_of(Played(calling(call(0, "note"), call(1, "made_up")), answer("ok")), tools=[saying("note")])
    agent = AgentRun(spec, [UserMessage("Hi")], next_call_id=lambda: "call_1", timeline=timeline)

    said = await heard(agent)

    timing = agent.provider_timing
    assert timing["startTime"] == "2026-12-01T12:00:00.000Z"
    assert timing["duration"] > 0
    assert agent.provider_timing == timing
    segments = timing["timeSegments"]
    assert [(segment["type"], segment["name"]) for segment in segments] == [
        ("model", "fake/model"),
        ("tool", "note"),
        ("model", "fake/model"),
    ]
    for segment in segments:
        assert timing["startTime"] < segment["startTime"] < segment["endTime"] < timing["endTime"]
        assert set(segment) == {"type", "name", "startTime", "endTime", "duration"}
    usage = [event for event in said if isinstance(event, RoundUsage)]
    assert all(0 < (event.first_token_ms or 0) < event.latency_ms for event in usage)


def shown(record: ToolRecord) -> tuple[Any, ...]:
    return record.id, record.name, record.status, record.arguments, record.result


async def test_it_keeps_a_record_of_each_call() -> None:
    script = calling(call(0, "note", '{"n":1}'), call(1, "bad"), call(2, "made_up", ""))
    agent = run(
        Played(script, answer("ok")), tools=[saying("note"), saying("bad", "HTTP 500", is_error=True)]
    )

    said = await heard(agent)

    settled = {event.id: event for event in said if isinstance(event, ToolSettled)}
    assert [shown(record) for record in agent.tool_calls] == [
        ("call_1", "note", ToolStatus.SUCCESS, '{"n":1}', "done"),
        ("call_2", "bad", ToolStatus.ERROR, "{}", "HTTP 500"),
        ("call_3", "made_up", ToolStatus.ERROR, "", settled["call_3"].output),
    ]
    for record in agent.tool_calls:
        assert record.started is not None
        assert record.ended is not None
        assert record.ended >= record.started
        assert settled[record.id].duration_ms == record.duration_ms


async def test_a_running_tool_shows_its_beginning() -> None:
    started, hold = asyncio.Event(), asyncio.Event()

    async def wait(arguments: dict[str, Any]) -> ToolResult:
        started.set()
        await hold.wait()
        return ToolResult("ok")

    agent = run(Played(calling(call(0, "wait")), answer("ok")), tools=[Doing("wait", wait)])
    task = asyncio.create_task(heard(agent))
    await started.wait()

    (record,) = agent.tool_calls

    assert (record.status, record.ended) == (None, None)
    assert record.started is not None
    hold.set()
    await task
