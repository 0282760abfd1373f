"""A trace keeps calls, usage, warnings and failures; never answer text; thinking only by policy."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from runs.trace import MAX_TEXT, MAX_THINKING, Entry, Trace
from streaming.codes import RunCode
from streaming.events import (
    AgentEvent,
    AgentFinished,
    BlockCompleted,
    BlockFailed,
    BlockStarted,
    BlockStreamed,
    PromptSize,
    RoundUsage,
    RunEvent,
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

NOW = datetime(2026, 5, 4, tzinfo=UTC)
USAGE = RoundUsage(1, "demo/a", Usage(input_tokens=3), 20, 5, 1, PromptSize(1, 2, 3, 4))
TURN: list[AgentEvent] = [
    ThinkingDelta("I wonder. "),
    ThinkingDelta("Yes."),
    TextDelta("CEDAR-12"),
    ToolCallStarted(0, "call_1", "find", True),
    ToolCallDelta(0, "call_1", '{"id": 1}'),
    ToolCallReady(0, "call_1", "find", '{"id": 1}'),
    USAGE,
    TurnEnded(TurnEnd.INTERMEDIATE),
    ToolSettled("call_1", "find", True, ToolStatus.SUCCESS, "MAPLE-31", 12),
    Warned(WarningKind.TOOL_LOOP_GUARD, {"tool": "find", "count": 7}, "again"),
    TextDelta("Done."),
    TurnEnded(TurnEnd.FINAL),
    AgentFinished("Done.", 2, StopReason.END_TURN, Usage(), None),
]


def fold(events: Sequence[RunEvent], thinking: bool = True) -> list[Entry]:
    trace = Trace(thinking=thinking, clock=lambda: NOW)
    return [entry for event in events for entry in trace.add(event)] + trace.close()


def kinds(entries: Sequence[Entry]) -> list[str]:
    return [entry.kind for entry in entries]


def test_it_keeps_a_tool_turn() -> None:
    entries = fold([BlockStreamed("a", TURN)])

    assert [(entry.seq, entry.block_id, entry.kind, entry.at) for entry in entries] == [
        (1, "a", "tool_call", NOW),
        (2, "a", "round_usage", NOW),
        (3, "a", "thinking", NOW),
        (4, "a", "tool_result", NOW),
        (5, "a", "warning", NOW),
    ]
    assert entries[0].data == {"index": 0, "id": "call_1", "name": "find", "arguments": '{"id": 1}'}
    assert entries[1].data["usage"]["input_tokens"] == 3
    assert entries[2].data == {"text": "I wonder. Yes."}
    assert (entries[3].data["status"], entries[3].data["output"]) == ("success", "MAPLE-31")
    assert entries[4].data["facts"] == {"tool": "find", "count": 7}


def test_it_keeps_no_thinking_without_the_policy() -> None:
    assert "thinking" not in kinds(fold([BlockStreamed("a", TURN)], thinking=False))


def test_it_keeps_blocks_with_their_inputs_and_failures_but_not_their_outputs() -> None:
    entries = fold(
        [
            BlockStarted("a", "First look", "agent", 1, NOW),
            BlockCompleted("a", "First look", "agent", 1, {"prompt": "p"}, {"content": "CEDAR-12"}, NOW, NOW),
            BlockFailed("b", "Next", "http", 2, {}, RunCode.BLOCK_FAILED, "refused", NOW, NOW),
        ]
    )

    assert kinds(entries) == ["block_started", "block_completed", "block_failed"]
    assert entries[0].data == {"name": "First look", "type": "agent", "order": 1}
    assert entries[1].data["input"] == {"prompt": "p"}
    assert "CEDAR-12" not in str(entries)
    assert (entries[2].data["code"], entries[2].data["detail"]) == ("BLOCK_FAILED", "refused")


def test_it_keeps_thinking_that_an_abort_cut_off() -> None:
    entries = fold([BlockStreamed("a", [ThinkingDelta("half"), TextDelta("x")])])

    assert [(entry.kind, entry.data) for entry in entries] == [("thinking", {"text": "half"})]


def test_it_keeps_the_thinking_of_parallel_blocks_apart() -> None:
    entries = fold(
        [
            BlockStreamed("a", [ThinkingDelta("1")]),
            BlockStreamed("b", [ThinkingDelta("2")]),
            BlockStreamed("a", [ThinkingDelta("3"), TurnEnded(TurnEnd.ABANDONED)]),
        ]
    )

    assert [(entry.block_id, entry.data["text"]) for entry in entries] == [("a", "13"), ("b", "2")]


def test_it_bounds_thinking_by_run_and_texts_by_entry() -> None:
    long = "x" * (MAX_TEXT + 7)
    settled = ToolSettled("call_1", "find", True, ToolStatus.SUCCESS, long, 1)
    thoughts: list[AgentEvent] = [ThinkingDelta("y" * 300_000), TurnEnded(TurnEnd.INTERMEDIATE)] * 3

    entries = fold([BlockStreamed("a", [settled, *thoughts])])

    assert entries[0].data["output"] == "x" * MAX_TEXT + "… (7 more characters)"
    assert sum(len(entry.data["text"]) for entry in entries[1:]) == MAX_THINKING


SOME: list[AgentEvent] = [*TURN, TurnEnded(TurnEnd.ABANDONED)]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.sampled_from(SOME))), max_size=8), st.booleans())
def test_it_stores_no_answer_text_and_counts_densely(
    batches: list[tuple[str, list[AgentEvent]]], thinking: bool
) -> None:
    entries = fold([BlockStreamed(block_id, events) for block_id, events in batches], thinking)

    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    stored: Any = [entry.data for entry in entries]
    assert b"CEDAR-12" not in msgspec.json.encode(stored)
    said = [event.text for _, events in batches for event in events if isinstance(event, ThinkingDelta)]
    kept = [entry.data["text"] for entry in entries if entry.kind == "thinking"]
    assert sorted("".join(kept)) == (sorted("".join(said)) if thinking else [])


def test_it_asks_the_clock_for_each_entry() -> None:
    times = iter(NOW + timedelta(seconds=n) for n in range(9))
    trace = Trace(thinking=True, clock=lambda: next(times))

    entries = trace.add(BlockStreamed("a", TURN))

    assert [(entry.at - NOW).seconds for entry in entries] == [0, 1, 2, 3, 4]
