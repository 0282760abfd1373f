"""What the writer's thread does with a batch: one transaction for all of it, or each row by itself.

A row that cannot be written harms only its own run.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction

from runs import ledger
from runs.control import ExecutionEnded
from runs.ledger import Finish
from runs.models import TraceEntry
from runs.storable import storable
from runs.trace import Entry
from streaming.codes import RunCode
from streaming.events import RunEnded, RunStatus

logger = logging.getLogger("studio.runs")


@dataclass(frozen=True)
class Start:
    """A queued run begins. Its result: whether it may go on."""

    run_id: str
    attempt: int


@dataclass(frozen=True)
class Record:
    """Lines for a run's trace, dropped if it has ended or is another attempt's. Its result says nothing."""

    run_id: str
    attempt: int
    entries: Sequence[Entry]


Work = Start | Record | Finish
Result = bool | RunEnded


class Unreachable(Exception):
    """The database does not answer at all: the batch may be tried again."""


def write(works: Sequence[Work]) -> list[Result]:
    """Write a batch in order and return a result for each, also for those that failed. Raises Unreachable."""
    try:
        with transaction.atomic():
            return _apply(works)
    except Exception as error:
        if isinstance(error, OperationalError | InterfaceError) and not _answers():
            raise Unreachable(str(error)) from error
        if len(works) > 1:
            return [result for work in works for result in write([work])]
        return [_failed(works[0], error)]


def _apply(works: Sequence[Work]) -> list[Result]:
    starting = {work.run_id: work.attempt for work in works if isinstance(work, Start)}
    running = ledger.start(starting) if starting else set()
    _record([work for work in works if isinstance(work, Record)])
    results: list[Result] = []
    for work in works:
        match work:
            case Start():
                results.append(work.run_id in running)
            case Record():
                results.append(True)
            case Finish():
                results.append(ledger.finish(work))
    return results


def _record(records: Sequence[Record]) -> None:
    if records:
        live = ledger.live({record.run_id: record.attempt for record in records})
        rows = [row for record in records if record.run_id in live for row in _rows(record)]
        # Conflicts are rows of a batch whose commit was done, but not heard of.
        TraceEntry.objects.bulk_create(rows, ignore_conflicts=True)


def _rows(record: Record) -> list[TraceEntry]:
    return [
        TraceEntry(
            run_id=record.run_id,
            seq=entry.seq,
            block_id=storable(entry.block_id)[:100],
            kind=entry.kind,
            data=storable(entry.data),
            at=entry.at,
        )
        for entry in record.entries
    ]


def _failed(work: Work, error: Exception) -> Result:
    """Return the result of a row that cannot be written; a run's end is tried once more, without content."""
    logger.error("A row of run %s could not be written.", work.run_id, exc_info=error)
    match work:
        case Start() | Record():
            return True  # the run goes on; how it ends is decided by its end
        case Finish():
            detail = f"Its result could not be stored: {error}"
            try:
                return ledger.finish(replace(work, ended=unstorable(work.ended, detail)))
            except Exception as again:
                return unstored(work, str(again))


def unstorable(ended: ExecutionEnded, detail: str) -> ExecutionEnded:
    """Return an end to store instead of the real one: failed, with what was used and without content."""
    return replace(
        ended, code=RunCode.AGENT_RUN_FAILED, detail=detail, outputs={}, terminal_blocks=(), answer=None
    )


def unstored(end: Finish, detail: str) -> RunEnded:
    """Return the terminal of a run whose row cannot be reached: its stream still has to end."""
    return RunEnded(
        run_id=end.run_id,
        status=RunStatus.FAILED,
        success=False,
        code=RunCode.AGENT_RUN_FAILED,
        detail=detail,
        outputs={},
        terminal_blocks=(),
        duration_ms=0,
    )


def _answers() -> bool:
    """Whether the database answers on a new connection."""
    connection.close()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        return False
    return True
