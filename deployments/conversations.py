"""A visitor's conversations of one chat: found by chat, visitor and id together, never by an id alone."""

from django.db import transaction

from deployments.models import ChatDeployment
from deployments.visitors import Visitor
from runs import registry
from runs.models import ACTIVE, Conversation, Run, TraceEntry
from runs.refusals import Refused
from streaming.codes import RefusalCode


def find(chat: ChatDeployment, visitor: Visitor | None, conversation_id: str) -> Conversation:
    found = None
    if visitor is not None and "\0" not in conversation_id:
        mine = Conversation.objects.filter(scope=chat.scope, owner=visitor.hash)
        found = mine.filter(pk=conversation_id).first()
    if found is None:
        raise Refused(RefusalCode.NOT_FOUND)
    return found


def erase(conversation: Conversation) -> None:
    """Delete what was said, and all of it that the ledger keeps; runs stay as numbers.

    An answer on its way is told to stop. While it goes on it would write again: CONVERSATION_BUSY.
    """
    for run_id in conversation.runs.filter(status__in=ACTIVE).values_list("pk", flat=True):
        registry.stop(run_id)
    with transaction.atomic():
        if conversation.runs.filter(status__in=ACTIVE).exists():
            raise Refused(RefusalCode.CONVERSATION_BUSY, retry_after=1)
        TraceEntry.objects.filter(run__conversation=conversation).delete()
        Run.objects.filter(conversation=conversation).update(
            input={}, output={}, detail="", claim="", claimed_request=""
        )
        conversation.delete()
