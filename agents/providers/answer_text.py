"""What a model says in one turn, on its way from a wire's deltas to events. Pure.

Text is cleaned; thinking inside tags and calls written as markup are taken out. Methods append to `out`.
"""

import re

from agents.providers.base import ProviderEvent
from agents.providers.call_markup import CallMarkup
from agents.providers.think_tags import Kind, Piece, ThinkTags
from streaming.events import TextDelta, ThinkingDelta
from streaming.text import TextStream

_NOTABLE = re.compile("[<\x00\ud800-\udfff]")


class AnswerText:
    """The answer, the thinking and the refusal of one turn."""

    def __init__(self) -> None:
        self._text = TextStream()
        self._thinking = TextStream()
        self._refusal = TextStream()
        self._tags = ThinkTags()
        self._markup = CallMarkup()
        #: Nothing waits and no tag can open here, so most deltas need only a glance.
        self._plain = False

    def say(self, delta: str, out: list[ProviderEvent]) -> None:
        if self._plain and not _NOTABLE.search(delta):
            out.append(TextDelta(delta))
            return
        if text := self._text.feed(delta):
            self._tagged(self._tags.feed(text), out)
        self._plain = self._tags.settled and not self._text.waits and not self._markup.waits

    def think(self, delta: str, out: list[ProviderEvent]) -> None:
        if text := self._thinking.feed(delta):
            out.append(ThinkingDelta(text))

    def refuse(self, delta: str, out: list[ProviderEvent]) -> None:
        """A refusal is an answer too."""
        if text := self._refusal.feed(delta):
            out.append(TextDelta(text))

    def call_came(self, out: list[ProviderEvent]) -> None:
        """The turn holds a real call, so markup in its text is not for readers."""
        for piece in self._markup.call_came():
            out.append(TextDelta(piece))
        self._plain = False

    def flush(self, out: list[ProviderEvent]) -> None:
        """The turn is over: let go what still waited for its other half."""
        if text := self._thinking.flush():
            out.append(ThinkingDelta(text))
        if text := self._text.flush():
            self._tagged(self._tags.feed(text), out)
        self._tagged(self._tags.flush(), out)
        for text in (*self._markup.flush(), self._refusal.flush()):
            if text:
                out.append(TextDelta(text))

    def _tagged(self, pieces: list[Piece], out: list[ProviderEvent]) -> None:
        for kind, piece in pieces:
            if kind is Kind.THINKING:
                out.append(ThinkingDelta(piece))
            else:
                self._answer(piece, out)

    def _answer(self, text: str, out: list[ProviderEvent]) -> None:
        for piece in self._markup.feed(text):
            out.append(TextDelta(piece))
