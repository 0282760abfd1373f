"""Between an execution and whoever listens: passes its events through, and answers for it in the ledger.

However an execution ends, its row ends; the terminal a listener gets is made from that row. No database here:
all that is stored goes to the process's writer.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace

from django.utils import timezone

from runs import registry, writer
from runs.admission import Ticket
from runs.batches import Result
from runs.control import CANCEL_CODES, CancelReason, ExecutionEnded, RunControl
from runs.ledger import Finish, nothing_ran
from runs.trace import Trace
from runs.writer import Writer
from streaming.codes import RunCode
from streaming.events import RunEvent

logger = logging.getLogger("studio.runs")

Execute = Callable[[RunControl], AsyncGenerator[RunEvent | ExecutionEnded, None]]

DETAILS: dict[CancelReason, str] = {
    CancelReason.USER: "Stopped by its user.",
    CancelReason.DISCONNECT: "The client went away.",
    CancelReason.STALLED: "The client stopped reading.",
    CancelReason.TIMEOUT: "It took longer than allowed.",
    CancelReason.SHUTDOWN: "The server was stopped.",
}

#: Nobody got an answer: the same request may come again under its Idempotency-Key.
RELEASING = frozenset({CancelReason.DISCONNECT, CancelReason.STALLED})


async def supervise(ticket: Ticket, execute: Execute) -> AsyncGenerator[RunEvent, None]:
    """Run an admitted run and yield its events, then exactly one `RunEnded`.

    Closing it (a disconnect) closes the execution and ends the run as cancelled, with what it has used.
    """
    control, pen = RunControl(), writer.current()
    trace = Trace(thinking=ticket.trace_thinking, clock=timezone.now)
    ended: ExecutionEnded | None = None
    with registry.current().live(ticket.run_id, ticket.attempt, control):
        _begin(ticket, control, pen)
        try:
            with _deadline(ticket, control):
                async with aclosing(execute(control)) as events:
                    async for event in events:
                        if isinstance(event, ExecutionEnded):
                            ended = event
                            break
                        if entries := trace.add(event):
                            pen.record(ticket.run_id, ticket.attempt, entries)
                        yield event
        except (GeneratorExit, asyncio.CancelledError):
            _store_rest(ticket, trace, pen)
            pen.finish_soon(_left(ticket, control))
            raise
        except Exception as error:
            logger.exception("Run %s broke.", ticket.run_id)
            ended = _broke(control, f"{type(error).__name__}: {error}")
        _store_rest(ticket, trace, pen)
        ended = ended or _broke(control, "The execution stopped without an end.")
        terminal = await pen.finish(_end(ticket, ended, control.reason))
    yield terminal


def _begin(ticket: Ticket, control: RunControl, pen: Writer) -> None:
    """Mark the run as running. Nobody waits for it; if it was ended before, by its row, it is cancelled."""

    def heed(started: asyncio.Future[Result]) -> None:
        if not started.cancelled() and not started.result():
            control.cancel(CancelReason.USER)

    pen.start(ticket.run_id, ticket.attempt).add_done_callback(heed)


@contextmanager
def _deadline(ticket: Ticket, control: RunControl) -> Iterator[None]:
    if ticket.max_seconds is None:
        yield
        return
    loop = asyncio.get_running_loop()
    timer = loop.call_later(ticket.max_seconds, control.cancel, CancelReason.TIMEOUT)
    try:
        yield
    finally:
        timer.cancel()


def _store_rest(ticket: Ticket, trace: Trace, pen: Writer) -> None:
    if entries := trace.close():
        pen.record(ticket.run_id, ticket.attempt, entries)


def _left(ticket: Ticket, control: RunControl) -> Finish:
    """Return the end of a run whose stream was closed; an earlier cancel is still the reason."""
    reason = control.reason or CancelReason.DISCONNECT
    return _end(ticket, _used_so_far(control, CANCEL_CODES[reason], DETAILS[reason]), reason)


def _broke(control: RunControl, detail: str) -> ExecutionEnded:
    return _used_so_far(control, RunCode.AGENT_RUN_FAILED, detail)


def _end(ticket: Ticket, ended: ExecutionEnded, reason: CancelReason | None) -> Finish:
    unanswered = ended.code is RunCode.RUN_CANCELLED and reason in RELEASING
    return Finish(ticket.run_id, ticket.attempt, ended, release=unanswered)


def _used_so_far(control: RunControl, code: RunCode, detail: str) -> ExecutionEnded:
    facts = control.facts
    return replace(
        nothing_ran(code, detail),
        usage=facts.usage,
        cost=facts.cost,
        rounds=facts.rounds,
        tool_calls=facts.tool_calls,
        stop_reason=facts.stop_reason,
    )
