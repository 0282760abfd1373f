"""What a settled run says when asked for again: settled chunks, then the terminal (section 12). Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from streaming.agent_events_v1 import Encoder, Message, View
from streaming.chips import UNKNOWN_TOOL
from streaming.events import (
    AgentEvent,
    BlockCompleted,
    BlockStreamed,
    RunEnded,
    TextDelta,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
    TurnEnd,
    TurnEnded,
)

#: No message holds a time or an order.
_NEVER = datetime.min


def replay(ended: RunEnded, view: View) -> list[Message]:
    """Return the messages for a client that sees the run as `view` says now; tools appear in `final` only."""
    encoder = Encoder(view)
    agents = {selected.block_id for selected in (*view.selected, *view.default) if selected.agent}
    said = []
    for block_id, output in ended.outputs.items():
        events = list(_agent_events(output)) if block_id in agents else []
        said += encoder.encode(BlockStreamed(block_id, events)) if events else []
        kind = "agent" if block_id in agents else ""
        said += encoder.encode(BlockCompleted(block_id, "", kind, 0, None, output, _NEVER, _NEVER))
    said += encoder.encode(ended)
    return [message for message in said if message.get("event") != "tool"]


def _agent_events(output: Mapping[str, Any]) -> Iterator[AgentEvent]:
    """The shortest way in which an agent can have come to its output."""
    calls: Sequence[Mapping[str, Any]] = (output.get("toolCalls") or {}).get("list") or []
    for index, call in enumerate(calls):
        name, declared = str(call["name"]), call["name"] != UNKNOWN_TOOL
        yield ToolCallStarted(index, call["id"], name, declared)
        yield ToolSettled(call["id"], name, declared, ToolStatus(call["status"]), "", 0)
    if calls:
        yield TurnEnded(TurnEnd.INTERMEDIATE)
    if content := output.get("content"):
        yield TextDelta(str(content))
    yield TurnEnded(TurnEnd.FINAL)
