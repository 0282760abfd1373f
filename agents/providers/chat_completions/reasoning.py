"""Reasoning in its spellings: what a person may read of a delta, and what the vendor wants back. Pure."""

from typing import Any

from agents.providers.base import ReplayPart
from agents.providers.chat_completions.chunks import Delta, Part
from streaming.text import clean_json

#: What grows over deltas, by the detail's type.
_GROWING = ("text", "summary", "data")


def reasoning_text(delta: Delta) -> str:
    """Return the reasoning of one delta once, however many spellings carry it."""
    return delta.reasoning_content or delta.reasoning or _details_text(delta.reasoning_details or ())


def thinking_text(part: Part) -> str:
    """Return the thinking of a part of a content list (Mistral)."""
    match part.thinking:
        case str(text):
            return text
        case list(parts):
            return "".join(inner.text or "" for inner in parts)
        case _:
            return part.text or ""


def _details_text(details: Any) -> str:
    return "".join(
        text
        for detail in details
        for text in (detail.get("text"), detail.get("summary"))
        if isinstance(text, str)
    )


class ReasoningDetails:
    """`reasoning_details` gathered: deltas of one detail joined, in their order, encrypted ones included."""

    def __init__(self) -> None:
        self._details: list[dict[str, Any]] = []

    def add(self, details: list[dict[str, Any]]) -> None:
        for detail in details:
            if self._details and _same(self._details[-1], detail):
                _join(self._details[-1], detail)
            else:
                self._details.append(dict(detail))

    def parts(self, model: str) -> list[ReplayPart]:
        """Return what goes back with the next request, to `model` only: another could not read it."""
        return [
            ReplayPart({"type": "reasoning_detail", "model": model, "detail": clean_json(detail)})
            for detail in self._details
        ]


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if other.get("type") == "reasoning.encrypted":
        return False
    return all(
        one.get(key) == other.get(key) or other.get(key) is None for key in ("type", "index", "id", "format")
    )


def _join(known: dict[str, Any], new: dict[str, Any]) -> None:
    for key, value in new.items():
        before = known.get(key)
        if key in _GROWING and isinstance(value, str) and isinstance(before, str):
            known[key] = before + value
        elif value:
            known[key] = value
