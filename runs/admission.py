"""The only door to a run: one short transaction that finds room for it, its conversation, and writes it down.

A refused request leaves nothing behind. An admitted one leaves a queued run with a lease, so that a visitor
who is gone before the answer begins holds nothing for long.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from agents.conversation import Message as ModelMessage
from runs import gate, idempotency, ledger, memory
from runs.idempotency import Claim
from runs.models import ACTIVE, Conversation, Message, Run, Status, Surface
from runs.refusals import Refused
from runs.storable import storable
from streaming.codes import RefusalCode


@dataclass(frozen=True)
class Room:
    """At most `most` live runs among those that `where` selects, e.g. `{"chat_id": …, "visitor": …}`."""

    where: Mapping[str, Any]
    most: int


@dataclass(frozen=True)
class ConversationRef:
    """Whose conversation it is (see models.Conversation), and which: by its id, else by a name that makes one
    at its first use, else a new one."""

    scope: str
    owner: str = ""
    id: str = ""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class NewRun:
    """What is to run and for whom, as the row keeps it. `said` goes into the conversation, if there is one.

    `recall`: how many messages of it any block wants (None: all). `trace_thinking`: the policy has it on.
    """

    surface: Surface
    said: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    workflow_id: UUID | None = None
    workflow_slug: str = ""
    workflow_version: int | None = None
    chat_id: UUID | None = None
    chat_slug: str = ""
    credential_id: str = ""
    visitor: str = ""
    address: str = ""
    recall: int | None = None
    trace_thinking: bool = False
    max_seconds: float | None = None


@dataclass(frozen=True)
class Ticket:
    """An admitted run: all that its stream needs of the database. `history` ends before what was said now."""

    run_id: str
    attempt: int
    conversation_id: str | None
    history: tuple[ModelMessage, ...]
    trace_thinking: bool
    max_seconds: float | None


def admit_run(
    new: NewRun,
    *,
    lock: QuerySet[Any] | None = None,
    rooms: Sequence[Room] = (),
    conversation: ConversationRef | None = None,
    claim: Claim | None = None,
) -> Ticket:
    """Admit a run, or raise Refused: RATE_LIMITED (no room), NOT_FOUND (not this owner's conversation, or
    `lock` finds nothing), CONVERSATION_BUSY, IDEMPOTENCY_*.

    `lock` selects the row whose rooms are counted, so that two requests never take the last one together.
    Rates are counted before this (`rates.count`), and settled claims answered (`idempotency.settled`).
    """
    now = timezone.now()
    with gate.turn(), transaction.atomic():
        _lock(lock)
        if claim is not None and idempotency.settled(claim, now) is not None:
            raise Refused(RefusalCode.IDEMPOTENCY_IN_PROGRESS)  # it ended this very moment: come again
        _find_room(rooms, now)
        found = _find_conversation(conversation, now)
        history = _history(found, new.recall)
        run = _create(new, found, claim, now)
        if found is not None:
            memory.append(found.pk, Message.Role.USER, storable(new.said), run_id=run.pk, at=now)
    return Ticket(
        run_id=run.pk,
        attempt=run.attempt,
        conversation_id=None if found is None else found.pk,
        history=history,
        trace_thinking=new.trace_thinking,
        max_seconds=new.max_seconds,
    )


def _lock(rows: QuerySet[Any] | None) -> None:
    # SQLite knows no row locks; there the transaction has begun with the database's one write lock.
    if rows is not None and not list(rows.select_for_update(no_key=True).values_list("pk")):
        raise Refused(RefusalCode.NOT_FOUND, "What was to run is gone.")


def _find_room(rooms: Sequence[Room], now: datetime) -> None:
    """Count live runs only: a lease that is over holds no place, whether the reaper came by or not."""
    live = Run.objects.filter(status__in=ACTIVE, lease_until__gt=now)
    counts = {f"room_{number}": Count("pk", filter=Q(**room.where)) for number, room in enumerate(rooms)}
    taken = live.aggregate(**counts) if counts else {}
    for number, room in enumerate(rooms):
        if taken[f"room_{number}"] >= room.most:
            raise Refused(RefusalCode.RATE_LIMITED, f"{room.most} runs at once: {', '.join(room.where)}")


def _find_conversation(ref: ConversationRef | None, now: datetime) -> Conversation | None:
    if ref is None:
        return None
    mine = Conversation.objects.filter(scope=ref.scope, owner=ref.owner)
    if ref.id:
        found = mine.filter(pk=ref.id).first()
        if found is None:
            raise Refused(RefusalCode.NOT_FOUND, "No such conversation of this owner.")
    elif ref.name:
        found, _ = mine.get_or_create(scope=ref.scope, owner=ref.owner, name=ref.name)
    else:
        return Conversation.objects.create(scope=ref.scope, owner=ref.owner)
    _await_turn(found, now)
    # Everywhere runs are locked before their conversation: no two transactions wait for each other.
    if not mine.select_for_update(no_key=True).filter(pk=found.pk):
        raise Refused(RefusalCode.NOT_FOUND, "The conversation has just been erased.")
    return found


def _await_turn(conversation: Conversation, now: datetime) -> None:
    """Refuse while an answer is on its way; an answer that nobody writes any more is ended here."""
    for run_id, status in conversation.runs.filter(status__in=ACTIVE).values_list("pk", "status"):
        if not ledger.reap_run(run_id, Status(status), now):
            raise Refused(RefusalCode.CONVERSATION_BUSY)


def _history(conversation: Conversation | None, recall: int | None) -> tuple[ModelMessage, ...]:
    if conversation is None or recall == 0:
        return ()
    return tuple(memory.history(conversation.pk, recall))


def _create(new: NewRun, conversation: Conversation | None, claim: Claim | None, now: datetime) -> Run:
    run = Run(
        surface=new.surface,
        status=Status.QUEUED,
        lease_until=now + ledger.LEASE,
        workflow_id=new.workflow_id,
        workflow_slug=new.workflow_slug,
        workflow_version=new.workflow_version,
        chat_id=new.chat_id,
        chat_slug=new.chat_slug,
        credential_id=new.credential_id,
        visitor=new.visitor,
        address=new.address,
        conversation=conversation,
        policy=storable(new.policy),
        input=storable(new.input),
        claim="" if claim is None else claim.key,
        claimed_request="" if claim is None else claim.request,
        created_at=now,
    )
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError as error:
        # Another request was faster by a moment: the constraints hold what the checks above could not see.
        if claim is not None and Run.objects.filter(claim=claim.key).exists():
            raise Refused(RefusalCode.IDEMPOTENCY_IN_PROGRESS) from error
        raise Refused(RefusalCode.CONVERSATION_BUSY) from error
    return run
