"""What a stream may consist of for one client (agent-events-v1 sections 3 and 5). Anything else is a leak,
even if no mark is in it: where a chat hides its tools, their number is a secret too. Pure.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from streaming.agent_events_v1 import View
from streaming.codes import PUBLIC_RUN_SENTENCES, RunCode

Frame = Mapping[str, Any]

_FRAME = re.compile(rb"^data: (\{.*\})$", re.MULTILINE)
_TOOL = {"start": {"blockId", "event", "phase", "id", "name"}}
_TOOL["end"] = {*_TOOL["start"], "status"}
_CALL = {"id", "name", "status"}


def frames_of(body: bytes) -> list[Frame]:
    return [json.loads(found) for found in _FRAME.findall(body)]


def texts(frames: list[Frame]) -> Iterator[bytes]:
    """The texts of a stream, each joined as a reader joins them: a value may be cut over frames."""
    joined: dict[tuple[str, str], list[str]] = {}
    for frame in frames:
        for kind in ("chunk", "data"):
            if isinstance(frame.get(kind), str):
                joined.setdefault((frame.get("blockId", ""), kind), []).append(frame[kind])
    yield from ("".join(parts).encode() for parts in joined.values())


def faults(frame: Frame, view: View) -> Iterator[str]:
    """Say what this client should not have got."""
    heard = {selected.block_id for selected in view.selected}
    if "blockId" in frame and frame["blockId"] not in heard:
        yield f"a frame of the block {frame['blockId']}, which is not selected"
    match frame.get("event"):
        case None:
            yield from _keys(frame, {"blockId", "chunk"})
        case "chunk_reset":
            yield from _keys(frame, {"blockId", "event"})
            yield from _if(not view.negotiated, "a chunk_reset for a client that did not negotiate")
        case "thinking":
            yield from _keys(frame, {"blockId", "event", "data"})
            yield from _if(not (view.negotiated and view.thinking), "thinking")
        case "tool":
            yield from _keys(frame, _TOOL.get(frame.get("phase", ""), set()))
            yield from _if(not (view.negotiated and view.tool_calls), "a tool call")
        case "final":
            yield from _keys(frame, {"event", "data"})
            yield from _final(frame.get("data", {}), view)
        case "error":
            yield from _keys(frame, {"event", "error", "code"})
            yield from _sentence(frame)
        case "stream_error":
            yield from _keys(frame, {"blockId", "event", "error"})
            yield from _sentence(frame)
        case event:
            yield f"a frame of an unknown kind, {event}"


def _final(data: Frame, view: View) -> Iterator[str]:
    yield from _keys(data, {"success", "error", "code", "executionId", "output"})
    if "error" in data:
        yield from _sentence(data)
    for block, output in data.get("output", {}).items():
        paths = {selected.path for selected in view.selected if selected.block_id == block}
        sees_tools = view.negotiated and view.tool_calls
        yield from _keys(output, paths | ({"toolCalls"} if sees_tools else set()))
        for call in output.get("toolCalls", {}).get("list", []) if sees_tools else ():
            yield from _keys(call, _CALL)


def _sentence(frame: Frame) -> Iterator[str]:
    """The fixed sentence of the frame's code; of any code where the frame names none."""
    code = frame.get("code")
    fixed = set(PUBLIC_RUN_SENTENCES.values()) if code is None else {PUBLIC_RUN_SENTENCES[RunCode(code)]}
    yield from _if(frame.get("error") not in fixed, "an error text that is not the fixed sentence")


def _keys(value: Frame, allowed: set[str]) -> Iterator[str]:
    for key in value.keys() - allowed:
        yield f"the key {key} in a {value.get('event', 'chunk')} frame or its data"


def _if(wrong: bool, what: str) -> Iterator[str]:
    if wrong:
        yield what


def raw(frame: Frame) -> bytes:
    """A frame as bytes to search."""
    return json.dumps(frame, ensure_ascii=False).encode()
