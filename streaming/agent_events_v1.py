"""Run events as messages of agent-events-v1, for the public chat and the workflow API. Pure.

A message is a dict with its keys in wire order; `sse` makes frames of it. What a client may not see is
dropped before anything is counted, so that neither frames nor their order and ids depend on it (section 9).
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, assert_never

import msgspec

from streaming import envelope
from streaming.chips import Chips, Message
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
    TurnEnd,
    TurnEnded,
    Warned,
)
from streaming.selection import Selected, is_private, same
from streaming.speaker import Speaker

__all__ = ["HEADER", "PROTOCOL", "Audience", "Encoder", "Message", "Selected", "View", "negotiated"]

HEADER = "X-Studio-Stream-Protocol"
PROTOCOL = "agent-events-v1"

#: The type of the blocks that have a model.
AGENT = "agent"
#: UTF-8 bytes of thinking a run; silent after that (section 3).
THINKING_LIMIT = 512 * 1024


class Audience(StrEnum):
    """Who reads: decides what a final frame and an error may hold (section 5)."""

    CHAT = "chat"
    API = "api"


class View(msgspec.Struct, frozen=True):
    """What one client may see: policies as admitted, and whether it negotiated the protocol.

    `selected` empty, on the API only: the run's terminal blocks make the final frame, and those of `default`
    speak, which are the agent blocks without outgoing edges.
    """

    audience: Audience
    negotiated: bool
    thinking: bool
    tool_calls: bool
    selected: tuple[Selected, ...]
    default: tuple[Selected, ...] = ()


def negotiated(header: str | None) -> bool:
    """Whether the value of HEADER asks for this protocol (section 1)."""
    return PROTOCOL in {part.strip().lower() for part in (header or "").split(",")}


class Encoder:
    """Turns the events of one run into messages for one client: one terminal, and nothing after it."""

    def __init__(self, view: View) -> None:
        self._chat = view.audience is Audience.CHAT
        self._whole_run = not self._chat and not view.selected
        self._speakers = _speakers(view)
        self._agents = {speaker.block_id for speaker in self._speakers.values() if speaker.agent}
        self._chips = Chips(public=self._chat)
        self._tells_tools = view.negotiated and view.tool_calls
        self._thinking_left = THINKING_LIMIT if view.negotiated and view.thinking else 0
        #: The run's ids of calls whose tool does not exist.
        self._unknown: set[str] = set()
        self._failed: set[str] = set()
        self._ended = False

    def encode(self, event: RunEvent) -> list[Message]:
        """Return what `event` says to this client; often nothing."""
        if self._ended:
            assert not isinstance(event, RunEnded), "a run ends once"
            return []
        match event:
            case BlockStreamed():
                speaker = self._speakers.get(event.block_id)
                return [] if speaker is None else self._stream(speaker, event.events)
            case BlockStarted():
                return []
            case BlockCompleted():
                return self._complete(event)
            case BlockFailed():
                return self._fail(event)
            case RunEnded():
                return self._end(event)
            case _:
                assert_never(event)

    # --- Blocks ---------------------------------------------------------------------------------------------

    def _stream(self, speaker: Speaker, events: Iterable[AgentEvent]) -> list[Message]:
        out: list[Message] = []
        for event in events:
            match event:
                case TextDelta():
                    out += speaker.say(event.text)
                case ThinkingDelta():
                    out += self._think(speaker, event.text)
                case ToolCallStarted():
                    out += self._start_call(speaker, event)
                case ToolSettled():
                    out += self._chips.settle(event)
                case TurnEnded():
                    out += self._end_turn(speaker, event)
                case ToolCallDelta() | ToolCallReady() | RoundUsage() | Warned() | AgentFinished():
                    pass
                case _:
                    assert_never(event)
        return out

    def _think(self, speaker: Speaker, text: str) -> list[Message]:
        if self._thinking_left:
            data = text.encode(errors="replace")
            if len(data) > self._thinking_left:
                data = data[: self._thinking_left]
                text, self._thinking_left = data.decode(errors="ignore"), len(data)
            self._thinking_left -= len(data)
            if text:
                speaker.spoke = True
                return [{"blockId": speaker.block_id, "event": "thinking", "data": text}]
        return []

    def _start_call(self, speaker: Speaker, call: ToolCallStarted) -> list[Message]:
        speaker.calls_tools = True
        if not call.declared:
            self._unknown.add(call.id)
        if not self._tells_tools:
            return []
        start = self._chips.start(speaker.block_id, call)
        speaker.spoke = speaker.spoke or bool(start)
        return start

    def _end_turn(self, speaker: Speaker, turn: TurnEnded) -> list[Message]:
        lost = self._chips.abandon(speaker.block_id) if turn.kind is TurnEnd.ABANDONED else []
        return lost + speaker.end_turn(turn.kind)

    def _complete(self, event: BlockCompleted) -> list[Message]:
        if event.type == AGENT:
            self._agents.add(event.block_id)
        speaker = self._speakers.get(event.block_id)
        return [] if speaker is None else speaker.complete(event.output)

    def _fail(self, event: BlockFailed) -> list[Message]:
        self._failed.add(event.block_id)
        speaker = self._speakers.get(event.block_id)
        if speaker is None or not speaker.spoke:
            return []
        reason = self._reason(event.code, event.detail)
        return [{"blockId": event.block_id, "event": "stream_error", "error": reason}]

    # --- The end --------------------------------------------------------------------------------------------

    def _end(self, event: RunEnded) -> list[Message]:
        self._ended = True
        timeout = event.code is RunCode.RUN_TIMEOUT
        out = self._chips.close(ToolStatus.ERROR if timeout else ToolStatus.CANCELLED, self._failed)
        if event.success:
            return [*out, self._final(event, {"success": True})]
        for speaker in self._speakers.values():
            if speaker.calls_tools:
                out += speaker.retract()
        code = event.code or RunCode.AGENT_RUN_FAILED
        why = {"error": self._reason(code, event.detail), "code": code.value}
        if code in ENDED_BY_RULE:
            return [*out, self._final(event, {"success": False, **why})]
        return [*out, {"event": "error", **why}]

    def _final(self, event: RunEnded, outcome: Message) -> Message:
        blocks = event.terminal_blocks if self._whole_run else self._speakers
        output = {
            block: self._shown(block, event.outputs[block]) for block in blocks if block in event.outputs
        }
        return {"event": "final", "data": {**outcome, "executionId": event.run_id, "output": output}}

    def _shown(self, block_id: str, output: Mapping[str, Any]) -> Message:
        speaker = self._speakers.get(block_id)
        paths = speaker.paths if speaker else ()
        if block_id not in self._agents:
            return dict(output) if self._whole_run else envelope.picked(output, paths)
        if not self._chat:
            return envelope.whole_agent(output, paths, self._unknown)
        shown = envelope.picked(output, paths)
        if self._tells_tools:
            calls = self._chips.listed(block_id, envelope.call_ids(output))
            shown["toolCalls"] = {"list": calls, "count": len(calls)}
        return shown

    def _reason(self, code: RunCode, detail: str) -> str:
        """A stranger gets a fixed sentence; who is authenticated the real reason (section 5)."""
        return (not self._chat and detail) or PUBLIC_RUN_SENTENCES[code]


def _speakers(view: View) -> dict[str, Speaker]:
    """Return the blocks that this client hears, in the order of their selection."""
    chat = view.audience is Audience.CHAT
    blocks: dict[str, dict[tuple[str, ...], Selected]] = {}
    for one in view.selected or (() if chat else view.default):
        if not (chat and _hidden(one)):
            blocks.setdefault(one.block_id, {}).setdefault(same(one.path), one)
    return {block: Speaker(tuple(paths.values()), live=view.negotiated) for block, paths in blocks.items()}


def _hidden(selected: Selected) -> bool:
    """What no chat shows, whatever was saved: of an agent all but its answer."""
    if selected.agent and selected.live:
        return same(selected.path) != same("content")
    return is_private(selected)
