"""The one client for addresses that a workflow names: HTTP tools, http blocks, later MCP.

Each request has a connection of its own, checked by the address it really goes to, and closed with it:
nothing is kept between requests, and a cancelled one leaves nothing open. Proxy variables are ignored.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.resolver import ThreadedResolver

from agents.addresses import AddressPolicy
from agents.http_body import Inflater, UnknownEncoding, decoded
from agents.http_request import REDIRECTS, HttpFailure, HttpRequest, redirected
from agents.secrets import Mask
from streaming.text import clean

MAX_REDIRECTS = 5
MAX_BODY = 1024 * 1024
TIMEOUT = 30.0

_OWN_HEADERS = {"User-Agent": "Studio", "Accept": "*/*", "Accept-Encoding": "gzip, deflate"}


@dataclass(frozen=True)
class HttpResponse:
    """An answer, fit to be shown: secrets of its request are masked.

    `text` is a description in brackets if the body `is_text` not; `cut` if it was longer than the limit.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    content_type: str
    text: str
    is_text: bool
    cut: bool


@dataclass(frozen=True)
class _Answer:
    """What one exchange brought, raw. `body` is read of the last one only."""

    status: int
    reason: str
    headers: Mapping[str, str]
    location: str | None
    kind: str
    charset: str | None
    length: int | None
    body: bytes
    cut: bool


class HttpClient:
    """`resolver` makes the name resolver of a connection; the system's by default."""

    def __init__(
        self, policy: AddressPolicy, resolver: Callable[[], AbstractResolver] = ThreadedResolver
    ) -> None:
        self._policy = policy
        self._resolver = resolver

    async def send(
        self, request: HttpRequest, *, timeout: float = TIMEOUT, limit: int = MAX_BODY
    ) -> HttpResponse:
        """Send, follow redirects, read at most `limit` bytes, all within `timeout` seconds.

        Raises HttpFailure if no answer came of it; an answer of any status is an answer.
        """
        mask = Mask(request.secrets)
        try:
            async with asyncio.timeout(timeout):
                answer = await self._follow(request, limit)
        except TimeoutError as error:
            raise HttpFailure(f"no answer within {timeout:g} seconds") from error
        return _shown(answer, mask, limit)

    async def _follow(self, request: HttpRequest, limit: int) -> _Answer:
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._exchange(request, limit)
            if answer.location is None:
                return answer
            request = redirected(request, answer.status, answer.location)
        raise HttpFailure(f"the answer redirects more than {MAX_REDIRECTS} times")

    async def _exchange(self, request: HttpRequest, limit: int) -> _Answer:
        gate = _Gate(self._policy, request.host)
        connector = aiohttp.TCPConnector(
            resolver=self._resolver(), socket_factory=gate.open, use_dns_cache=False, force_close=True
        )
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
            trust_env=False,
        )
        call = session.request(**_rendered(request), allow_redirects=False)
        async with session, _mapped_errors(gate), call as response:
            return await _read(response, limit)


class _Gate:
    """Opens the sockets of one exchange, to permitted addresses only."""

    def __init__(self, policy: AddressPolicy, host: str) -> None:
        self._policy = policy
        self.host = host
        self.refused = False

    def open(self, address: tuple[Any, ...]) -> socket.socket:
        """Called with a `getaddrinfo` entry right before the socket connects to it."""
        family, type_, proto, _, target = address
        if not self._policy.permits(self.host, target[0]):
            self.refused = True
            raise OSError("address not permitted")
        return socket.socket(family, type_, proto)


def _rendered(request: HttpRequest) -> dict[str, Any]:
    headers = _OWN_HEADERS | {name.title(): part.text for name, part in request.headers.items()}
    data = None if request.body is None else request.body.text.encode()
    return {"method": request.method, "url": request.url, "headers": headers, "data": data}


async def _read(response: aiohttp.ClientResponse, limit: int) -> _Answer:
    location = response.headers.get("Location") if response.status in REDIRECTS else None
    body, cut = (b"", False) if location is not None else await _body(response, limit)
    return _Answer(
        status=response.status,
        reason=clean(response.reason or ""),
        headers={clean(name.lower()): clean(value) for name, value in response.headers.items()},
        location=location,
        kind=clean(response.content_type.lower()),
        charset=response.charset,
        length=response.content_length,
        body=body,
        cut=cut,
    )


async def _body(response: aiohttp.ClientResponse, limit: int) -> tuple[bytes, bool]:
    """The body as far as the limit, and whether there is more of it."""
    inflater = Inflater(response.headers.get("Content-Encoding", ""))
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += inflater.feed(chunk, limit + 1 - len(body))
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


def _shown(answer: _Answer, mask: Mask, limit: int) -> HttpResponse:
    text = decoded(answer.body, answer.kind, answer.charset)
    if text is None:
        shown = _described(answer, limit)
    else:
        shown = mask.text(text, cut=answer.cut)
        if answer.cut:
            shown += f"\n[cut: the answer is longer than {limit} bytes]"
    return HttpResponse(
        status=answer.status,
        reason=mask.text(answer.reason),
        headers={mask.text(name): mask.text(value) for name, value in answer.headers.items()},
        content_type=mask.text(answer.kind),
        text=shown,
        is_text=text is not None,
        cut=answer.cut,
    )


def _described(answer: _Answer, limit: int) -> str:
    if not answer.cut:
        size = f"{len(answer.body)} bytes"
    else:
        size = f"more than {limit} bytes" if answer.length is None else f"{answer.length} bytes"
    return f"[no text: {answer.kind}, {size}]"


@asynccontextmanager
async def _mapped_errors(gate: _Gate) -> AsyncIterator[None]:
    """Turn what the library raises into HttpFailure, without its own texts: they may quote the address."""
    try:
        yield
    except UnknownEncoding as error:
        raise HttpFailure(str(error)) from error
    except aiohttp.ClientConnectorDNSError as error:
        raise HttpFailure(f"the name {gate.host} cannot be resolved") from error
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError) as error:
        raise HttpFailure(f"no trusted TLS connection to {gate.host} can be made") from error
    except aiohttp.ClientConnectorError as error:
        raise HttpFailure(_not_connected(gate)) from error
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionError) as error:
        raise HttpFailure(f"{gate.host} broke the connection off") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise HttpFailure(f"the request to {gate.host} failed ({type(error).__name__})") from error


def _not_connected(gate: _Gate) -> str:
    if gate.refused:
        return f"{gate.host} is not at a public address, and not in the allowed networks"
    return f"no connection to {gate.host} can be made"
