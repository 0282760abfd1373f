"""What an agent block says while rules are active (agent-events-v1 section 8): masked, turn by turn."""

from collections.abc import Sequence

from redaction.engine import Masker
from redaction.settle import SettledTurns
from redaction.spec import RedactionFailed
from streaming.events import (
    AgentEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
)


class MaskedSpeech:
    """One agent's events on their way out. `texts` false: only what its tools do goes out.

    It keeps account of the calls that were announced to the reader, because an event that a rule could not
    mask is lost, and their ends must not be.
    """

    def __init__(self, masker: Masker, *, texts: bool) -> None:
        self._masker = masker
        self._texts = texts
        self._turns = SettledTurns(masker)
        self._open: dict[str, ToolCallStarted] = {}

    def feed(self, batch: Sequence[AgentEvent]) -> list[AgentEvent]:
        """Return what may go out now; often nothing. Raises RedactionFailed; feed nothing after it."""
        said = self._turns.feed(batch)
        for event in said:
            if isinstance(event, ToolCallStarted):
                self._open[event.id] = event
            elif isinstance(event, ToolSettled):
                self._open.pop(event.id, None)
        if self._texts:
            return said
        return [event for event in said if not isinstance(event, TextDelta | ThinkingDelta)]

    def ends(self, settled: Sequence[ToolSettled], status: ToolStatus) -> list[ToolSettled]:
        """The ends of the calls the reader still sees open: as `settled` knows them, else with `status`."""
        known = {end.id: end for end in settled}
        ends = [self._end(start, known.get(start.id), status) for start in self._open.values()]
        self._open.clear()
        return ends

    def _end(self, start: ToolCallStarted, end: ToolSettled | None, status: ToolStatus) -> ToolSettled:
        if end is None:
            return ToolSettled(start.id, start.name, start.declared, status, "", 0)
        return ToolSettled(
            start.id, start.name, start.declared, end.status, self._masked(end.output), end.duration_ms
        )

    def _masked(self, output: str) -> str:
        try:
            return self._masker.mask_document(output)
        except RedactionFailed:
            return ""
