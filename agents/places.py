"""Texts with places for values: `{{name}}` and `{{secret:NAME}}`. Pure.

A value is data: it is escaped for its place by whoever fills it, and never read as a template again.
"""

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.http_request import HttpFailure, Part
from agents.secrets import Secret
from streaming.text import clean

#: What a name stands for. Raises LookupError if there is nothing of that name.
Lookup = Callable[[str], Any]

_DOUBLE = re.compile(r"\{\{\s*(?P<secret>secret:)?(?P<name>[\w.\-\[\]]+)\s*\}\}")
_ANY = re.compile(_DOUBLE.pattern + r"|\{(?P<single>[\w\-]+)\}")


class BadTemplate(ValueError):
    """The template can never be used; the message says why, for whoever saves it."""


class Missing(LookupError):
    """A place has no value. The message is its name."""


@dataclass(frozen=True)
class Place:
    name: str
    secret: bool = False


Pieces = Sequence[str | Place]


def pieces(text: str, singles: Container[str] = ()) -> list[str | Place]:
    """Split a template. Names in `singles` may also stand in single braces. Raises BadTemplate."""
    found: list[str | Place] = []
    position = 0
    for match in (_ANY if singles else _DOUBLE).finditer(text):
        single = match["single"] if singles else None
        if single is not None and single not in singles:
            continue
        found += [text[position : match.start()], Place(single or match["name"], bool(match["secret"]))]
        position = match.end()
    found.append(text[position:])
    for piece in found:
        if isinstance(piece, str) and "{{" in piece:
            raise BadTemplate(f"{piece[piece.index('{{') :][:40]!r} is no reference to a value")
    return [piece for piece in found if piece != ""]


@dataclass(frozen=True)
class Values:
    """What the places of one request stand for."""

    lookup: Lookup
    secrets: Mapping[str, Secret]

    def of(self, place: Place) -> Any:
        """Raises Missing; HttpFailure for a secret that does not exist."""
        if place.secret:
            return self._secret(place).value
        try:
            return self.lookup(place.name)
        except LookupError as error:
            raise Missing(place.name) from error

    def filled(self, template: Pieces, escape: Callable[[Any], str]) -> Part:
        """Raises Missing if a place has no value."""
        text = "".join(piece if isinstance(piece, str) else escape(self.of(piece)) for piece in template)
        return Part(text, self.used(template))

    def used(self, template: Pieces) -> frozenset[Secret]:
        places = (piece for piece in template if isinstance(piece, Place) and piece.secret)
        return frozenset(self._secret(place) for place in places)

    def _secret(self, place: Place) -> Secret:
        if place.name not in self.secrets:
            raise HttpFailure(f"the secret {place.name} does not exist")
        return self.secrets[place.name]


def as_text(value: Any) -> str:
    """A value as part of a text: strings as they are, nothing for null, else JSON."""
    if value is None:
        return ""
    return (
        clean(value)
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    )
