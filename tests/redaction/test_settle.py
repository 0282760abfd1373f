"""Settled mode: a turn at a time, masked, the same for every way of cutting the stream."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redaction.engine import RedactionFailed
from redaction.settle import SettledTurns
from streaming.events import (
    AgentEvent,
    AgentFinished,
    PromptSize,
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
    Warned,
    WarningKind,
)
from tests.redaction.values import masker, unhurried

MAIL = "demo.user@example.org"
CARD = "4000 0012 3456 7899"
ARGUMENTS = f'{{"to": "{MAIL}"}}'


def usage(number: int) -> RoundUsage:
    return RoundUsage(number, "demo/x", Usage(), 1, None, 1, PromptSize(0, 0, 0, 0))


def finished(content: str) -> AgentFinished:
    return AgentFinished(content, 2, StopReason.END_TURN, Usage(), None)


def settled(call: str, output: str, status: ToolStatus = ToolStatus.SUCCESS) -> ToolSettled:
    return ToolSettled(call, "lookup", True, status, output, 3)


RUN: list[AgentEvent] = [
    ThinkingDelta(f"They wrote from {MAIL}. "),
    ThinkingDelta("Look it up."),
    TextDelta(f"One moment, {CARD}…"),
    ToolCallStarted(0, "call_1", "lookup", True),
    ToolCallDelta(0, "call_1", ARGUMENTS),
    ToolCallReady(0, "call_1", "lookup", ARGUMENTS),
    ToolCallStarted(1, "call_2", f"ask {MAIL}", False),
    ToolCallReady(1, "call_2", "lookup", ""),
    usage(1),
    TurnEnded(TurnEnd.INTERMEDIATE),
    settled("call_1", f'{{"card": 4111111111111111, "mail": "{MAIL}"}}'),
    Warned(WarningKind.TOOL_LOOP_GUARD, {"tool": "lookup", "count": 7, "last": MAIL}, f"Said {MAIL} again."),
    ThinkingDelta("Done."),
    TextDelta(f"It is {CARD}."),
    usage(2),
    TurnEnded(TurnEnd.FINAL),
    finished(f"It is {CARD}."),
]

SETTLED: list[AgentEvent] = [
    ThinkingDelta("They wrote from [email]. Look it up."),
    ToolCallStarted(0, "call_1", "lookup", True),
    ToolCallDelta(0, "call_1", '{"to": "[email]"}'),
    ToolCallReady(0, "call_1", "lookup", '{"to": "[email]"}'),
    ToolCallStarted(1, "call_2", "ask [email]", False),
    ToolCallReady(1, "call_2", "lookup", ""),
    usage(1),
    TurnEnded(TurnEnd.INTERMEDIATE),
    settled("call_1", '{"card": "[credit_card]", "mail": "[email]"}'),
    Warned(
        WarningKind.TOOL_LOOP_GUARD, {"tool": "lookup", "count": 7, "last": "[email]"}, "Said [email] again."
    ),
    ThinkingDelta("Done."),
    TextDelta("It is [credit_card]."),
    usage(2),
    TurnEnded(TurnEnd.FINAL),
    finished("It is [credit_card]."),
]


def test_it_settles_a_run() -> None:
    assert SettledTurns(masker()).feed(RUN) == SETTLED


def test_it_says_nothing_of_a_turn_before_its_end() -> None:
    turns = SettledTurns(masker())
    for event in RUN[:9]:
        assert turns.feed([event]) == []
    assert turns.feed([RUN[9]]) == SETTLED[:8]
    assert turns.feed([RUN[10]]) == [SETTLED[8]]


def test_it_says_nothing_for_a_final_turn_without_text() -> None:
    events: list[AgentEvent] = [TurnEnded(TurnEnd.FINAL), finished("")]
    assert SettledTurns(masker()).feed(events) == events


def test_it_drops_the_text_of_an_abandoned_attempt_and_keeps_its_thinking() -> None:
    failed = settled("call_1", "", ToolStatus.ERROR)
    events: list[AgentEvent] = [
        ThinkingDelta(MAIL),
        TextDelta("draft"),
        ToolCallStarted(0, "call_1", "lookup", True),
        failed,
        TurnEnded(TurnEnd.ABANDONED),
        TextDelta("Answer."),
        TurnEnded(TurnEnd.FINAL),
    ]
    assert SettledTurns(masker()).feed(events) == [
        ThinkingDelta("[email]"),
        ToolCallStarted(0, "call_1", "lookup", True),
        failed,
        TurnEnded(TurnEnd.ABANDONED),
        TextDelta("Answer."),
        TurnEnded(TurnEnd.FINAL),
    ]


def test_it_raises_when_a_rule_cannot_run() -> None:
    from redaction.engine import Masker, RuleSpec
    from redaction.fold import Folded, Span

    def failing(text: Folded) -> list[Span]:
        raise ValueError

    turns = SettledTurns(Masker([RuleSpec("email")], [failing]))
    with pytest.raises(RedactionFailed):
        turns.feed(RUN)


texts = st.text(max_size=12) | st.sampled_from([MAIL, CARD, "4000 0012", "3456 7899"])


@st.composite
def turns_of(draw: st.DrawFn) -> list[AgentEvent]:
    """A run of some turns, whole: one delta a kind, which the tests then cut."""
    events: list[AgentEvent] = []
    for number in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from([TurnEnd.INTERMEDIATE, TurnEnd.ABANDONED]))
        call = f"call_{number}"
        arguments = draw(texts)
        events += [ThinkingDelta(text) for text in [draw(texts)] if text]
        events += [TextDelta(text) for text in [draw(texts)] if text]
        events += [ToolCallStarted(0, call, "lookup", True)]
        events += [ToolCallDelta(0, call, arguments)] if arguments else []
        events += [ToolCallReady(0, call, "lookup", arguments), TurnEnded(kind)]
        events += [settled(call, draw(texts))]
    answer = " ".join(draw(st.lists(texts, min_size=1, max_size=4)))
    return [*events, *([TextDelta(answer)] if answer else []), TurnEnded(TurnEnd.FINAL), finished(answer)]


def pieces(event: AgentEvent, data: st.DataObject) -> Sequence[AgentEvent]:
    """Cut a delta anywhere."""
    match event:
        case TextDelta() | ThinkingDelta() if len(event.text) > 1:
            at = data.draw(st.integers(1, len(event.text) - 1))
            return [type(event)(event.text[:at]), *pieces(type(event)(event.text[at:]), data)]
        case ToolCallDelta() if len(event.fragment) > 1:
            at = data.draw(st.integers(1, len(event.fragment) - 1))
            return [
                ToolCallDelta(0, event.id, event.fragment[:at]),
                ToolCallDelta(0, event.id, event.fragment[at:]),
            ]
        case _:
            return [event]


@unhurried
@given(turns_of(), st.data())
def test_it_says_the_same_for_every_way_of_cutting(run: list[AgentEvent], data: st.DataObject) -> None:
    whole = SettledTurns(masker("email", "credit_card")).feed(run)
    turns = SettledTurns(masker("email", "credit_card"))
    cut: list[AgentEvent] = []
    for event in run:
        for piece in pieces(event, data):
            cut += turns.feed([piece])
    assert cut == whole


@unhurried
@given(turns_of())
def test_it_answers_with_exactly_the_final_content(run: list[AgentEvent]) -> None:
    out = SettledTurns(masker("email", "credit_card")).feed(run)
    final = out[-1]
    assert isinstance(final, AgentFinished)
    assert "".join(event.text for event in out if isinstance(event, TextDelta)) == final.content
    for event in out:
        assert MAIL not in repr(event)
        assert CARD not in repr(event)


@unhurried
@given(turns_of())
def test_it_gives_every_announced_call_one_end(run: list[AgentEvent]) -> None:
    out = SettledTurns(masker("email")).feed(run)
    starts = [event.id for event in out if isinstance(event, ToolCallStarted)]
    ends = [event.id for event in out if isinstance(event, ToolSettled)]
    assert starts == ends
