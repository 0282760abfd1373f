"""Fallback models: what is abandoned, what stays, and what a chain that failed says."""

import pytest

from agents.conversation import AssistantMessage
from agents.errors import AgentError, ModelFailure
from agents.providers.base import ReplayPart, ResponseFailed
from streaming.codes import FALLBACK_CODES, RunCode
from streaming.events import (
    AgentFinished,
    RoundUsage,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
    TurnEnd,
    TurnEnded,
    Usage,
    Warned,
    WarningKind,
)
from tests.agents.doubles import (
    USAGE,
    Played,
    answer,
    call,
    calling,
    ended,
    failing,
    heard,
    run,
    saying,
)


@pytest.mark.parametrize("code", list(RunCode))
async def test_only_some_failures_lead_to_the_next_model(code: RunCode) -> None:
    first, second = Played(failing(code), name="first"), Played(answer("Hi"), name="second")
    agent = run(first, second)

    if code in FALLBACK_CODES:
        said = await heard(agent)
        assert isinstance(said[-1], AgentFinished)
        assert agent.model == "second/model"
    else:
        with pytest.raises(AgentError) as caught:
            await heard(agent)
        assert (caught.value.code, caught.value.provider) == (code, "first")
        assert second.requests == []


async def test_an_abandoned_turn_ends_its_chips_and_the_next_model_starts_it_with_new_ids() -> None:
    first = Played(
        failing(RunCode.PROVIDER_OVERLOADED, [ThinkingDelta("hm"), TextDelta("So")], call(0, "note"))
    )
    second = Played(calling(call(0, "note")), answer("Done."), name="second")
    tool = saying("note")
    agent = run(first, second, tools=[tool])

    said = await heard(agent)

    assert said[:7] == [
        ThinkingDelta("hm"),
        TextDelta("So"),
        ToolCallStarted(0, "call_1", "note", True),
        ToolCallDelta(0, "call_1", "{}"),
        said[4],
        TurnEnded(TurnEnd.ABANDONED),
        said[6],
    ]
    assert isinstance(said[4], ToolSettled)
    assert (said[4].id, said[4].status, said[4].duration_ms) == ("call_1", ToolStatus.ERROR, 0)
    assert isinstance(said[6], Warned)
    assert said[6].kind is WarningKind.MODEL_FALLBACK
    assert said[6].facts == {"from": "fake/model", "to": "second/model", "code": "PROVIDER_OVERLOADED"}
    assert said[7] == ToolCallStarted(0, "call_2", "note", True)
    assert len(tool.calls) == 1
    assert [(record.id, record.abandoned) for record in agent.tool_calls] == [
        ("call_1", True),
        ("call_2", False),
    ]


@pytest.mark.parametrize(
    "end", [[ended(closed=False)], [ResponseFailed(RunCode.PROVIDER_STREAM_BROKEN, "cut")], []]
)
async def test_a_stream_that_breaks_falls_back(end: list[ResponseFailed]) -> None:
    agent = run(Played([[TextDelta("So")], end] if end else [[TextDelta("So")]]), Played(answer("Hi")))

    said = await heard(agent)

    assert TurnEnded(TurnEnd.ABANDONED) in said
    assert agent.content == "Hi"


async def test_a_round_counts_once_however_many_models_it_took() -> None:
    agent = run(Played(failing(RunCode.PROVIDER_AUTH, [TextDelta("12345678")])), Played(answer("Hi")))

    said = await heard(agent)

    assert agent.rounds == 1
    assert [event.round for event in said if isinstance(event, RoundUsage)] == [1]
    estimated = Usage(USAGE.input_tokens, USAGE.output_tokens, USAGE.total_tokens)
    assert agent.usage.output_tokens == (estimated.output_tokens or 0) + 2
    assert agent.usage.estimated


async def test_a_model_that_refused_at_once_used_nothing() -> None:
    agent = run(Played(failing(RunCode.PROVIDER_RATE_LIMITED)), Played(answer("Hi")))

    await heard(agent)

    assert agent.usage == USAGE


async def test_when_all_have_failed_the_last_code_stands_and_all_are_named() -> None:
    agent = run(
        Played(failing(RunCode.PROVIDER_AUTH, detail="401"), name="first"),
        Played(failing(RunCode.PROVIDER_UNAVAILABLE, detail="no route"), name="second"),
    )

    with pytest.raises(AgentError) as caught:
        await heard(agent)

    assert (caught.value.code, caught.value.detail) == (RunCode.PROVIDER_UNAVAILABLE, "no route")
    assert caught.value.provider == "second"
    assert caught.value.model_failures == (
        ModelFailure("first/model", RunCode.PROVIDER_AUTH, "401"),
        ModelFailure("second/model", RunCode.PROVIDER_UNAVAILABLE, "no route"),
    )


async def test_a_lone_model_has_no_chain_to_speak_of() -> None:
    with pytest.raises(AgentError) as caught:
        await heard(run(Played(failing(RunCode.PROVIDER_AUTH))))

    assert (caught.value.provider, caught.value.model_failures) == ("fake", ())


async def test_later_rounds_go_on_with_the_model_that_worked() -> None:
    first = Played(failing(RunCode.PROVIDER_OVERLOADED))
    second = Played(calling(call(0, "note")), answer("Done."), name="second")

    await heard(run(first, second, tools=[saying("note")]))

    assert (len(first.requests), len(second.requests)) == (1, 2)


@pytest.mark.parametrize(("vendor", "kept"), [("vendor", True), ("other", False)])
async def test_opaque_parts_go_to_no_other_vendor(vendor: str, kept: bool) -> None:
    part = ReplayPart({"encrypted": "x"})
    first = Played([[part], call(0, "note"), [ended()]], failing(RunCode.PROVIDER_OVERLOADED))
    second = Played(answer("Done."), vendor=vendor)

    await heard(run(first, second, tools=[saying("note")]))

    turn = second.requests[0].messages[1]
    assert isinstance(turn, AssistantMessage)
    assert list(turn.replay) == ([part.data] if kept else [])
    assert [one.name for one in turn.calls] == ["note"]
