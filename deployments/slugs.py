"""The address of a chat, `/chat/{slug}`: made from any title, unique, never one of our own words. Pure."""

from collections.abc import Callable
from itertools import chain, count

from django.utils.text import slugify

MAX_LENGTH = 100
#: Words of our own addresses, and those a visitor would take for ours.
RESERVED = frozenset(
    {
        "access",
        "admin",
        "api",
        "assets",
        "chat",
        "chats",
        "config",
        "conversations",
        "embed",
        "health",
        "login",
        "logout",
        "media",
        "metrics",
        "new",
        "preview",
        "static",
        "studio",
        "v1",
        "widget",
        "workflows",
        "ws",
    }
)


def is_reserved(slug: str) -> bool:
    return slug.lower() in RESERVED


def slug_for(title: str, taken: Callable[[str], bool]) -> str:
    """Return a free slug for a title. Those without a Latin letter or digit become `chat-1`, `chat-2`…"""
    base = slugify(title)[: MAX_LENGTH - 10].strip("-_")
    whole = [base] if base and not is_reserved(base) else []
    numbered = (f"{base or 'chat'}-{number}" for number in count(1 + len(whole)))
    return next(slug for slug in chain(whole, numbered) if not taken(slug))
