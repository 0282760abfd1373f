"""One block that a client hears: what it says, and how much of that may still be taken back. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streaming.chips import Message
from streaming.envelope import picked
from streaming.events import TurnEnd
from streaming.selection import Selected, as_text, is_private, same

_CONTENT = same("content")


class Speaker:
    """`selected` are outputs of one block, each once.

    The text of an agent whose `content` is among them goes out with `live` as it comes, and is taken back if
    its turn turns out to be no answer; else a final turn's text goes out whole when that turn has ended. What
    does not stream is told when the block completes.
    """

    __slots__ = (
        "_held",
        "_live",
        "_retractable",
        "_settled",
        "_told",
        "agent",
        "block_id",
        "calls_tools",
        "paths",
        "spoke",
    )

    def __init__(self, selected: Sequence[Selected], *, live: bool) -> None:
        self.block_id = selected[0].block_id
        self.agent = selected[0].agent
        self.paths = tuple(one.path for one in selected)
        #: A frame of this block has gone out.
        self.spoke = False
        #: The open turn holds a call, so it is known to be intermediate before it has ended.
        self.calls_tools = False
        streams = any(one.agent and one.live and same(one.path) == _CONTENT for one in selected)
        self._live = streams and live
        self._settled = streams and not live
        self._told = _told(selected)
        self._held: list[str] = []
        #: A chunk has gone out since the last reset.
        self._retractable = False

    def say(self, text: str) -> list[Message]:
        """Text of the open turn."""
        if self._live:
            if text:
                self.spoke = self._retractable = True
                return [{"blockId": self.block_id, "chunk": text}]
        elif self._settled:
            self._held.append(text)
        return []

    def end_turn(self, kind: TurnEnd) -> list[Message]:
        """The open turn is known for what it was."""
        self.calls_tools = False
        text = "".join(self._held)
        self._held.clear()
        return self._chunks([text]) if kind is TurnEnd.FINAL else self.retract()

    def retract(self) -> list[Message]:
        """Take back the text that went out, if any did."""
        if not self._retractable:
            return []
        self._retractable = False
        return [{"blockId": self.block_id, "event": "chunk_reset"}]

    def complete(self, output: Mapping[str, Any]) -> list[Message]:
        """The block has its output: say what of it did not stream, one chunk for each selected path."""
        return self._chunks(as_text(value) for value in picked(output, self._told).values())

    def _chunks(self, texts: Iterable[str]) -> list[Message]:
        chunks: list[Message] = [{"blockId": self.block_id, "chunk": text} for text in texts if text]
        self.spoke = self.spoke or bool(chunks)
        return chunks


def _told(selected: Sequence[Selected]) -> tuple[str, ...]:
    """Return the paths that are chunks at the block's end.

    Of an agent only its answer is, and of a structured answer's `content` and fields only `content`: appended
    chunks must equal it (section 4).
    """
    if not selected[0].agent:
        return tuple(one.path for one in selected)
    if selected[0].live:
        return ()
    answers = [one.path for one in selected if not is_private(one)]
    return tuple(path for path in answers if same(path) == _CONTENT) or tuple(answers)
