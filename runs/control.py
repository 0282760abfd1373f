"""The seam between whoever executes a run and whoever answers for it in the ledger. No database here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from streaming.codes import RunCode
from streaming.events import Usage


class CancelReason(StrEnum):
    """Why a run is ended from outside; what the row says follows from it."""

    USER = "user"
    DISCONNECT = "disconnect"
    TIMEOUT = "timeout"
    SHUTDOWN = "shutdown"
    #: The client read nothing for 30 s (agent-events-v1 section 4).
    STALLED = "stalled"


CANCEL_CODES: dict[CancelReason, RunCode] = {
    CancelReason.USER: RunCode.RUN_CANCELLED,
    CancelReason.DISCONNECT: RunCode.RUN_CANCELLED,
    CancelReason.STALLED: RunCode.RUN_CANCELLED,
    CancelReason.TIMEOUT: RunCode.RUN_TIMEOUT,
    CancelReason.SHUTDOWN: RunCode.RUN_INTERRUPTED,
}


@dataclass
class Facts:
    """What an execution has used so far: readable at any moment, also after it was closed by a disconnect."""

    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    rounds: int = 0
    tool_calls: int = 0
    stop_reason: str = ""


class RunControl:
    """Carries one cancel to an execution, and back what the execution has used. The first reason wins; later
    ones change nothing. Used on the event loop of the run only.
    """

    def __init__(self) -> None:
        #: Kept up to date by the execution; read by the supervisor when no `ExecutionEnded` could come.
        self.facts = Facts()
        self.reason: CancelReason | None = None
        self._callbacks: list[Callable[[CancelReason], None]] = []

    def cancel(self, reason: CancelReason) -> None:
        if self.reason is not None:
            return
        self.reason = reason
        for callback in self._callbacks:
            callback(reason)

    def on_cancel(self, callback: Callable[[CancelReason], None]) -> None:
        """Call `callback` once, at the cancel or now if it has happened. It must not block."""
        if self.reason is not None:
            callback(self.reason)
        else:
            self._callbacks.append(callback)


@dataclass(frozen=True)
class ExecutionEnded:
    """What an execution came to, before the ledger has decided. `code` None: success."""

    code: RunCode | None
    detail: str
    outputs: dict[str, dict[str, Any]]
    terminal_blocks: tuple[str, ...]
    usage: Usage
    cost: float | None
    rounds: int
    tool_calls: int
    stop_reason: str
    #: What conversation memory gets after a complete final turn; None: nothing.
    answer: str | None
