"""Models that insist: the guards seen through the loop."""

import pytest

from agents.conversation import ToolMessage
from agents.errors import AgentError
from agents.guards import REPETITION_TEXT, SUSPENSION_TEXT
from agents.tools.call import MAX_TURN_RESULTS
from streaming.codes import RunCode
from streaming.events import (
    AgentFinished,
    StopReason,
    ToolSettled,
    ToolStatus,
    Usage,
    Warned,
    WarningKind,
)
from tests.agents.doubles import Played, answer, call, calling, heard, run, saying


async def test_b095_a_call_that_changes_nothing_runs_six_times_and_then_the_model_answers() -> None:
    again = calling(call(0, "send_note", '{"text":"hi"}'))
    provider = Played(*[again] * 9, answer("I could not get further."))
    tool = saying("send_note", "sent")

    said = await heard(run(provider, tools=[tool]))

    assert len(tool.calls) == 6
    warnings = [event for event in said if isinstance(event, Warned)]
    assert [(w.kind, w.facts) for w in warnings] == [
        (WarningKind.TOOL_LOOP_GUARD, {"tool": "send_note", "count": count}) for count in (7, 8, 9)
    ]
    refused = [event for event in said if isinstance(event, ToolSettled)][6:]
    assert [(r.status, r.output, r.duration_ms) for r in refused] == [
        (ToolStatus.ERROR, REPETITION_TEXT, 0)
    ] * 3
    assert isinstance(said[-1], AgentFinished)


async def test_b095_a_model_that_never_stops_meets_the_last_round() -> None:
    tool = saying("send_note", "sent")
    agent = run(Played(calling(call(0, "send_note"))), tools=[tool], max_rounds=20)

    with pytest.raises(AgentError) as caught:
        await heard(agent)

    assert caught.value.code is RunCode.MAX_TOOL_ROUNDS
    assert (len(tool.calls), agent.rounds) == (6, 20)


async def test_a_warning_comes_right_before_the_end_of_its_call() -> None:
    again = calling(call(0, "note"))
    said = await heard(run(Played(*[again] * 7, answer("ok")), tools=[saying("note")]))

    (at,) = [number for number, event in enumerate(said) if isinstance(event, Warned)]
    following = said[at + 1]
    assert isinstance(following, ToolSettled)
    assert following.id == "call_7"


async def test_b093_a_model_that_insists_on_an_unknown_tool_is_ended_by_the_guards() -> None:
    agent = run(Played(calling(call(0, "fetch_calendar"))), tools=[saying("note")])

    said = await heard(agent)

    assert [event.facts for event in said if isinstance(event, Warned)] == [
        {"tool": "fetch_calendar", "count": 5}
    ]
    outputs = [event.output for event in said if isinstance(event, ToolSettled)]
    assert len(outputs) == 15
    assert "Available tools: note" in outputs[4]
    assert outputs[5:] == [SUSPENSION_TEXT] * 10
    assert said[-1] == AgentFinished("", 15, StopReason.TOOL_FAILURE_LIMIT, Usage(150, 75, 225), agent.cost)
    assert agent.content == ""


async def test_parallel_failures_end_the_run_after_all_have_settled() -> None:
    agent = run(
        Played(calling(*[call(number, f"bad{number}") for number in range(16)])),
        tools=[saying(f"bad{number}", "HTTP 500", is_error=True) for number in range(16)],
    )

    said = await heard(agent)

    assert sum(isinstance(event, ToolSettled) for event in said) == 16
    assert agent.stop_reason is StopReason.TOOL_FAILURE_LIMIT


async def test_b103_many_large_results_share_what_a_turn_may_bring() -> None:
    provider = Played(calling(*[call(n, "read", f'{{"n":{n}}}') for n in range(50)]), answer("Read."))
    agent = run(provider, tools=[saying("read", "x" * 200_000)])

    await heard(agent)

    results = [message.text for message in provider.requests[1].messages if isinstance(message, ToolMessage)]
    assert len(results) == 50
    assert all(text.endswith("[cut: 190000 more characters]") for text in results)
    assert sum(map(len, results)) < MAX_TURN_RESULTS + 50 * 50
    assert agent.content == "Read."
