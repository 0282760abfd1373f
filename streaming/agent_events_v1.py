"""Run events as messages of agent-events-v1, for the public chat and the workflow API. Pure.

A message is a dict with its keys in wire order; `sse` makes frames of it. (To be completed: see docs.)
"""

from enum import StrEnum

import msgspec

HEADER = "X-Studio-Stream-Protocol"
PROTOCOL = "agent-events-v1"


class Audience(StrEnum):
    """Who reads: decides what a final frame and an error may hold (section 5)."""

    CHAT = "chat"
    API = "api"


class Selected(msgspec.Struct, frozen=True):
    """One selected output. `agent`: the block is an agent block; `live`: its `content` streams (no structured answer)."""

    block_id: str
    path: str
    agent: bool
    live: bool


class View(msgspec.Struct, frozen=True):
    """What one client may see: policies as admitted, and whether it negotiated the protocol.

    `selected` empty on the API: the run's terminal blocks make the final frame.
    """

    audience: Audience
    negotiated: bool
    thinking: bool
    tool_calls: bool
    selected: tuple[Selected, ...]


def negotiated(header: str | None) -> bool:
    """Whether the value of HEADER asks for this protocol (section 1)."""
    return PROTOCOL in {part.strip().lower() for part in (header or "").split(",")}
