"""Frames as a test expects them, and the run that most tests are about."""

from typing import Any

from streaming.events import RunEvent, ToolStatus
from tests.streaming.runs import (
    FINAL,
    INTERMEDIATE,
    agent_output,
    call,
    completed,
    said,
    settled,
    started,
    succeeded,
    text,
    thinking,
    tool_call,
)

#: A tool turn with a preamble, then the answer.
TOOL_RUN: tuple[RunEvent, ...] = (
    started("agent_1"),
    said("agent_1", thinking("Hm. ")),
    said("agent_1", text("Let me ", "look."), call(1)),
    said("agent_1", INTERMEDIATE),
    said("agent_1", settled(1)),
    said("agent_1", text("It is ")),
    said("agent_1", text("42."), FINAL),
    completed("agent_1", agent_output("It is 42.", tool_call(1))),
    succeeded({"agent_1": agent_output("It is 42.", tool_call(1))}),
)

#: A model makes a name up, beside a call that exists.
UNKNOWN_TOOL_TURN: tuple[RunEvent, ...] = (
    said("agent_1", call(1, "MAPLE", declared=False), call(2), INTERMEDIATE),
    said("agent_1", settled(1, "MAPLE", ToolStatus.ERROR, declared=False), settled(2)),
)


def chunk(content: str, block_id: str = "agent_1") -> dict[str, Any]:
    return {"blockId": block_id, "chunk": content}


def reset(block_id: str = "agent_1") -> dict[str, Any]:
    return {"blockId": block_id, "event": "chunk_reset"}


def start(number: int, name: str = "lookup", block_id: str = "agent_1") -> dict[str, Any]:
    return {"blockId": block_id, "event": "tool", "phase": "start", "id": f"call_{number}", "name": name}


def end(
    number: int, name: str = "lookup", status: str = "success", block_id: str = "agent_1"
) -> dict[str, Any]:
    return {**start(number, name, block_id), "phase": "end", "status": status}
