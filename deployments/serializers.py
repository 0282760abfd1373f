"""What a chat's endpoints read and write as JSON, exactly as agent-events-v1 section 12 has it."""

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from deployments.models import ChatDeployment
from deployments.theme import theme
from runs.models import Message
from runs.refusals import Refused
from streaming.codes import RefusalCode

Body = TypeVar("Body", bound=msgspec.Struct)


class MessageBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """`POST /api/chat/{slug}`"""

    input: str
    conversation_id: str | UnsetType = UNSET
    password: str | UnsetType = UNSET


class AccessBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`POST /api/chat/{slug}/access`"""

    password: str


def read(kind: type[Body], body: dict[str, Any]) -> Body:
    """Return the body as `kind`; unknown keys and values of any other type are INVALID_BODY."""
    try:
        return msgspec.convert(body, kind, strict=True)
    except msgspec.ValidationError as error:
        raise Refused(RefusalCode.INVALID_BODY, str(error)) from error


def locked_config(chat: ChatDeployment) -> dict[str, Any]:
    """What everybody may know of a chat that exists."""
    return {"title": chat.title, "access": {"mode": chat.access_mode}, "locale": chat.locale or None}


def config(chat: ChatDeployment) -> dict[str, Any]:
    """What a visitor with access may know."""
    return {
        **locked_config(chat),
        "welcome": chat.welcome,
        "suggestions": chat.suggestions,
        "theme": theme(chat.theme_color).as_json(),
        "includeThinking": chat.include_thinking,
        "includeToolCalls": chat.include_tool_calls,
    }


def conversation(conversation_id: str, messages: Iterable[Message]) -> dict[str, Any]:
    """A visitor's own conversation, oldest message first; never thinking nor tools."""
    return {"id": conversation_id, "messages": [_message(message) for message in messages]}


def _message(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "role": message.role,
        "content": message.content,
        "status": message.status,
        "created_at": message.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
