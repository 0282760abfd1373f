"""The official SDK for both OpenAI wires: authentication, retries, addresses. Imported at first use.

One HTTP client an event loop, one SDK client a place and key, kept for later runs, closed with their loop.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, assert_never

import httpx2
import openai
import openai.resources.chat.completions  # else the first request would import them, on the loop
import openai.resources.responses

from agents.providers import transport
from agents.providers.azure import address_of
from agents.providers.errors import provider_error
from agents.providers.model_call import Body, Place, Soften, Wire

#: More places and keys than a deployment has; the oldest give way.
MAX_CLIENTS = 256
#: The SDK repeats a request that failed before its answer began, and waits as long as the vendor says.
MAX_RETRIES = 2

#: How many options a model may refuse.
MAX_COMPLAINTS = 4

#: Local servers want no key, the SDK wants one.
_NO_KEY = "none"

_Response = openai.AsyncAPIResponse[Any]
_Context = AbstractAsyncContextManager[_Response]


class _Pool:
    """The clients of one event loop."""

    def __init__(self) -> None:
        self._http = httpx2.AsyncClient(
            transport=transport.Transport(),
            timeout=httpx2.Timeout(None, connect=transport.CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )
        self._clients: dict[Place, openai.AsyncOpenAI] = {}

    def client(self, place: Place) -> openai.AsyncOpenAI:
        client = self._clients.get(place)
        if client is None:
            if len(self._clients) >= MAX_CLIENTS:
                del self._clients[next(iter(self._clients))]
            client = self._clients[place] = _client(place, self._http)
        return client

    async def close(self) -> None:
        self._clients.clear()
        await self._http.aclose()


_pools: dict[asyncio.AbstractEventLoop, tuple[_Pool, AsyncGenerator[None, None]]] = {}


async def _pool() -> _Pool:
    loop = asyncio.get_running_loop()
    if loop not in _pools:
        pool = _Pool()
        closing = _closes_with_its_loop(loop, pool)
        _pools[loop] = pool, closing
        await anext(closing)
    return _pools[loop][0]


async def _closes_with_its_loop(loop: asyncio.AbstractEventLoop, pool: _Pool) -> AsyncGenerator[None, None]:
    """Wait, suspended: whoever runs a loop closes its generators before the loop itself."""
    try:
        yield
    finally:
        del _pools[loop]
        await pool.close()


def _client(place: Place, http: httpx2.AsyncClient) -> openai.AsyncOpenAI:
    address = address_of(place.base_url)
    options: dict[str, Any] = {
        "api_key": place.api_key or _NO_KEY,
        "base_url": address.base_url,
        "http_client": http,
        "max_retries": MAX_RETRIES,
        "default_headers": {"Accept-Encoding": "identity"},
    }
    if address.api_version is None:
        client = openai.AsyncOpenAI(**options)
    else:
        client = openai.AsyncAzureOpenAI(api_version=address.api_version, **options)
    # Taken from the environment, they would go to every vendor.
    client.organization = client.project = None
    return client


#: What a model of a place has refused, so that it is asked once.
_complaints: dict[tuple[str, str], tuple[str, ...]] = {}


@asynccontextmanager
async def open_stream(
    place: Place, wire: Wire, body: Body, soften: Soften
) -> AsyncGenerator[transport.Body, None]:
    """Post a request and yield the body of its answer, open as long as the context is.

    A vendor that refuses an option by name is asked again without it. Raises ProviderError.
    """
    client = (await _pool()).client(place)
    try:
        context, response = await _post(client, place, wire, body, soften)
    except Exception as error:
        raise provider_error(error, place.name, place.api_key) from error
    try:
        yield response.http_response.extensions["body"]
    finally:
        await context.__aexit__(None, None, None)


async def _post(
    client: openai.AsyncOpenAI, place: Place, wire: Wire, body: Body, soften: Soften
) -> tuple[_Context, _Response]:
    known = _complaints.get((place.base_url, body["model"]), ())
    for complaint in known:
        body, _ = soften(body, complaint)
    news: list[str] = []
    while True:
        context = _request(client, wire, body)
        try:
            response = await context.__aenter__()
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            complaint = error.response.text
            body, refused = soften(body, complaint)
            if not refused or len(known) + len(news) >= MAX_COMPLAINTS:
                raise
            news.append(complaint)
        else:
            if news:
                _remember(place, body["model"], (*known, *news))
            return context, response


def _request(client: openai.AsyncOpenAI, wire: Wire, body: Body) -> _Context:
    """Everything goes as `extra_body`: the SDK's own arguments would walk through the whole history first."""
    match wire:
        case Wire.CHAT_COMPLETIONS:
            return client.chat.completions.with_streaming_response.create(
                model=body["model"], messages=(), stream=True, extra_body=body
            )
        case Wire.RESPONSES:
            return client.responses.with_streaming_response.create(
                model=body["model"], input="", stream=True, extra_body=body
            )
        case _:
            assert_never(wire)


def _remember(place: Place, model: str, complaints: tuple[str, ...]) -> None:
    """Only after the call went well: else a refusal for another reason would cost later calls an option."""
    if len(_complaints) >= MAX_CLIENTS:
        del _complaints[next(iter(_complaints))]
    _complaints[place.base_url, model] = complaints
