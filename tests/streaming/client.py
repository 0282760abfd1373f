"""A client that conforms to agent-events-v1 section 11, written from the spec alone, and strict."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

# httpx-sse is written for httpx, whose successor has the same interface under another name.
sys.modules.setdefault("httpx", httpx2)

import httpx_sse  # noqa: E402

Message = dict[str, Any]

#: Every frame of the protocol with its keys in wire order. A new one is a new line here, on purpose.
SHAPES: dict[tuple[str | None, str | None], tuple[str, ...]] = {
    (None, None): ("blockId", "chunk"),
    ("chunk_reset", None): ("blockId", "event"),
    ("thinking", None): ("blockId", "event", "data"),
    ("tool", "start"): ("blockId", "event", "phase", "id", "name"),
    ("tool", "end"): ("blockId", "event", "phase", "id", "name", "status"),
    ("stream_error", None): ("blockId", "event", "error"),
    ("final", None): ("event", "data"),
    ("error", None): ("event", "error", "code"),
}
TERMINALS = frozenset({"final", "error"})
FINAL_KEYS = {
    True: ("success", "executionId", "output"),
    False: ("success", "error", "code", "executionId", "output"),
}


@dataclass
class Tool:
    block_id: str
    name: str
    status: str | None = None


@dataclass
class Client:
    """What a reader of a stream holds. `take` fails on anything the spec does not allow."""

    chunks: dict[str, list[str]] = field(default_factory=dict)
    thinking: dict[str, str] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    spoke: set[str] = field(default_factory=set)
    terminal: Message | None = None

    def text(self, block_id: str) -> str:
        return "".join(self.chunks.get(block_id, []))

    def take(self, message: Mapping[str, Any]) -> None:
        assert self.terminal is None, f"after the terminal: {message}"
        kind = message.get("event")
        assert tuple(message) == SHAPES[kind, message.get("phase")], message
        match kind:
            case None:
                assert message["chunk"], "an empty chunk"
                self.chunks.setdefault(message["blockId"], []).append(message["chunk"])
            case "chunk_reset":
                assert self.chunks.pop(message["blockId"], None), "a reset of nothing"
            case "thinking":
                assert message["data"], "empty thinking"
                before = self.thinking.get(message["blockId"], "")
                self.thinking[message["blockId"]] = before + message["data"]
            case "tool":
                self._take_tool(message)
            case "stream_error":
                assert message["blockId"] in self.spoke, "an error of a block that said nothing"
                self.failed.append(message["blockId"])
            case _:
                self._take_terminal(message)
        if kind not in TERMINALS:
            self.spoke.add(message["blockId"])

    def _take_tool(self, message: Mapping[str, Any]) -> None:
        if message["phase"] == "start":
            assert message["id"] not in self.tools, "a second start"
            self.tools[message["id"]] = Tool(message["blockId"], message["name"])
            return
        tool = self.tools[message["id"]]
        assert tool.status is None, "a second end"
        assert (tool.block_id, tool.name) == (message["blockId"], message["name"])
        assert message["status"] in {"success", "error", "cancelled"}
        tool.status = message["status"]

    def _take_terminal(self, message: Mapping[str, Any]) -> None:
        still_open = [name for name, tool in self.tools.items() if tool.status is None]
        assert not still_open, f"chips without an end: {still_open}"
        if message["event"] == "final":
            assert tuple(message["data"]) == FINAL_KEYS[message["data"]["success"]]
        self.terminal = dict(message)


def read(messages: Iterable[Mapping[str, Any]]) -> Client:
    """Return what a client holds after a whole stream."""
    client = Client()
    for message in messages:
        client.take(message)
    assert client.terminal is not None, "no terminal"
    return client


def decode(body: bytes) -> list[Any]:
    """Return the JSON values of a stream's frames, as an independent reader of event streams finds them."""
    response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    events = list(httpx_sse.EventSource(response).iter_sse())
    assert all((event.event, event.id, event.retry) == ("message", "", None) for event in events)
    return [json.loads(event.data) for event in events]
