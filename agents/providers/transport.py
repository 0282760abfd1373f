"""The sockets under the official SDK: aiohttp, one pool of connections an event loop. Imported at first use.

The address really connected to is checked, whatever a name, a redirect or a resolver says; proxy variables
are ignored; redirects are answers. There is no read timeout: TCP keep-alive finds peers that are gone.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

import aiohttp
import httpx2
import openai
from yarl import URL

from agents.addresses import is_metadata

CONNECT_SECONDS = 10.0
#: An idle connection waits that long for the next model call.
KEEP_ALIVE_SECONDS = 60.0
#: For the body of a refusal, which is read whole before anything is said.
REFUSAL_SECONDS = 10.0
MAX_REFUSAL_BYTES = 256 * 1024

#: Made once, at import, which happens in a thread: it reads files.
_TLS: ssl.SSLContext = httpx2.create_ssl_context(trust_env=True)

_KEEP_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 6))


class AddressRefused(openai.OpenAIError):
    """The address is one where clouds tell a machine its own credentials. Not worth a retry."""


class Body(httpx2.AsyncByteStream):
    """A response body as it arrives. `read` is what streams use: one call a read, no generators between."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def read(self) -> bytes:
        """Return what has arrived, waiting for it; b"" at the end."""
        return await self._response.content.readany()

    @property
    def at_end(self) -> bool:
        """Nothing more can come, known without waiting."""
        return self._response.content.at_eof()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Read a refusal, bounded: the SDK reads it whole."""
        left = MAX_REFUSAL_BYTES
        while left > 0:
            async with asyncio.timeout(REFUSAL_SECONDS):
                data = await self.read()
            if not data:
                return
            yield data[:left]
            left -= len(data)

    async def aclose(self) -> None:
        """Give a finished connection back; close one that still sends at once."""
        if self.at_end:
            self._response.release()
        else:
            self._response.close()


class Transport(httpx2.AsyncBaseTransport):
    """httpx's seam over one aiohttp session. Must be made on the loop that uses it."""

    def __init__(self) -> None:
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS, ssl=_TLS, socket_factory=open_socket
        )
        self._session = aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        with _mapped_errors():
            response = await self._session.request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=request.headers.multi_items(),
                data=await request.aread() or None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
            )
        body = Body(response)
        return httpx2.Response(
            response.status,
            # aiohttp has undone the encoding already.
            headers=[(k, v) for k, v in response.raw_headers if k.lower() != b"content-encoding"],
            stream=body,
            request=request,
            extensions={"body": body},
        )

    async def aclose(self) -> None:
        await self._session.close()


def open_socket(address: tuple[Any, ...]) -> socket.socket:
    """Called with a `getaddrinfo` entry right before the socket connects to it."""
    family, kind, protocol, _, target = address
    if is_metadata(ip_address(str(target[0]).partition("%")[0])):
        raise _Metadata(f"{target[0]} is a metadata address")
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        if hasattr(socket, name):
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return opened


class _Metadata(OSError):
    """How the refusal travels through aiohttp."""


@contextmanager
def _mapped_errors() -> Iterator[None]:
    """Raise what the SDK knows: it repeats the request after httpx's errors and after none of its own."""
    try:
        yield
    except (aiohttp.ConnectionTimeoutError, aiohttp.ServerTimeoutError) as error:
        raise httpx2.ConnectTimeout(f"no connection within {CONNECT_SECONDS:g} seconds") from error
    except aiohttp.ClientConnectorError as error:
        if isinstance(error.os_error, _Metadata):
            raise AddressRefused(str(error.os_error)) from error
        raise httpx2.ConnectError(str(error)) from error
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
        raise httpx2.UnsupportedProtocol(f"not an address for a model call: {error}") from error
    except (aiohttp.ClientError, OSError) as error:
        raise httpx2.ReadError(str(error) or type(error).__name__) from error
