"""How runs begin, live and end in the ledger. Synchronous; called from views, and by the process's writer.

A run ends once: whoever wins the compare-and-set from `queued` or `running`, with the right attempt, decides
how. Finish, cancel, timeout and the reaper all go through it; who loses reads the row and says what it says.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, assert_never

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from msgspec import to_builtins

from runs import memory
from runs.control import ExecutionEnded
from runs.models import ACTIVE, Message, Run, Status
from runs.storable import storable
from streaming.codes import RunCode
from streaming.events import RunEnded, RunStatus, Usage

logger = logging.getLogger("studio.runs")

#: How long a run is believed to live without a sign of its process.
LEASE = timedelta(seconds=30)


@dataclass(frozen=True)
class Finish:
    """A run's end as its process knows it. `release`: what an Idempotency-Key claimed is free again."""

    run_id: str
    attempt: int
    ended: ExecutionEnded
    release: bool = False


def nothing_ran(code: RunCode, detail: str) -> ExecutionEnded:
    """Return the end of a run of which no usage is known."""
    return ExecutionEnded(
        code=code,
        detail=detail,
        outputs={},
        terminal_blocks=(),
        usage=Usage(),
        cost=None,
        rounds=0,
        tool_calls=0,
        stop_reason="",
        answer=None,
    )


def status_of(code: RunCode | None) -> Status:
    """A timeout and an interruption are failures; only a cancel is `cancelled` (section 6)."""
    if code is None:
        return Status.COMPLETED
    return Status.CANCELLED if code is RunCode.RUN_CANCELLED else Status.FAILED


def outcome(run: Run) -> RunEnded:
    """Return the terminal that the row of an ended run stands for."""
    if run.finished_at is None:
        raise ValueError(f"{run.pk} has not ended")
    began = run.started_at or run.created_at
    return RunEnded(
        run_id=run.pk,
        status=RunStatus(run.status),
        success=run.status == Status.COMPLETED,
        code=RunCode(run.code) if run.code else None,
        detail=run.detail,
        outputs=run.output,
        terminal_blocks=run.terminal_blocks,
        duration_ms=max(0, round((run.finished_at - began).total_seconds() * 1000)),
    )


# --- Begin and life -----------------------------------------------------------------------------------------


def start(runs: Mapping[str, int]) -> set[str]:
    """Make queued runs (id → attempt) `running`; return those that are. The others were ended before."""
    now = timezone.now()
    for attempt, ids in _by_attempt(runs):
        queued = Run.objects.filter(pk__in=ids, attempt=attempt, status=Status.QUEUED)
        queued.update(status=Status.RUNNING, started_at=now, lease_until=now + LEASE)
    return set(_held(runs).filter(status=Status.RUNNING).values_list("pk", flat=True))


def extend_leases(runs: Mapping[str, int]) -> set[str]:
    """Renew the leases of live runs (id → attempt); return those that are not ours any more."""
    for attempt, ids in _by_attempt(runs):
        ours = Run.objects.filter(pk__in=ids, attempt=attempt, status__in=ACTIVE)
        ours.update(lease_until=timezone.now() + LEASE)
    return set(runs) - live(runs)


def live(runs: Mapping[str, int]) -> set[str]:
    """Return those runs (id → attempt) that are still ours to write for."""
    return set(_held(runs).filter(status__in=ACTIVE).values_list("pk", flat=True))


def requested_cancels() -> set[str]:
    """Return the runs that somebody asked to stop, of every process: they are few."""
    asked = Run.objects.filter(status__in=ACTIVE, cancel_requested=True)
    return set(asked.values_list("pk", flat=True))


def _by_attempt(runs: Mapping[str, int]) -> Iterable[tuple[int, list[str]]]:
    for attempt in sorted(set(runs.values())):
        yield attempt, [run_id for run_id, its in runs.items() if its == attempt]


def _held(runs: Mapping[str, int]) -> QuerySet[Run]:
    ours = Q(pk__in=[])
    for attempt, ids in _by_attempt(runs):
        ours |= Q(attempt=attempt, pk__in=ids)
    return Run.objects.filter(ours)


# --- End ----------------------------------------------------------------------------------------------------


def finish(end: Finish) -> RunEnded:
    """End a run if nobody has; return what its row says then. Raises Run.DoesNotExist if it was erased."""
    held = Q(attempt=end.attempt, status__in=ACTIVE)
    with transaction.atomic():
        if not end_run(end.run_id, held, end.ended, release=end.release):
            _count_what_was_used(end)
        return outcome(Run.objects.get(pk=end.run_id))


def request_cancel(run_id: str) -> Run | None:
    """Stop a run at once if it has not begun, else ask its process to; return its row. Repeatable.

    None: there is no such run. Whether the caller may is the caller's question.
    """
    with transaction.atomic():
        unbegun = nothing_ran(RunCode.RUN_CANCELLED, "Stopped before it began.")
        if not end_run(run_id, Q(status=Status.QUEUED), unbegun):
            Run.objects.filter(pk=run_id, status=Status.RUNNING).update(cancel_requested=True)
        return Run.objects.filter(pk=run_id).first()


def reap(now: datetime) -> int:
    """End the runs whose lease is over; return how many. Safe to call from anywhere at any time."""
    reaped = 0
    over = Q(status__in=ACTIVE, lease_until__lt=now)
    for run_id, status in list(Run.objects.filter(over).values_list("pk", "status")[:1000]):
        with transaction.atomic():
            reaped += reap_run(run_id, Status(status), now)
    if reaped:
        logger.warning("%d runs whose process was gone have been ended.", reaped)
    return reaped


def reap_run(run_id: str, status: Status, now: datetime) -> bool:
    """End one run, seen in `status`, if its lease is over; return whether it was this call that did."""
    held = Q(status=status, lease_until__lt=now)
    if status == Status.QUEUED:
        left = nothing_ran(RunCode.RUN_CANCELLED, "The visitor left before the answer began.")
        return end_run(run_id, held, left, release=True)
    stopped = nothing_ran(RunCode.RUN_CANCELLED, "Stopped by its user; the process that ran it is gone.")
    if end_run(run_id, held & Q(cancel_requested=True), stopped):
        return True
    return end_run(run_id, held, nothing_ran(RunCode.RUN_INTERRUPTED, "The process that ran it is gone."))


def end_run(run_id: str, held: Q, ended: ExecutionEnded, *, release: bool = False) -> bool:
    """The compare-and-set: end the run if `held` is true of it, and write its mark into the conversation.

    Within a transaction. Returns whether it was this call that did.
    """
    now = timezone.now()
    columns = _columns(ended) | ({"claim": "", "claimed_request": ""} if release else {})
    if not Run.objects.filter(held, pk=run_id).update(finished_at=now, **columns):
        return False
    conversation_id = Run.objects.values_list("conversation_id", flat=True).get(pk=run_id)
    if conversation_id is not None:
        _remember(conversation_id, run_id, ended, now)
    return True


def _columns(ended: ExecutionEnded) -> dict[str, Any]:
    status = status_of(ended.code)
    return {
        "status": status,
        "code": ended.code or "",
        "detail": storable(ended.detail),
        "output": storable(ended.outputs),
        "terminal_blocks": list(ended.terminal_blocks),
        "stop_reason": "cancelled" if status == Status.CANCELLED else ended.stop_reason,
        **_used(ended),
    }


def _used(ended: ExecutionEnded) -> dict[str, Any]:
    return {
        "usage": {} if ended.usage == Usage() else to_builtins(ended.usage),
        "cost": ended.cost,
        "rounds": ended.rounds,
        "tool_calls": ended.tool_calls,
    }


def _count_what_was_used(end: Finish) -> None:
    """Who lost the compare-and-set still has spent something, which the winner could not know."""
    row = Run.objects.filter(pk=end.run_id, attempt=end.attempt, rounds=0, usage={})
    row.update(**_used(end.ended))


def _remember(conversation_id: str, run_id: str, ended: ExecutionEnded, at: datetime) -> None:
    status = status_of(ended.code)
    match status:
        case Status.COMPLETED if ended.answer is None:
            return
        case Status.COMPLETED:
            content, state = str(storable(ended.answer)), Message.State.COMPLETE
        case Status.CANCELLED:
            content, state = "", Message.State.STOPPED
        case Status.FAILED | Status.QUEUED | Status.RUNNING:
            content, state = "", Message.State.FAILED
        case _:
            assert_never(status)
    memory.append(conversation_id, Message.Role.ASSISTANT, content, run_id=run_id, at=at, state=state)
