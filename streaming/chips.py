"""The tool calls of a run as one client sees them: every start has exactly one end, on every path. Pure.

A frame tells a call's id, name and status, and nothing else of it (agent-events-v1 section 3).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from streaming.events import ToolCallStarted, ToolSettled, ToolStatus

Message = dict[str, Any]

#: What a client that may see every call reads instead of a name the model made up (section 4).
UNKNOWN_TOOL = "unknown_tool"


@dataclass(slots=True)
class Chip:
    """A call that the client was told of. `status` is None while it is open."""

    block_id: str
    id: str
    name: str
    status: ToolStatus | None = None


class Chips:
    """`public`: a stranger reads. Calls whose name is not declared are then not told at all, and ids are
    counted anew, so that the calls which are not told cannot be counted either.
    """

    def __init__(self, *, public: bool) -> None:
        self._public = public
        #: By the run's id, in the order of their starts.
        self._chips: dict[str, Chip] = {}

    def start(self, block_id: str, call: ToolCallStarted) -> list[Message]:
        if call.id in self._chips or (self._public and not call.declared):
            return []
        shown = f"call_{len(self._chips) + 1}" if self._public else call.id
        chip = Chip(block_id, shown, call.name if call.declared else UNKNOWN_TOOL)
        self._chips[call.id] = chip
        return [_frame(chip, "start")]

    def settle(self, call: ToolSettled) -> list[Message]:
        chip = self._chips.get(call.id)
        return [] if chip is None else _close(chip, call.status)

    def abandon(self, block_id: str) -> list[Message]:
        """The attempt that made the block's open calls has failed."""
        return [
            message
            for chip in self._chips.values()
            if chip.block_id == block_id
            for message in _close(chip, ToolStatus.ERROR)
        ]

    def close(self, status: ToolStatus, failed: Collection[str]) -> list[Message]:
        """End what is open: with `status`, in `failed` blocks as an error."""
        return [
            message
            for chip in self._chips.values()
            for message in _close(chip, ToolStatus.ERROR if chip.block_id in failed else status)
        ]

    def listed(self, block_id: str, counted: Collection[str]) -> list[Message]:
        """Return the block's calls as the client knows them. `counted`: the run's ids of those that count."""
        return [
            {"id": chip.id, "name": chip.name, "status": chip.status}
            for call_id, chip in self._chips.items()
            if chip.block_id == block_id and call_id in counted
        ]


def _close(chip: Chip, status: ToolStatus) -> list[Message]:
    if chip.status is not None:
        return []
    chip.status = status
    return [{**_frame(chip, "end"), "status": status.value}]


def _frame(chip: Chip, phase: str) -> Message:
    return {"blockId": chip.block_id, "event": "tool", "phase": phase, "id": chip.id, "name": chip.name}
