"""Secrets on their way into a request: bound to hosts, and never seen in what comes back. Pure."""

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus

from agents.addresses import normal_host

#: An escape of an address or of JSON, in a pattern.
_ESCAPE = re.compile(r"%[0-9A-F]{2}|\\\\u[0-9a-f]{4}")
#: Fewer characters of a secret than these tell nothing.
_TELLING = 4


@dataclass(frozen=True)
class Secret:
    """`hosts` are exact names, with or without a port: `orders.example.com`, `localhost:9000`."""

    name: str
    value: str = field(repr=False)
    hosts: tuple[str, ...]

    @property
    def placeholder(self) -> str:
        return f"{{{{secret:{self.name}}}}}"

    def may_go_to(self, host: str, port: int) -> bool:
        return any(_same(entry, host, port) for entry in self.hosts)


def _same(entry: str, host: str, port: int) -> bool:
    name, colon, stated = entry.rpartition(":")
    if colon and stated.isdigit() and not name.endswith(":"):
        return int(stated) == port and normal_host(name.strip("[]")) == normal_host(host)
    return normal_host(entry.strip("[]")) == normal_host(host)


class Mask:
    """Puts `{{secret:NAME}}` where a secret's value stands, in any form in which an endpoint may echo it."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        forms = {form: secret.placeholder for secret in secrets for form in _forms(secret.value) if form}
        #: Longest first: a form may contain another.
        self._forms = sorted(forms.items(), key=lambda item: -len(item[0]))
        self._pattern = re.compile("|".join(f"({_any_case(form)})" for form, _ in self._forms))

    def text(self, text: str, *, cut: bool = False) -> str:
        """`cut`: the text was cut off at its end, where the beginning of a secret may be left."""
        if not self._forms:
            return text
        text = self._pattern.sub(lambda match: self._forms[(match.lastindex or 1) - 1][1], text)
        return self._without_beginning(text) if cut else text

    def _without_beginning(self, text: str) -> str:
        for form, placeholder in self._forms:
            for length in range(len(form) - 1, min(_TELLING, len(form)) - 1, -1):
                if text.endswith(form[:length]):
                    return text[:-length] + placeholder
        return text


def _forms(value: str) -> set[str]:
    quoted = {quote(value, safe=""), quote(value), quote_plus(value)}
    escaped = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return {
        value,
        html.escape(value),
        *quoted,
        *escaped,
        *(form.replace("/", "\\/") for form in escaped),
    }


def _any_case(form: str) -> str:
    """A pattern for `form` in which the digits of an escape may be of either case."""
    return _ESCAPE.sub(lambda match: f"(?i:{match.group()})", re.escape(form))
