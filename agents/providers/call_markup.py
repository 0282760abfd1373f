"""Tool calls that a model also writes into its answer as markup. Pure.

Servers that understand a call should take its markup out of the text; some send both. Arguments must not
reach a reader of the answer, so text from such a tag on waits: for a real call, which proves the markup
superfluous and removes it, or for the turn's end without one, when the markup was just text.
"""

from agents.providers.think_tags import held_length

_CLOSING = {
    "<tool_call>": "</tool_call>",
    "<tool_calls>": "</tool_calls>",
    "<function_call>": "</function_call>",
    "<function_calls>": "</function_calls>",
    "<function=": "</function>",
    "<minimax:tool_call>": "</minimax:tool_call>",
    "<|tool_call|>": "<|/tool_call|>",
    "<|tool_calls_section_begin|>": "<|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜>": "<｜tool▁calls▁end｜>",
}


class CallMarkup:
    """Filter the deltas of one answer. Each method returns the pieces that may go out now."""

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._called = False

    @property
    def waits(self) -> bool:
        return bool(self._held)

    def feed(self, delta: str) -> list[str]:
        if not self._held and "<" not in delta:
            return [delta]
        before, self._held = self._held, self._held + delta
        pieces = self._drain()
        # What waited and what released it stay two deltas.
        if not self._closing and pieces and before and len(pieces[0]) > len(before):
            pieces[0:1] = [before, pieces[0][len(before) :]]
        return pieces

    def call_came(self) -> list[str]:
        """The turn holds a real call: markup is removed from now on, what waited included."""
        if self._called:
            return []
        self._called = True
        return self._drain() if self._closing else []

    def flush(self) -> list[str]:
        """The turn has ended: what still waits is text, unless it is the unfinished markup of a real call."""
        held, self._held = self._held, ""
        return [held] if held and not (self._called and self._closing) else []

    def _drain(self) -> list[str]:
        pieces: list[str] = []
        while self._held:
            if not self._closing:
                self._to_tag(pieces)
            if not self._closing or not self._called:
                break
            _, tag, rest = self._held.partition(self._closing)
            if not tag:
                break
            self._held, self._closing = rest, ""
        return pieces

    def _to_tag(self, pieces: list[str]) -> None:
        """Let the text before the next tag go; a possible beginning of a tag stays."""
        found = [(at, tag) for tag in _CLOSING if (at := self._held.find(tag)) >= 0]
        if found:
            at, tag = min(found)
            self._closing = _CLOSING[tag]
        else:
            at = len(self._held) - max(held_length(self._held, tag) for tag in _CLOSING)
        if at:
            pieces.append(self._held[:at])
            self._held = self._held[at:]
