"""A visitor's conversations of one chat: found by chat, visitor and id together, never by an id alone."""

from deployments.models import ChatDeployment
from deployments.visitors import Visitor
from runs.models import Conversation
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
