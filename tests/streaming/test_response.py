"""The response under Django's ASGI handler, without a server: headers, threads, every moment of a leave."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest, HttpResponseBase
from django.test import override_settings
from django.urls import path

from streaming.keepalive import KeepAlive
from streaming.response import EventStreamResponse

#: What the one view of this module does; set by a test.
view: Callable[[], HttpResponseBase]
#: On which threads the view ran.
threads: list[threading.Thread] = []


def _view(request: HttpRequest) -> HttpResponseBase:
    threads.append(threading.current_thread())
    return view()


urlpatterns = [path("", _view)]


def wrapping(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """A synchronous middleware that wraps the body in a generator nobody closes."""

    async def wrapped(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for item in body:
            yield item.upper()

    def middleware(request: HttpRequest) -> HttpResponseBase:
        stream = get_response(request)
        stream.streaming_content = wrapped(stream.streaming_content)  # type: ignore[attr-defined]
        return stream

    return middleware


@pytest.fixture(autouse=True)
def site() -> Iterator[None]:
    threads.clear()
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[], ALLOWED_HOSTS=["*"]):
        yield


class Source:
    """A stream that says `items` and then waits, and how it went."""

    def __init__(self, *items: bytes, ends: bool = False) -> None:
        self.items = items
        self.ends = ends
        self.begun = asyncio.Event()
        self.closed = asyncio.Event()
        self.unstarted = 0

    async def stream(self) -> AsyncGenerator[bytes, None]:
        self.begun.set()
        try:
            for item in self.items:
                yield item
            if not self.ends:
                await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.closed.set()

    def never(self) -> None:
        self.unstarted += 1

    def response(self, *, alive: bool = False, **options: Any) -> EventStreamResponse:
        source = KeepAlive(self.stream()) if alive else self.stream()
        return EventStreamResponse(source, on_unstarted=self.never, **options)


class Exchange:
    """One request. `blocked_at`: the send with this number waits for ever, as a slow client makes it."""

    def __init__(self, blocked_at: int | None = None) -> None:
        self.sent: list[Mapping[str, Any]] = []
        self.blocked = asyncio.Event()
        self._blocked_at = blocked_at
        self._arrived = asyncio.Condition()
        self._received: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self._received.put_nowait({"type": "http.request"})
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b"", "asgi": {}}
        self._task = asyncio.ensure_future(ASGIHandler()(scope, self._received.get, self._send))

    async def _send(self, message: Mapping[str, Any]) -> None:
        if len(self.sent) == self._blocked_at:
            self.blocked.set()
            await asyncio.Event().wait()
        self.sent.append(message)
        async with self._arrived:
            self._arrived.notify_all()

    async def arrived(self, count: int) -> None:
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.sent) >= count)

    def leave(self) -> None:
        self._received.put_nowait({"type": "http.disconnect"})

    async def done(self) -> None:
        await asyncio.wait_for(self._task, 10)

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])

    @property
    def body(self) -> list[bytes]:
        return [message.get("body", b"") for message in self.sent[1:]]


def serve(answer: Callable[[], HttpResponseBase]) -> None:
    global view
    view = answer


# --- Headers and bytes --------------------------------------------------------------------------------------


async def test_b016_it_has_the_headers_of_an_event_stream() -> None:
    source = Source(b"a", b"b", ends=True)
    serve(lambda: source.response(negotiated=True, headers={"X-Execution-Id": "run_1"}))
    exchange = Exchange()
    await exchange.done()
    assert exchange.sent[0]["status"] == 200
    assert exchange.headers == {
        b"Content-Type": b"text/event-stream; charset=utf-8",
        b"Cache-Control": b"no-cache, no-transform",
        b"X-Accel-Buffering": b"no",
        b"Content-Encoding": b"identity",
        b"X-Studio-Stream-Protocol": b"agent-events-v1",
        b"X-Execution-Id": b"run_1",
    }
    assert exchange.body == [b"a", b"b", b""]
    assert source.closed.is_set()
    assert source.unstarted == 0


async def test_it_names_the_protocol_only_if_it_was_negotiated() -> None:
    serve(lambda: Source(ends=True).response())
    exchange = Exchange()
    await exchange.done()
    assert b"X-Studio-Stream-Protocol" not in exchange.headers


# --- Threads ------------------------------------------------------------------------------------------------


async def test_it_gives_its_thread_back_before_the_first_byte() -> None:
    source = Source(b"a")
    serve(source.response)
    exchange = Exchange()
    await exchange.arrived(2)
    (thread,) = threads
    await asyncio.to_thread(thread.join, 5)
    assert not thread.is_alive()
    exchange.leave()
    await exchange.done()


# --- Every moment of a leave --------------------------------------------------------------------------------


@pytest.mark.parametrize("alive", [False, True])
@pytest.mark.parametrize("middleware", [(), (f"{__name__}.wrapping",)])
class TestLeaving:
    async def test_it_closes_its_source_while_that_is_awaited(
        self, alive: bool, middleware: tuple[str, ...]
    ) -> None:
        source = Source(b"a")
        serve(lambda: source.response(alive=alive))
        with override_settings(MIDDLEWARE=middleware):
            exchange = Exchange()
        await exchange.arrived(2)
        exchange.leave()
        await exchange.done()
        assert source.closed.is_set()
        assert exchange.body == [b"A" if middleware else b"a"]

    async def test_it_closes_its_source_while_a_send_is_blocked(
        self, alive: bool, middleware: tuple[str, ...]
    ) -> None:
        source = Source(b"a", b"b", b"c")
        serve(lambda: source.response(alive=alive))
        with override_settings(MIDDLEWARE=middleware):
            exchange = Exchange(blocked_at=2)
        await exchange.blocked.wait()
        exchange.leave()
        await exchange.done()
        assert source.closed.is_set()
        assert source.unstarted == 0

    async def test_it_tells_if_its_source_never_began(self, alive: bool, middleware: tuple[str, ...]) -> None:
        source = Source(b"a")
        serve(lambda: source.response(alive=alive))
        with override_settings(MIDDLEWARE=middleware):
            exchange = Exchange(blocked_at=0)  # not even the headers get out
        await exchange.blocked.wait()
        exchange.leave()
        await exchange.done()
        assert not source.begun.is_set()
        assert source.unstarted == 1


async def test_it_tells_if_the_client_left_while_the_thread_was_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy, free = threading.Event(), threading.Event()

    def close_all() -> None:
        busy.set()
        assert free.wait(10)

    monkeypatch.setattr(connections, "close_all", close_all)
    source = Source(b"a")
    serve(source.response)
    exchange = Exchange()
    await asyncio.to_thread(busy.wait, 10)
    exchange.leave()
    await exchange.done()
    free.set()
    assert not source.begun.is_set()
    assert source.unstarted == 1


async def test_it_streams_although_a_connection_could_not_be_given_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def close_all() -> None:
        raise OSError("gone")

    monkeypatch.setattr(connections, "close_all", close_all)
    source = Source(b"a", ends=True)
    serve(source.response)
    exchange = Exchange()
    await exchange.done()
    assert exchange.body == [b"a", b""]
    assert "could not be given back" in caplog.text


async def test_it_passes_errors_on_and_closes_its_source() -> None:
    closed = []

    async def broken() -> AsyncGenerator[bytes, None]:
        try:
            yield b"a"
            raise ValueError("broken")
        finally:
            closed.append(1)

    with pytest.raises(ValueError, match="broken"):
        [item async for item in EventStreamResponse(broken())]
    assert closed == [1]


def test_it_tells_once_that_its_source_never_began() -> None:
    called = []

    async def stream() -> AsyncGenerator[bytes, None]:
        yield b"a"

    unsent = EventStreamResponse(stream(), on_unstarted=lambda: called.append(1))
    unsent.close()
    unsent.close()
    assert called == [1]
