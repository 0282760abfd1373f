"""A request with the secrets it holds, and where a redirect may take it. Pure.

A secret goes to its own hosts only, a body to the host it was meant for, whatever a server answers.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from yarl import URL

from agents.secrets import Mask, Secret

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAFE_METHODS = frozenset({"GET", "HEAD"})
#: What another host may see of the headers, secrets of its own apart.
_HARMLESS = frozenset({"accept", "accept-language", "user-agent"})
#: The client's own business.
FORBIDDEN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"}
    | {"accept-encoding", "proxy-authorization", "proxy-connection", "keep-alive", "cookie2"}
)
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
MAX_URL = 8192


class HttpFailure(Exception):
    """No usable answer came. The message may be read by a model; it holds no secret."""


@dataclass(frozen=True)
class Part:
    """A text of a request with the secrets that were put into it."""

    text: str = field(repr=False)
    secrets: frozenset[Secret] = frozenset()


@dataclass(frozen=True)
class HttpRequest:
    """What goes to one host. `body` None: no body. Make one with `request()`, which checks it."""

    method: str
    url: URL = field(repr=False)
    url_secrets: frozenset[Secret]
    headers: Mapping[str, Part]
    body: Part | None

    @property
    def host(self) -> str:
        return self.url.raw_host or ""

    @property
    def secrets(self) -> frozenset[Secret]:
        return self.url_secrets.union(*(part.secrets for part in self._parts()))

    def _parts(self) -> Iterator[Part]:
        yield from self.headers.values()
        if self.body is not None:
            yield self.body


def request(method: str, url: Part, headers: Mapping[str, Part], body: Part | None = None) -> HttpRequest:
    """A request whose parts have been checked, secrets against its host too. Raises HttpFailure."""
    for name, part in headers.items():
        if mistake := header_mistake(name):
            raise HttpFailure(mistake)
        if _CONTROL.search(part.text):
            raise HttpFailure(f"the value of the header {name} holds a line break or control character")
    made = HttpRequest(method.upper(), _address(url.text), url.secrets, dict(headers), body)
    for secret in made.secrets:
        if not _allowed(secret, made.url):
            raise HttpFailure(f"the secret {secret.name} may not be sent to {made.host}")
    return made


def header_mistake(name: str) -> str | None:
    """Why a header of this name cannot be set; None if it can."""
    if _HEADER_NAME.fullmatch(name) and name.lower() not in FORBIDDEN_HEADERS:
        return None
    return f"the header {name[:100]!r} cannot be set"


def redirected(sent: HttpRequest, status: int, location: str) -> HttpRequest:
    """The request that follows a redirect of `sent`. Raises HttpFailure where it may not be followed."""
    try:
        target = _address(str(sent.url.join(URL(location)).with_fragment(None)))
    except ValueError as error:
        raise HttpFailure("the answer redirects to something that is no address") from error
    if sent.url.scheme == "https" and target.scheme != "https":
        raise HttpFailure("the answer redirects from https to http, which is not followed")
    _refuse_carried_secrets(sent.secrets, location, target)
    method, body = _method_after(sent, status)
    same = _same_place(sent.url, target)
    if not same and (method not in _SAFE_METHODS or body is not None):
        raise HttpFailure(
            f"the answer redirects a {method} request to another host, where it is not repeated"
        )
    headers = {
        name: part
        for name, part in sent.headers.items()
        if (same or _may_follow(name, part, target)) and (body is not None or name.lower() != "content-type")
    }
    return replace(sent, method=method, url=target, url_secrets=frozenset(), headers=headers, body=body)


def _address(text: str) -> URL:
    if len(text) > MAX_URL:
        raise HttpFailure("the address is too long")
    try:
        url = URL(text)
        valid = url.scheme in {"http", "https"} and bool(url.raw_host) and url.port is not None
    except ValueError as error:
        raise HttpFailure("the address is not valid") from error
    if not valid:
        raise HttpFailure("the address is not one of http or https")
    if url.raw_user or url.raw_password:
        raise HttpFailure("an address may not hold a user name or password; use a header")
    return url


def _method_after(sent: HttpRequest, status: int) -> tuple[str, Part | None]:
    if status in {307, 308} or sent.method in _SAFE_METHODS:
        return sent.method, sent.body
    if status == 303 or sent.method == "POST":
        return "GET", None
    return sent.method, sent.body


def _same_place(here: URL, there: URL) -> bool:
    """The same origin, or the same host with TLS added on the usual ports."""
    upgraded = (here.scheme, here.port, there.scheme, there.port) == ("http", 80, "https", 443)
    return here.raw_host == there.raw_host and (here.origin() == there.origin() or upgraded)


def _may_follow(name: str, part: Part, target: URL) -> bool:
    """Whether a header may go to another host: its secrets say so, or it is harmless."""
    if part.secrets:
        return all(_allowed(secret, target) for secret in part.secrets)
    return name.lower() in _HARMLESS


def _allowed(secret: Secret, url: URL) -> bool:
    return secret.may_go_to(url.raw_host or "", url.port or 0)


def _refuse_carried_secrets(secrets: frozenset[Secret], location: str, target: URL) -> None:
    for secret in secrets:
        if Mask([secret]).text(location) != location and not _allowed(secret, target):
            raise HttpFailure(f"the answer redirects with the secret {secret.name} to another host")
