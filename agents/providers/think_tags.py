"""Thinking that a model writes into its answer between `<think>` and `</think>` (or `thinking`). Pure.

A tag opens thinking only where an answer begins: at its very start, or right after a closed one, white space
aside. So an answer that speaks about the tag keeps its text. Text waits only while it can still become a tag.
"""

from enum import Enum, auto

_CLOSING = {"<think>": "</think>", "<thinking>": "</thinking>"}


class Kind(Enum):
    TEXT = auto()
    THINKING = auto()


Piece = tuple[Kind, str]


def held_length(text: str, tag: str) -> int:
    """Return how many characters at the end of `text` could be the beginning of `tag`."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if tag.startswith(text[-length:]):
            return length
    return 0


class ThinkTags:
    """Split one answer. Deltas are never merged: what was held and what releases it stay two pieces."""

    def __init__(self) -> None:
        #: No further delta needs a look: the caller may pass text by.
        self.settled = False
        self._held = ""
        self._closing = ""

    def feed(self, delta: str) -> list[Piece]:
        if self.settled:
            return [(Kind.TEXT, delta)]
        pieces: list[Piece] = []
        while delta and not self.settled:
            delta = self._inside(delta, pieces) if self._closing else self._before(delta, pieces)
        if delta:
            pieces.append((Kind.TEXT, delta))
        return pieces

    def flush(self) -> list[Piece]:
        """Return what waited for the rest of a tag that never came."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [(Kind.THINKING if self._closing else Kind.TEXT, held)]

    def _before(self, delta: str, pieces: list[Piece]) -> str:
        """Look for an opening tag; return what is still to be read."""
        held, self._held = self._held, ""
        text = held + delta
        start = text.lstrip()
        if space := text[: len(text) - len(start)]:
            pieces.append((Kind.TEXT, space))
        for tag, closing in _CLOSING.items():
            if start.startswith(tag):
                self._closing = closing
                return start[len(tag) :]
        if any(tag.startswith(start) for tag in _CLOSING):
            self._held = start
            return ""
        self.settled = True
        if held:
            pieces.append((Kind.TEXT, held))
            return delta
        return start

    def _inside(self, delta: str, pieces: list[Piece]) -> str:
        """Look for the closing tag; return what comes after it."""
        text = self._held + delta
        thinking, tag, rest = text.partition(self._closing)
        held = 0 if tag else held_length(thinking, self._closing)
        self._held = thinking[len(thinking) - held :] if held else ""
        if held:
            thinking = thinking[:-held]
        if thinking:
            pieces.append((Kind.THINKING, thinking))
        if tag:
            self._closing = ""
        return rest
