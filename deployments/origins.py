"""Which sites may talk to a chat. Pure: an origin is compared whole (scheme, host, port), never by pattern.

Listed sites get CORS headers but no cookies: there, visitor and grant travel in headers.
"""

import re
from collections.abc import Collection
from enum import Enum
from typing import NamedTuple

ALLOWED_METHODS = "GET, POST, DELETE, OPTIONS"
_ALLOWED_HEADERS = (
    "Content-Type, Idempotency-Key, X-Studio-Stream-Protocol, X-Studio-Conversation, X-Studio-Visitor, "
    "X-Studio-Access"
)
_EXPOSED_HEADERS = (
    "X-Studio-Stream-Protocol, X-Studio-Conversation, X-Studio-Visitor, X-Studio-Access, Retry-After"
)
_PREFLIGHT_SECONDS = "600"

_ORIGIN = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::(?P<port>[1-9][0-9]{0,4}))?",
    re.IGNORECASE | re.ASCII,
)
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    scheme: str
    host: str
    port: int


class Site(Enum):
    """Where a request comes from."""

    #: No `Origin`: a program, a plain link, or a browser reading from its own site.
    NONE = "none"
    OWN = "own"
    LISTED = "listed"
    FOREIGN = "foreign"


def parse(text: str) -> Origin | None:
    """Return what an origin says, or None if it is none (`null`, a path, a wildcard, another scheme)."""
    match = _ORIGIN.fullmatch(text)
    if match is None:
        return None
    scheme = match["scheme"].lower()
    port = int(match["port"]) if match["port"] else _DEFAULT_PORTS[scheme]
    return Origin(scheme, match["host"].lower(), port) if port < 65536 else None


def site(origin: str | None, own: Collection[str], listed: Collection[str]) -> Site:
    """Say where a request with this `Origin` header comes from; `own` are our own origins."""
    if origin is None:
        return Site.NONE
    asked = parse(origin)
    if asked is None:
        return Site.FOREIGN
    if asked in map(parse, own):
        return Site.OWN
    return Site.LISTED if asked in map(parse, listed) else Site.FOREIGN


def cors_headers(where: Site, origin: str | None) -> dict[str, str]:
    """The headers of any answer but a preflight's: refusals and streams carry them too."""
    headers = {"Vary": "Origin"}
    if where is Site.LISTED and origin is not None:
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS
    return headers


def preflight_headers(where: Site, origin: str | None) -> dict[str, str]:
    """The headers of the answer to `OPTIONS`."""
    headers = {**cors_headers(where, origin), "Allow": ALLOWED_METHODS}
    if where is Site.LISTED:
        headers.pop("Access-Control-Expose-Headers")
        headers["Access-Control-Allow-Methods"] = ALLOWED_METHODS
        headers["Access-Control-Allow-Headers"] = _ALLOWED_HEADERS
        headers["Access-Control-Max-Age"] = _PREFLIGHT_SECONDS
    return headers


def problem(entry: str) -> str | None:
    """Say what is wrong with an entry of the list; None: nothing."""
    if parse(entry) is not None:
        return None
    if "*" in entry:
        return f"{entry} has a wildcard: name each site on its own, like https://www.example.com."
    if parse(entry.rstrip("/")) is not None:
        return f"{entry} must end without a slash."
    return (
        f"{entry} is no origin: it must be like https://www.example.com, with a port only if it is unusual."
    )
