"""JSON as vendors really send it: broken characters, lone surrogates, other types than documented. Pure."""

import json
from typing import Any


class Unreadable(ValueError):
    """Not JSON, not even with its broken characters replaced."""


def parse_json(payload: bytes) -> Any:
    """Read JSON; each broken byte becomes U+FFFD, lone surrogates stay in the strings. Raises Unreadable."""
    try:
        return json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)[:200]) from error


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def string(value: object) -> str:
    return value if isinstance(value, str) else ""


def number(value: object) -> int | None:
    """A whole number, also one written as a float or in quotes."""
    match value:
        case bool():
            return None
        case int():
            return value
        case float() if value.is_integer():
            return int(value)
        case str() if value.isascii() and value.isdigit() and len(value) < 20:
            return int(value)
        case _:
            return None
