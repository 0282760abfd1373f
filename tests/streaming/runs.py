"""Runs in few words, for tests of whoever reads them: `told(view(agent()), said("agent_1", text("Hi")))`."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from streaming.agent_events_v1 import Audience, Encoder, View
from streaming.codes import RunCode
from streaming.events import (
    AgentEvent,
    BlockCompleted,
    BlockFailed,
    BlockStarted,
    BlockStreamed,
    RunEnded,
    RunEvent,
    RunStatus,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
    TurnEnd,
    TurnEnded,
)
from streaming.selection import Selected

Message = dict[str, Any]

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FINAL = TurnEnded(TurnEnd.FINAL)
INTERMEDIATE = TurnEnded(TurnEnd.INTERMEDIATE)
ABANDONED = TurnEnded(TurnEnd.ABANDONED)

CANCELLING = {RunCode.RUN_CANCELLED, RunCode.RUN_INTERRUPTED}


# --- What one client sees -----------------------------------------------------------------------------------


def agent(block_id: str = "agent_1", path: str = "content", *, live: bool = True) -> Selected:
    return Selected(block_id, path, agent=True, live=live)


def block(block_id: str, path: str) -> Selected:
    return Selected(block_id, path, agent=False, live=False)


def view(
    *selected: Selected,
    audience: Audience = Audience.CHAT,
    negotiated: bool = True,
    thinking: bool = True,
    tool_calls: bool = True,
    default: Sequence[Selected] = (),
) -> View:
    return View(audience, negotiated, thinking, tool_calls, selected, tuple(default))


def told(seen: View, *events: RunEvent) -> list[Message]:
    """Return all messages of a run for one client."""
    encoder = Encoder(seen)
    return [message for event in events for message in encoder.encode(event)]


# --- What an agent block says -------------------------------------------------------------------------------


def text(*deltas: str) -> list[AgentEvent]:
    return [TextDelta(delta) for delta in deltas]


def thinking(*deltas: str) -> list[AgentEvent]:
    return [ThinkingDelta(delta) for delta in deltas]


def call(
    number: int, name: str = "lookup", *, declared: bool = True, arguments: str = '{"q":"ELM-5"}'
) -> list[AgentEvent]:
    """A call as it is announced; `number` is that of its id."""
    call_id = f"call_{number}"
    return [
        ToolCallStarted(0, call_id, name, declared),
        ToolCallDelta(0, call_id, arguments),
        ToolCallReady(0, call_id, name, arguments),
    ]


def settled(
    number: int,
    name: str = "lookup",
    status: ToolStatus = ToolStatus.SUCCESS,
    *,
    declared: bool = True,
    output: str = "MAPLE-31",
) -> AgentEvent:
    return ToolSettled(f"call_{number}", name, declared, status, output, 12)


def said(block_id: str, *events: AgentEvent | Iterable[AgentEvent]) -> BlockStreamed:
    """One batch; lists in it are flattened."""
    flat: list[AgentEvent] = []
    for event in events:
        if isinstance(event, Iterable):
            flat += event
        else:
            flat.append(event)
    return BlockStreamed(block_id, flat)


# --- What a run says ----------------------------------------------------------------------------------------


def tool_call(number: int, name: str = "lookup", status: str = "success") -> dict[str, Any]:
    """One entry of `toolCalls.list` in an agent block's output."""
    return {
        "id": f"call_{number}",
        "name": name,
        "status": status,
        "startTime": "2026-01-02T03:04:05.000Z",
        "endTime": "2026-01-02T03:04:05.012Z",
        "durationMs": 12,
        "arguments": {"q": "ELM-5"},
        "result": "MAPLE-31",
    }


def agent_output(content: str, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """An agent block's whole output; `fields` are those of a structured answer."""
    segment = {
        "type": "model",
        "name": "local/llama-3",
        "startTime": "2026-01-02T03:04:05.000Z",
        "endTime": "2026-01-02T03:04:06.000Z",
        "duration": 1000,
        "thinking": "LARCH-2",
    }
    return {
        "content": content,
        "model": "local/llama-3",
        "tokens": {"input": 10, "output": 5, "total": 15},
        "cost": 0.25,
        "toolCalls": {"list": list(calls), "count": len(calls)},
        "providerTiming": {
            "startTime": "2026-01-02T03:04:05.000Z",
            "endTime": "2026-01-02T03:04:06.000Z",
            "duration": 1000,
            "timeSegments": [segment],
        },
        **fields,
    }


def started(block_id: str, kind: str = "agent") -> BlockStarted:
    return BlockStarted(block_id, block_id.title(), kind, 1, AT)


def completed(block_id: str, output: dict[str, Any], kind: str = "agent") -> BlockCompleted:
    return BlockCompleted(block_id, block_id.title(), kind, 1, {"prompt": "CEDAR-12"}, output, AT, AT)


def failed(
    block_id: str, code: RunCode = RunCode.PROVIDER_STREAM_BROKEN, detail: str = "BIRCH-7"
) -> BlockFailed:
    return BlockFailed(block_id, block_id.title(), "agent", 1, {"prompt": "CEDAR-12"}, code, detail, AT, AT)


def succeeded(outputs: dict[str, dict[str, Any]], *terminal: str) -> RunEnded:
    return RunEnded("run_1", RunStatus.COMPLETED, True, None, "", outputs, terminal or tuple(outputs), 1000)


def broke(
    code: RunCode, outputs: dict[str, dict[str, Any]] | None = None, detail: str = "BIRCH-7"
) -> RunEnded:
    status = RunStatus.CANCELLED if code in CANCELLING else RunStatus.FAILED
    return RunEnded("run_1", status, False, code, detail, outputs or {}, tuple(outputs or {}), 1000)
