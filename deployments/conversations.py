"""A visitor's conversations of one chat: found by chat, visitor and id together, never by an id alone."""

from deployments.models import ChatDeployment
from deployments.visitors import Visitor
from runs import registry
from runs.models import ACTIVE, Conversation
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
    """Delete what was said, and what the ledger kept of it; an answer on its way is stopped first."""
    for run in conversation.runs.all():
        if run.status in ACTIVE:
            registry.stop(run.pk)
    conversation.delete()
