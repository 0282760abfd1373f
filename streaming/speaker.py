"""One block's answer text on one client's stream: live and retractable, or settled. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streaming.events import TurnEnd
from streaming.selection import MISSING, PRIVATE, Selected, lookup

Message = dict[str, Any]


class Speaker:
    """`live`: the client negotiated, so text goes out as it comes and `chunk_reset` takes it back.

    `spoke`: the client has a frame of this block, so it hears of its failure too.
    """

    def __init__(self, block_id: str, selected: Sequence[Selected], *, live: bool) -> None:
        self.block_id = block_id
        self.spoke = False
        self._live = live
        self._streams = any(one.live and one.path == "content" for one in selected)
        self._whole = [one.path for one in selected if not one.live and not _private(one)]
        self._sent = False
        self._calls_tools = False
        self._held: list[str] = []

    def text(self, text: str) -> Message | None:
        """A delta of the turn under way."""
        if not self._streams:
            return None
        if not self._live:
            self._held.append(text)
            return None
        self._sent = True
        return {"blockId": self.block_id, "chunk": text}

    def calls_tools(self) -> None:
        """The turn is known to be no answer, though it has not ended."""
        self._calls_tools = True

    def end_turn(self, kind: TurnEnd) -> Message | None:
        self._calls_tools = False
        if kind is not TurnEnd.FINAL:
            self._held.clear()
            return self._reset()
        if not self._held:
            return None
        settled = "".join(self._held)
        self._held.clear()
        return {"blockId": self.block_id, "chunk": settled}

    def complete(self, output: Mapping[str, Any]) -> Iterator[Message]:
        """What does not stream goes out when the block has completed: one chunk for each output."""
        for path in self._whole:
            value = lookup(output, path)
            text = "" if value is MISSING else value if isinstance(value, str) else _pretty(value)
            if text:
                self.spoke = True
                yield {"blockId": self.block_id, "chunk": text}

    def retract_unfinished(self) -> Message | None:
        """Before a terminal that is no success: take back the text of a turn known to be intermediate."""
        return self._reset() if self._calls_tools else None

    def _reset(self) -> Message | None:
        if not self._sent:
            return None
        self._sent = False
        return {"blockId": self.block_id, "event": "chunk_reset"}


def _private(one: Selected) -> bool:
    """Numbers of an agent block appear in the final frame only (section 4)."""
    return one.agent and one.path.split(".")[0].split("[")[0] in PRIVATE


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
