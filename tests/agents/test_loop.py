"""The loop's own order: turns, tools, rounds, and what ends a run."""

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from agents.conversation import AssistantMessage, ToolCall, ToolMessage, UserMessage
from agents.errors import AgentError
from agents.loop import AgentRun
from agents.providers.base import CallDelta, CallStarted, ReplayPart, ResponseFailed, TurnStop
from agents.tools.base import ToolResult
from streaming.codes import RunCode
from streaming.events import (
    AgentFinished,
    RoundUsage,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
    TurnEnd,
    TurnEnded,
    Usage,
)
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
    run_of,
    saying,
    spec_of,
)


async def failure_of(agent: AgentRun) -> tuple[list[Any], AgentError]:
    """What a run that fails says before it does, and how it fails."""
    said: list[Any] = []
    try:
        async with aclosing(agent.events()) as batches:
            async for batch in batches:
                said += batch
    except AgentError as error:
        return said, error
    pytest.fail("the run did not fail")


async def test_it_answers() -> None:
    agent = run(Played([[ThinkingDelta("hm")], [TextDelta("Hel"), TextDelta("lo")], [ended()]]))

    said = await heard(agent)

    assert [type(event) for event in said] == [
        ThinkingDelta,
        TextDelta,
        TextDelta,
        RoundUsage,
        TurnEnded,
        AgentFinished,
    ]
    assert said[-2] == TurnEnded(TurnEnd.FINAL)
    assert said[-1] == AgentFinished("Hello", 1, StopReason.END_TURN, Usage(10, 5, 15), 20 / 1_000_000)
    assert (agent.content, agent.rounds, agent.model) == ("Hello", 1, "fake/model")


async def test_it_keeps_the_batches_as_they_came() -> None:
    agent = run(Played([[TextDelta("a"), TextDelta("b")], [TextDelta("c")], [TextDelta("d"), ended()]]))

    async with aclosing(agent.events()) as batches:
        said = [[e.text for e in batch if isinstance(e, TextDelta)] async for batch in batches]

    assert said == [["a", "b"], ["c"], ["d"], []]


async def test_it_runs_a_tool_turn_in_order() -> None:
    provider = Played(calling(call(0, "look", '{"q":1}'), text="Let me see. "), answer("Found."))
    agent = run(provider, tools=[saying("look", "it is there")])

    said = await heard(agent)

    assert said[:5] == [
        TextDelta("Let me see. "),
        ToolCallStarted(0, "call_1", "look", True),
        ToolCallDelta(0, "call_1", '{"q":1}'),
        ToolCallReady(0, "call_1", "look", '{"q":1}'),
        said[4],
    ]
    assert isinstance(said[4], RoundUsage)
    assert (said[4].round, said[4].tool_calls) == (1, 1)
    assert said[5] == TurnEnded(TurnEnd.INTERMEDIATE)
    assert isinstance(said[6], ToolSettled)
    assert (said[6].id, said[6].status, said[6].output) == ("call_1", ToolStatus.SUCCESS, "it is there")
    assert said[7] == TextDelta("Found.")
    assert agent.content == "Found."
    assert (agent.rounds, agent.usage) == (2, Usage(20, 10, 30))


async def test_b091_text_before_a_tool_call_is_part_of_the_next_request() -> None:
    provider = Played(calling(call(0, "look"), text="I will check."), answer("Done."))
    agent = run(provider, tools=[saying("look", "yes")])

    await heard(agent)

    assert provider.requests[1].messages == [
        UserMessage("Hi"),
        AssistantMessage("I will check.", (ToolCall("v0", "look", "{}"),), vendor="vendor"),
        ToolMessage("v0", "look", "yes"),
    ]
    assert agent.content == "Done."


async def test_b075_two_calls_of_one_tool_in_one_turn_both_run_and_answer_in_order() -> None:
    release = asyncio.Event()

    async def find(arguments: dict[str, Any]) -> ToolResult:
        if arguments["q"] == "red":
            await release.wait()
        else:
            release.set()
        return ToolResult(f"found {arguments['q']}")

    tool = Doing("find", find)
    provider = Played(
        calling(call(0, "find", '{"q":"red"}'), call(1, "find", '{"q":"blue"}')), answer("Both.")
    )

    await heard(run(provider, tools=[tool]))

    assert sorted(arguments["q"] for arguments in tool.calls) == ["blue", "red"]
    assert [m.text for m in provider.requests[1].messages if isinstance(m, ToolMessage)] == [
        "found red",
        "found blue",
    ]


async def test_b076_repeated_call_ids_are_made_unique() -> None:
    twice = calling(call(0, "note", '{"n":1}', "dup_1"), call(1, "note", '{"n":2}', "dup_1"))
    once = calling(call(0, "note", '{"n":3}', "dup_1"))
    provider, tool = Played(twice, once, answer("Noted.")), saying("note")

    await heard(run(provider, tools=[tool]))

    assert tool.calls == [{"n": 1}, {"n": 2}, {"n": 3}]
    asked, answered = calls_and_results(provider.requests[2].messages)
    assert asked == answered
    assert len(set(asked)) == 3


async def test_it_gives_a_call_without_a_vendor_id_its_own() -> None:
    provider = Played(calling(call(0, "note", identity=""), call(1, "note", identity="")), answer("Noted."))

    await heard(run(provider, tools=[saying("note")]))

    assert calls_and_results(provider.requests[1].messages)[0] == ["call_1", "call_2"]


async def test_it_does_not_repeat_the_id_of_an_earlier_conversation() -> None:
    before = AssistantMessage(calls=[ToolCall("call_1", "note", "{}")])
    provider = Played(calling(call(0, "note", identity="")), answer("Noted."))
    agent = run_of(
        spec_of(provider, tools=[saying("note")]),
        UserMessage("Hi"),
        before,
        ToolMessage("call_1", "note", ""),
    )

    await heard(agent)

    asked, answered = calls_and_results(provider.requests[1].messages)
    assert asked == answered == ["call_1", "call_1_2"]


def calls_and_results(messages: Any) -> tuple[list[str], list[str]]:
    asked = [one.id for m in messages if isinstance(m, AssistantMessage) for one in m.calls]
    return asked, [m.call_id for m in messages if isinstance(m, ToolMessage)]


@pytest.mark.parametrize(
    ("arguments", "means"),
    [("", {}), (" \n", {}), ("{}", {}), ('{"a": 1', None), ("[1]", None), ("nul", None)],
)
async def test_b078_every_call_gets_a_result(arguments: str, means: dict[str, Any] | None) -> None:
    tool = saying("note", "noted")
    provider = Played(calling(call(0, "note", arguments)), answer("Done."))

    await heard(run(provider, tools=[tool]))

    assert tool.calls == ([] if means is None else [means])
    result = provider.requests[1].messages[-1]
    assert isinstance(result, ToolMessage)
    assert result.is_error is (means is None)
    assert ("could not be parsed" in result.text) is (means is None)


async def test_b093_an_unknown_tool_is_an_error_that_names_those_there_are() -> None:
    provider = Played(calling(call(0, "fetch_calendar")), answer("Without it, then."))

    said = await heard(run(provider, tools=[saying("look"), saying("note")]))

    assert ToolCallStarted(0, "call_1", "fetch_calendar", False) in said
    result = provider.requests[1].messages[-1]
    assert isinstance(result, ToolMessage)
    assert "fetch_calendar" in result.text
    assert "look, note" in result.text
    assert isinstance(said[-1], AgentFinished)


async def test_it_tells_the_model_that_there_are_no_tools_at_all() -> None:
    provider = Played(calling(call(0, "magic")), answer("Sorry."))

    await heard(run(provider))

    assert "Available tools: none" in provider.requests[1].messages[-1].text


async def test_it_settles_each_tool_as_it_ends() -> None:
    gates = {"slow": asyncio.Event(), "fast": asyncio.Event()}
    gates["fast"].set()

    async def wait(arguments: dict[str, Any]) -> ToolResult:
        await gates[arguments["which"]].wait()
        return ToolResult(arguments["which"])

    slow, fast = call(0, "wait", '{"which":"slow"}'), call(1, "wait", '{"which":"fast"}')
    agent = run(Played(calling(slow, fast), answer("ok")), tools=[Doing("wait", wait)])
    settled = []
    async with aclosing(agent.events()) as batches:
        async for batch in batches:
            for event in batch:
                if isinstance(event, ToolSettled):
                    settled.append(event.output)
                    gates["slow"].set()

    assert settled == ["fast", "slow"]


async def test_it_fails_when_the_last_round_still_calls_tools() -> None:
    tool = saying("note")
    agent = run(Played(calling(call(0, "note"), text="Wait.")), tools=[tool], max_rounds=2)

    said, error = await failure_of(agent)

    assert error.code is RunCode.MAX_TOOL_ROUNDS
    assert len(tool.calls) == 1
    assert said[-1] == TurnEnded(TurnEnd.INTERMEDIATE)
    assert [event.status for event in agent.settle_open_calls(ToolStatus.ERROR)] == [ToolStatus.ERROR]
    assert agent.settle_open_calls(ToolStatus.ERROR) == []


@pytest.mark.parametrize("stop", list(TurnStop))
async def test_calls_of_a_closed_turn_run_unless_length_or_filter_ended_it(stop: TurnStop) -> None:
    tool = saying("note")
    agent = run(Played(calling(call(0, "note"), text="So.", stop=stop), answer("Done.")), tools=[tool])

    match stop:
        case TurnStop.LENGTH:
            said, error = await failure_of(agent)
            assert error.code is RunCode.OUTPUT_LIMIT
            assert said[-1] == TurnEnded(TurnEnd.INTERMEDIATE)
        case TurnStop.CONTENT_FILTER:
            said = await heard(agent)
            assert agent.stop_reason is StopReason.CONTENT_FILTER
            assert [e.status for e in said if isinstance(e, ToolSettled)] == [ToolStatus.ERROR]
            assert agent.content == "So."
        case _:
            await heard(agent)
            assert agent.content == "Done."
    assert len(tool.calls) == (stop in {TurnStop.STOP, TurnStop.TOOL_CALLS})


@pytest.mark.parametrize(
    ("stop", "text", "outcome"),
    [
        (TurnStop.STOP, "Yes", StopReason.END_TURN),
        (TurnStop.TOOL_CALLS, "Yes", StopReason.END_TURN),
        (TurnStop.LENGTH, "Yes", StopReason.MAX_TOKENS),
        (TurnStop.CONTENT_FILTER, "Yes", StopReason.CONTENT_FILTER),
        (TurnStop.STOP, "", RunCode.EMPTY_ANSWER),
        (TurnStop.STOP, " \n", RunCode.EMPTY_ANSWER),
        (TurnStop.TOOL_CALLS, "", RunCode.EMPTY_ANSWER),
        (TurnStop.LENGTH, "", RunCode.EMPTY_ANSWER),
        (TurnStop.CONTENT_FILTER, "", RunCode.PROVIDER_CONTENT_FILTERED),
    ],
)
async def test_a_turn_without_calls_is_an_answer_if_it_says_anything(
    stop: TurnStop, text: str, outcome: StopReason | RunCode
) -> None:
    agent = run(Played([[ThinkingDelta("hm")], [TextDelta(text)] if text else [], [ended(stop)]]))

    if isinstance(outcome, RunCode):
        _, error = await failure_of(agent)
        assert error.code is outcome
        assert agent.content == ""
    else:
        await heard(agent)
        assert agent.stop_reason is outcome
        assert agent.content == text


@pytest.mark.parametrize("end", [[], [[ended(closed=False)]]])
async def test_an_unclosed_turn_is_broken_and_none_of_its_calls_runs(end: list[Any]) -> None:
    tool = saying("note")
    agent = run(Played([[TextDelta("So")], call(0, "note"), *end]), tools=[tool])

    said, error = await failure_of(agent)

    assert error.code is RunCode.PROVIDER_STREAM_BROKEN
    assert tool.calls == []
    assert not any(isinstance(event, ToolCallReady | TurnEnded) for event in said)
    assert [event.id for event in agent.settle_open_calls(ToolStatus.ERROR)] == ["call_1"]


async def test_an_error_inside_the_stream_ends_the_run_with_its_code() -> None:
    failed = ResponseFailed(RunCode.CONTEXT_WINDOW_EXCEEDED, "too long", Usage(900, 1, 901))
    agent = run(Played([[TextDelta("So"), failed]]))

    _, error = await failure_of(agent)

    assert (error.code, error.detail, error.provider) == (
        RunCode.CONTEXT_WINDOW_EXCEEDED,
        "too long",
        "fake",
    )
    assert agent.usage == Usage(900, 1, 901)


async def test_a_fault_of_our_own_is_an_agent_error_too() -> None:
    broken = Played([[CallDelta(3, "x")]])

    _, error = await failure_of(run(broken))

    assert error.code is RunCode.AGENT_RUN_FAILED
    assert "IndexError" in error.detail
    assert broken.closed == 1


async def test_nothing_counts_after_the_end_of_a_response() -> None:
    agent = run(Played([[TextDelta("Yes"), ended(), TextDelta("No")], [TextDelta("No")]]))

    await heard(agent)

    assert agent.content == "Yes"


async def test_opaque_parts_go_back_with_the_turn() -> None:
    part = ReplayPart({"type": "reasoning", "encrypted": "x"})
    provider = Played([[part], call(0, "note"), [ended()]], answer("Done."))

    await heard(run(provider, tools=[saying("note")]))

    turn = provider.requests[1].messages[1]
    assert isinstance(turn, AssistantMessage)
    assert (list(turn.replay), turn.vendor) == ([part.data], "vendor")


async def test_the_request_says_what_the_spec_says() -> None:
    provider = Played(answer("Hi"))
    tool = saying("note")

    await heard(run(provider, tools=[tool]))

    request = provider.requests[0]
    assert (request.model, request.instructions, list(request.tools)) == ("model", "Help.", [tool.spec])


async def test_a_round_states_the_size_of_its_prompt() -> None:
    provider = Played(calling(call(0, "note", '{"n":1}')), answer("Done."))
    tool = saying("note", "noted")

    said = await heard(run(provider, tools=[tool]))

    first, second = [event.prompt for event in said if isinstance(event, RoundUsage)]
    assert (first.system_chars, first.history_chars, first.message_count) == (5, 2, 1)
    assert second.history_chars == 2 + len('note{"n":1}') + len("noted")
    assert second.message_count == 3
    assert first.tools_chars >= len(json.dumps(tool.spec.parameters))


async def test_a_call_keeps_index_and_fragments_while_calls_interleave() -> None:
    script: Script = [
        [CallStarted(0, "a", "note"), CallDelta(0, '{"n"'), CallStarted(1, "b", "note")],
        [CallDelta(1, '{"n":2'), CallDelta(0, ":1}"), CallDelta(1, "}"), ended()],
    ]
    tool = saying("note")

    await heard(run(Played(script, answer("ok")), tools=[tool]))

    assert tool.calls == [{"n": 1}, {"n": 2}]
