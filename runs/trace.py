"""What of a run's events is kept for its owner (agent-events-v1 section 7): a pure fold, clock passed in.

Rounds with usage, calls with arguments and results, warnings, failures, the begin and end of blocks. Thinking
only if the run's policy had it on, one entry a turn. Answer text is never looked at: it is nowhere if its
turn was intermediate, and in the run's output if it was final.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec import to_builtins

from streaming.events import (
    AgentEvent,
    BlockCompleted,
    BlockFailed,
    BlockStarted,
    BlockStreamed,
    RoundUsage,
    RunEvent,
    ThinkingDelta,
    ToolCallReady,
    ToolSettled,
    TurnEnded,
    Warned,
)

#: A longer text is cut, with a note: a trace is read by people.
MAX_TEXT = 65_536
#: agent-events-v1 section 3.
MAX_THINKING = 524_288

#: The events of agents that are entries as they are, and what their entries are called.
_KINDS: dict[type, str] = {
    ToolCallReady: "tool_call",
    ToolSettled: "tool_result",
    RoundUsage: "round_usage",
    Warned: "warning",
}


@dataclass(frozen=True)
class Entry:
    """A line of the trace. `seq` counts from 1 within the run."""

    seq: int
    block_id: str
    kind: str
    data: dict[str, Any]
    at: datetime


class Trace:
    """Folds the events of one run. `add` returns what is to be stored now, mostly nothing."""

    def __init__(self, *, thinking: bool, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._seq = 0
        self._thoughts: dict[str, list[str]] = {}
        self._thinking_left = MAX_THINKING if thinking else 0

    def add(self, event: RunEvent) -> list[Entry]:
        if type(event) is BlockStreamed:
            return self._streamed(event.block_id, event.events)
        match event:
            case BlockStarted():
                return [self._entry(event.block_id, "block_started", event, leave=("block_id", "at"))]
            case BlockCompleted():
                # Its output is the run's.
                done = self._entry(event.block_id, "block_completed", event, leave=("block_id", "output"))
                return [*self._thought(event.block_id), done]
            case BlockFailed():
                failed = self._entry(event.block_id, "block_failed", event, leave=("block_id",))
                return [*self._thought(event.block_id), failed]
            case _:
                return []

    def close(self) -> list[Entry]:
        """Return what was still being collected when the run ended."""
        return [entry for block_id in list(self._thoughts) for entry in self._thought(block_id)]

    def _streamed(self, block_id: str, events: Sequence[AgentEvent]) -> list[Entry]:
        entries: list[Entry] = []
        for event in events:
            kind = _KINDS.get(type(event))
            if kind is not None:
                entries.append(self._entry(block_id, kind, event))
            elif type(event) is ThinkingDelta:
                self._collect(block_id, event.text)
            elif type(event) is TurnEnded:
                entries += self._thought(block_id)
        return entries

    def _collect(self, block_id: str, text: str) -> None:
        if self._thinking_left:
            kept = text[: self._thinking_left]
            self._thinking_left -= len(kept)
            self._thoughts.setdefault(block_id, []).append(kept)

    def _thought(self, block_id: str) -> list[Entry]:
        deltas = self._thoughts.pop(block_id, None)
        return [] if deltas is None else [self._next(block_id, "thinking", {"text": "".join(deltas)})]

    def _entry(self, block_id: str, kind: str, event: object, leave: Sequence[str] = ()) -> Entry:
        data = to_builtins(event, enc_hook=str)
        return self._next(block_id, kind, {k: v for k, v in data.items() if k != "event" and k not in leave})

    def _next(self, block_id: str, kind: str, data: dict[str, Any]) -> Entry:
        self._seq += 1
        cut = {key: _cut(value) if kind != "thinking" else value for key, value in data.items()}
        return Entry(self._seq, block_id, kind, cut, self._clock())


def _cut(value: Any) -> Any:
    """Return `value` with its longest texts cut."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[:MAX_TEXT]}… ({len(value) - MAX_TEXT} more characters)"
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value
