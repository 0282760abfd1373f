"""The tool calls of a run as one client may see them: announced once, ended once. Pure."""

from collections.abc import Iterator
from typing import Any

from streaming.events import ToolCallStarted, ToolSettled, ToolStatus

#: What a name that the block did not declare is called where its owner reads.
UNKNOWN_TOOL = "unknown_tool"

Message = dict[str, Any]


class Chips:
    """`public`: undeclared names do not exist, and ids count what is seen only, so that hidden calls cannot be
    counted by the gaps they leave."""

    def __init__(self, *, public: bool) -> None:
        self._public = public
        self._ids: dict[str, str] = {}
        self._open: dict[str, tuple[str, str]] = {}

    def start(self, block_id: str, event: ToolCallStarted) -> Message | None:
        if (self._public and not event.declared) or event.id in self._ids:
            return None
        shown = f"call_{len(self._ids) + 1}" if self._public else event.id
        self._ids[event.id] = shown
        name = event.name if event.declared else UNKNOWN_TOOL
        self._open[event.id] = (block_id, name)
        return {"blockId": block_id, "event": "tool", "phase": "start", "id": shown, "name": name}

    def settle(self, event: ToolSettled) -> Message | None:
        return self._end(event.id, event.status) if event.id in self._open else None

    def close(self, failed_block: str | None, otherwise: ToolStatus) -> Iterator[Message]:
        """End what is open: as `error` in the failing block, else as `otherwise`."""
        for call_id, (block_id, _) in list(self._open.items()):
            yield self._end(call_id, ToolStatus.ERROR if block_id == failed_block else otherwise)

    def shown_id(self, call_id: str) -> str | None:
        """The id under which the client saw this call; None if it never did."""
        return self._ids.get(call_id)

    def _end(self, call_id: str, status: ToolStatus) -> Message:
        block_id, name = self._open.pop(call_id)
        return {
            "blockId": block_id,
            "event": "tool",
            "phase": "end",
            "id": self._ids[call_id],
            "name": name,
            "status": status.value,
        }
