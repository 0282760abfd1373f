"""What a conversation remembers (agent-events-v1 section 7): what users said, and final answers; never more.

A stopped or failed answer leaves a mark without its text.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Max

from agents import conversation
from runs.models import Conversation, Message

#: How a model reads an answer of which only a mark was kept. Many models refuse two user messages in a row.
MARKS = {
    Message.State.STOPPED: "[This answer was stopped.]",
    Message.State.FAILED: "[This answer failed.]",
}


def append(
    conversation_id: str,
    role: Message.Role,
    content: str,
    *,
    run_id: str,
    at: datetime,
    state: Message.State = Message.State.COMPLETE,
) -> None:
    """Store a message as the conversation's last, in a transaction; nothing if it was erased meanwhile."""
    # The update comes first: it waits for an erasure that is under way.
    if not Conversation.objects.filter(pk=conversation_id).update(updated_at=at):
        return
    messages = Message.objects.filter(conversation_id=conversation_id)
    last: int | None = messages.aggregate(last=Max("position"))["last"]
    Message.objects.create(
        conversation_id=conversation_id,
        run_id=run_id,
        role=role,
        content=content,
        status=state,
        position=0 if last is None else last + 1,
        created_at=at,
    )


def history(conversation_id: str, last: int | None = None) -> list[conversation.Message]:
    """Return what was said so far, oldest first, as a model reads it; only the `last` messages if given."""
    stored = Message.objects.filter(conversation_id=conversation_id).order_by("-position")
    rows = stored.values_list("role", "content", "status")[:last]
    return window([_message(*row) for row in reversed(rows)], last)


def window(messages: Sequence[conversation.Message], last: int | None) -> list[conversation.Message]:
    """Return the `last` messages (None: all), without an answer at their begin whose question is cut off."""
    kept = list(messages if last is None else messages[max(0, len(messages) - last) :])
    while kept and not isinstance(kept[0], conversation.UserMessage):
        kept.pop(0)
    return kept


def _message(role: str, content: str, status: str) -> conversation.Message:
    if role == Message.Role.USER:
        return conversation.UserMessage(content)
    return conversation.AssistantMessage(content or MARKS.get(Message.State(status), ""))
