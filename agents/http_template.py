"""A request with places for values in address, headers, query and body, as a tool or an http block states it.

What cannot be placed safely is refused: when the template is made, if it can be known then.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from agents.http_payload import Payload
from agents.http_request import HttpFailure, HttpRequest, Part, header_mistake, request
from agents.places import BadTemplate, Lookup, Missing, Place, Values, as_text, pieces
from agents.secrets import Secret

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})

_AUTHORITY = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_STEPS = frozenset({".", ".."})


@dataclass(frozen=True)
class HttpTemplate:
    """Checked when made: raises BadTemplate. `query` is added to what the address has.

    `body` is a JSON value (a string in it that is one place alone becomes that value with its type), or a
    text, whose places are escaped by the content type. Names in `singles` may stand in single braces in
    address and headers.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    singles: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", self.method.upper())
        if self.method not in METHODS:
            raise BadTemplate(f"the method {self.method[:20]!r} is none of {', '.join(sorted(METHODS))}")
        if self.body is not None and self.method in {"GET", "HEAD"}:
            raise BadTemplate(f"a {self.method} request has no body")
        authority = _AUTHORITY.match(self.url)
        if authority is None:
            raise BadTemplate("the address must begin with http:// or https:// and a host")
        if "{" in authority.group():
            raise BadTemplate("the host of an address cannot come from a value")
        for name in self.headers:
            if mistake := header_mistake(name):
                raise BadTemplate(mistake)
        self._payload.check()
        list(self.places())

    def places(self) -> Iterator[Place]:
        """Every place, secrets included. For whoever checks what a template refers to."""
        texts = [self.url, *self.headers.values()]
        found = [piece for text in texts for piece in pieces(text, self.singles)]
        found += [piece for text in self.query.values() for piece in pieces(text)]
        found += self._payload.pieces()
        return (piece for piece in found if isinstance(piece, Place))

    @property
    def _payload(self) -> Payload:
        return Payload(
            self.body, next((v for n, v in self.headers.items() if n.lower() == "content-type"), "")
        )

    def fill(
        self,
        lookup: Lookup,
        secrets: Mapping[str, Secret],
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> HttpRequest:
        """The request for these values, with `query` and a JSON `body` besides. Raises HttpFailure.

        A header or query parameter whose value is missing is left out; a path cannot do without.
        """
        values = Values(lookup, secrets)
        payload = self._payload if body is None else Payload(dict(body), "", literal=True)
        filled = payload.filled(values)
        headers = self._headers(values)
        if filled is not None and "content-type" not in {name.lower() for name in headers}:
            headers["Content-Type"] = Part(payload.content_type)
        return request(self.method, self._address(values, query or {}), headers, filled)

    def _headers(self, values: Values) -> dict[str, Part]:
        filled = {}
        for name, text in self.headers.items():
            try:
                filled[name] = values.filled(pieces(text, self.singles), as_text)
            except Missing:
                continue
        return filled

    def _address(self, values: Values, more: Mapping[str, Any]) -> Part:
        path, _, query = self.url.partition("#")[0].partition("?")
        parts = [self._path(values, path)]
        if query:
            known = Values(_or_nothing(values.lookup), values.secrets)
            parts.append(known.filled(pieces(query, self.singles), _in_url))
        for name, text in self.query.items():
            try:
                filled = values.filled(pieces(text), _in_url)
            except Missing:
                continue
            parts.append(Part(f"{_in_url(name)}={filled.text}", filled.secrets))
        parts += [Part(pair) for name, value in more.items() for pair in _pairs(name, value)]
        text = parts[0].text + "?" * (len(parts) > 1) + "&".join(part.text for part in parts[1:])
        return Part(text, frozenset().union(*(part.secrets for part in parts)))

    def _path(self, values: Values, path: str) -> Part:
        try:
            filled = values.filled(pieces(path, self.singles), _in_path)
        except Missing as error:
            raise HttpFailure(f"the address needs a value for {error}") from error
        steps = re.split(r"[/\\]", unquote(filled.text))
        if _STEPS.intersection(steps) - _STEPS.intersection(path.split("/")):
            raise HttpFailure("a value would lead the address to another path")
        return filled


def _or_nothing(lookup: Lookup) -> Lookup:
    def look(name: str) -> Any:
        try:
            return lookup(name)
        except LookupError:
            return None

    return look


def _in_url(value: Any) -> str:
    return quote(as_text(value), safe="")


def _in_path(value: Any) -> str:
    """An empty value would name another resource: the whole list instead of one of it."""
    text = as_text(value)
    if not text.strip():
        raise HttpFailure("a value in the path of the address is empty")
    return quote(text, safe="")


def _pairs(name: str, value: Any) -> list[str]:
    """A list repeats its name."""
    values = value if isinstance(value, list) else [value]
    return [f"{_in_url(name)}={_in_url(one)}" for one in values]
