"""The body of a request template: a JSON value or a text, each value escaped for where it stands. Pure."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from agents.http_request import Part
from agents.places import BadTemplate, Missing, Place, Values, as_text, pieces

_ESCAPED = re.compile(r"\\.")
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Payload:
    """`stated_type`: the content type that the template's headers state. `literal`: there are no places."""

    body: Any
    stated_type: str
    literal: bool = False

    @property
    def content_type(self) -> str:
        if self.stated_type:
            return self.stated_type
        json_like = not isinstance(self.body, str) or self.body.lstrip()[:1] in {"{", "["}
        return "application/json" if json_like else "text/plain; charset=utf-8"

    def check(self) -> None:
        """Raises BadTemplate if the body can never be valid."""
        if isinstance(self.body, str) and self._is_json:
            parts = [piece if isinstance(piece, str) else "0" for piece in pieces(self.body)]
            try:
                json.loads("".join(parts))
            except ValueError as error:
                raise BadTemplate("the body is not valid JSON where its values are put in") from error

    def pieces(self) -> list[str | Place]:
        return [] if self.literal else [piece for text in _texts(self.body) for piece in pieces(text)]

    def filled(self, values: Values) -> Part | None:
        """Raises HttpFailure. A missing value is left out of an object, else null or empty."""
        if self.body is None:
            return None
        if self.literal:
            return Part(_dump(self.body))
        secrets = values.used(self.pieces())
        if not isinstance(self.body, str):
            return Part(_dump(_value(self.body, values)), secrets)
        template = pieces(self.body)
        if self._is_json:
            return Part(_json_text(template, values), secrets)
        escape = quote_plus if self.stated_type.lower().startswith(_FORM) else str
        texts = [p if isinstance(p, str) else escape(as_text(_known(p, values))) for p in template]
        return Part("".join(texts), secrets)

    @property
    def _is_json(self) -> bool:
        kind = self.content_type.partition(";")[0].strip().lower()
        return kind == "application/json" or kind.endswith("+json")


_NOTHING = object()


def _value(template: Any, values: Values) -> Any:
    match template:
        case str():
            return _string(pieces(template), values)
        case list():
            return [None if item is _NOTHING else item for item in (_value(one, values) for one in template)]
        case dict():
            filled = {name: _value(one, values) for name, one in template.items()}
            return {name: item for name, item in filled.items() if item is not _NOTHING}
        case _:
            return template


def _string(template: list[str | Place], values: Values) -> Any:
    match template:
        case [Place() as place]:
            try:
                return values.of(place)
            except Missing:
                return _NOTHING
        case _:
            return "".join(p if isinstance(p, str) else as_text(_known(p, values)) for p in template)


def _json_text(template: list[str | Place], values: Values) -> str:
    """Inside quotes a value is part of that string; outside it is a JSON value of its own."""
    made, inside = [], False
    for piece in template:
        if isinstance(piece, str):
            inside ^= _ESCAPED.sub("", piece).count('"') % 2 == 1
            made.append(piece)
        else:
            value = _known(piece, values)
            made.append(_dump(as_text(value))[1:-1] if inside else _dump(value))
    return "".join(made)


def _known(place: Place, values: Values) -> Any:
    try:
        return values.of(place)
    except Missing:
        return None


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _texts(body: Any) -> Iterator[str]:
    match body:
        case str():
            yield body
        case list():
            for item in body:
                yield from _texts(item)
        case dict():
            for item in body.values():
                yield from _texts(item)
