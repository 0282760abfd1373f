"""A tool call of a run, from announcement to end. The end of every announced call is told exactly once."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agents.timeline import milliseconds
from agents.tools.base import ToolResult
from streaming.events import ToolSettled, ToolStatus

NOT_RUN = "This call was not run."
CUT_SHORT = "This call was cut short."
ABANDONED = "This call was not run: the model that made it failed before its turn ended."


@dataclass
class ToolRecord:
    """One call. `id` is ours, `vendor_id` the vendor's own, possibly empty or repeated.

    Times are instants of the run's timeline, the same one twice if it never ran; `status` is None while it
    has no end.
    `abandoned`: it belonged to a model call that failed before its end, and counts as no call of the run.
    """

    index: int
    id: str
    vendor_id: str
    name: str
    declared: bool
    fragments: list[str] = field(default_factory=list)
    status: ToolStatus | None = None
    result: str = ""
    started: float | None = None
    ended: float | None = None
    abandoned: bool = False
    told: bool = False

    @property
    def arguments(self) -> str:
        """The arguments text as far as it came, exactly as emitted."""
        return "".join(self.fragments)

    @property
    def duration_ms(self) -> int:
        if self.started is None or self.ended is None:
            return 0
        return milliseconds(self.ended - self.started)

    def settle(self, result: ToolResult) -> None:
        """It has its end: it ran, or was refused. An end that was told stands, whatever comes of it later."""
        if self.told:
            return
        self.status = ToolStatus.ERROR if result.is_error else ToolStatus.SUCCESS
        self.result = result.text

    def tell(self) -> ToolSettled:
        """Its one event; it must have its end."""
        assert self.status is not None, f"{self.id} has no end yet"
        assert not self.told, f"the end of {self.id} was told before"
        self.told = True
        return ToolSettled(self.id, self.name, self.declared, self.status, self.result, self.duration_ms)


def settle_open(
    records: Iterable[ToolRecord], status: ToolStatus, now: float, reason: str = NOT_RUN
) -> list[ToolSettled]:
    """End what is still open with `status`, in order; a call that ended unnoticed keeps its own end."""
    untold = [record for record in records if not record.told]
    for record in untold:
        if record.status is None:
            record.status, record.result = status, reason if record.started is None else CUT_SHORT
        record.started = now if record.started is None else record.started
        record.ended = now if record.ended is None else record.ended
    return [record.tell() for record in untold]
