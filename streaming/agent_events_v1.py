"""Run events as messages of agent-events-v1, for the public chat and the workflow API. Pure: no ids or clocks.

A message is a dict with its keys in wire order; `sse` makes frames of it. A client never gets what its View does
not name: outputs are selected, texts of errors come from `codes` on a chat, and tools are names and states.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, assert_never

import msgspec

from streaming import envelope
from streaming.chips import Chips
from streaming.codes import ENDED_BY_RULE, PUBLIC_RUN_SENTENCES, RunCode
from streaming.events import (
    AgentEvent,
    AgentFinished,
    BlockCompleted,
    BlockFailed,
    BlockStarted,
    BlockStreamed,
    RoundUsage,
    RunEnded,
    RunEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
    TurnEnded,
    Warned,
)
from streaming.selection import Selected
from streaming.speaker import Message, Speaker

HEADER = "X-Studio-Stream-Protocol"
PROTOCOL = "agent-events-v1"

#: Thinking beyond this, in UTF-8 bytes a run, is silent (section 3).
THINKING_CAP = 512 * 1024


class Audience(StrEnum):
    """Who reads: decides what a final frame and an error may hold (section 5)."""

    CHAT = "chat"
    API = "api"


class View(msgspec.Struct, frozen=True):
    """What one client may see: policies as admitted, and whether it negotiated the protocol.

    `selected`: the outputs it gets. On the API without a selection they are those that speak by default, and
    `selection_given` is false: the run's terminal blocks then make the final frame.
    """

    audience: Audience
    negotiated: bool
    thinking: bool
    tool_calls: bool
    selected: tuple[Selected, ...]
    selection_given: bool = True


def negotiated(header: str | None) -> bool:
    """Whether the value of HEADER asks for this protocol (section 1)."""
    return PROTOCOL in {part.strip().lower() for part in (header or "").split(",")}


class Encoder:
    """One client's stream. `encode` each event of a run, in order; the messages after a terminal do not exist."""

    def __init__(self, view: View) -> None:
        self._view = view
        chosen: dict[str, list[Selected]] = {}
        for one in view.selected:
            chosen.setdefault(one.block_id, []).append(one)
        self._speakers = {
            block_id: Speaker(block_id, selected, live=view.negotiated)
            for block_id, selected in chosen.items()
        }
        self._chips = Chips(public=view.audience is Audience.CHAT)
        self._shows_thinking = view.thinking and view.negotiated
        self._shows_tools = view.tool_calls and view.negotiated
        self._thinking_left = THINKING_CAP
        self._agents: set[str] = set()
        self._failed_block: str | None = None
        self._ended = False

    def encode(self, event: RunEvent) -> list[Message]:
        """Return what this event is for this client; often nothing. RuntimeError after the terminal."""
        if self._ended:
            raise RuntimeError("A run said something after its end.")
        match event:
            case BlockStreamed(block_id=block_id, events=events):
                speaker = self._speakers.get(block_id)
                return [] if speaker is None else self._speak(speaker, events)
            case BlockStarted(block_id=block_id, type=kind):
                if kind == "agent":
                    self._agents.add(block_id)
                return []
            case BlockCompleted(block_id=block_id, output=output):
                speaker = self._speakers.get(block_id)
                return [] if speaker is None else list(speaker.complete(output))
            case BlockFailed():
                return list(self._fail(event))
            case RunEnded():
                self._ended = True
                return list(self._end(event))
            case _:
                assert_never(event)

    def _speak(self, speaker: Speaker, events: Sequence[AgentEvent]) -> list[Message]:
        said: list[Message] = []
        for event in events:
            # The per-token path comes first; an exact type is the cheapest question.
            message = speaker.text(event.text) if type(event) is TextDelta else self._other(speaker, event)
            if message is not None:
                speaker.spoke = True
                said.append(message)
        return said

    def _other(self, speaker: Speaker, event: AgentEvent) -> Message | None:
        match event:
            case TextDelta(text=text):
                return speaker.text(text)
            case ThinkingDelta(text=text):
                return self._think(speaker.block_id, text)
            case ToolCallStarted():
                speaker.calls_tools()
                return self._chips.start(speaker.block_id, event) if self._shows_tools else None
            case ToolSettled():
                return self._chips.settle(event)
            case TurnEnded(kind=kind):
                return speaker.end_turn(kind)
            case ToolCallDelta() | ToolCallReady() | RoundUsage() | Warned() | AgentFinished():
                return None
            case _:
                assert_never(event)

    def _think(self, block_id: str, text: str) -> Message | None:
        if not self._shows_thinking or self._thinking_left <= 0:
            return None
        self._thinking_left -= len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if self._thinking_left < 0:
            return None
        return {"blockId": block_id, "event": "thinking", "data": text}

    def _fail(self, event: BlockFailed) -> Iterator[Message]:
        self._failed_block = event.block_id
        speaker = self._speakers.get(event.block_id)
        if speaker is not None and speaker.spoke:
            reason = self._reason(event.code, event.detail)
            yield {"blockId": event.block_id, "event": "stream_error", "error": reason}

    def _end(self, event: RunEnded) -> Iterator[Message]:
        """Close what is open, then say how it ended."""
        timed_out = event.code is RunCode.RUN_TIMEOUT
        yield from self._chips.close(
            self._failed_block, ToolStatus.ERROR if timed_out else ToolStatus.CANCELLED
        )
        if not event.success:
            yield from filter(None, (speaker.retract_unfinished() for speaker in self._speakers.values()))
        if event.success or event.code in ENDED_BY_RULE:
            yield {"event": "final", "data": self._final(event)}
        else:
            code = event.code or RunCode.AGENT_RUN_FAILED
            yield {"event": "error", "error": self._reason(code, event.detail), "code": code.value}

    def _final(self, event: RunEnded) -> dict[str, Any]:
        data: dict[str, Any] = {"success": event.success}
        if event.code is not None:
            data["error"] = self._reason(event.code, event.detail)
            data["code"] = event.code.value
        data["executionId"] = event.run_id
        data["output"] = self._output(event)
        return data

    def _output(self, event: RunEnded) -> dict[str, dict[str, Any]]:
        selected = self._view.selected
        if self._view.audience is Audience.CHAT:
            return envelope.for_chat(event.outputs, selected, self._chips if self._shows_tools else None)
        given = selected if self._view.selection_given else ()
        agents = self._agents | {one.block_id for one in selected if one.agent}
        return envelope.for_api(event.outputs, given, event.terminal_blocks, agents)

    def _reason(self, code: RunCode, detail: str) -> str:
        """A fixed sentence for strangers, the literal reason for who is authenticated."""
        if self._view.audience is Audience.CHAT or not detail:
            return PUBLIC_RUN_SENTENCES[code]
        return detail
