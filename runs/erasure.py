"""Erasing a conversation takes what was said out of the ledger too; runs and their cost stay counted."""

from django.db import transaction
from django.db.models import Q

from runs import ledger, registry
from runs.control import CancelReason
from runs.models import ACTIVE, Conversation, Run, TraceEntry
from streaming.codes import RunCode

_UNENDED = Q(status__in=ACTIVE)


def erase(conversation_id: str) -> bool:
    """Erase a conversation, its messages, and inputs, outputs and traces of its runs. False: there is none.

    An answer on its way is ended first: nothing of it is stored any more. From a view's thread; whether the
    caller may is the caller's question.
    """
    erased = ledger.nothing_ran(RunCode.RUN_CANCELLED, "Its conversation was erased.")
    with transaction.atomic():
        # Runs before their conversation, as where they end: two transactions never wait for each other.
        unended = Run.objects.filter(_UNENDED, conversation_id=conversation_id).values_list("pk", flat=True)
        live = [run_id for run_id in list(unended) if ledger.end_run(run_id, _UNENDED, erased)]
        if Conversation.objects.select_for_update().filter(pk=conversation_id).first() is None:
            return False
        TraceEntry.objects.filter(run__conversation_id=conversation_id).delete()
        Run.objects.filter(conversation_id=conversation_id).update(
            input={}, output={}, terminal_blocks=[], detail="", claim="", claimed_request=""
        )
        Conversation.objects.filter(pk=conversation_id).delete()
    for run_id in live:
        registry.cancel(run_id, CancelReason.USER)
    return True
