"""The response of every event stream. It holds no thread and no database connection while it is open, and
closes its source on every path. The only module here that knows Django.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Protocol

from asgiref.sync import SyncToAsync
from django.db import connections
from django.http import StreamingHttpResponse

from streaming.agent_events_v1 import HEADER, PROTOCOL

logger = logging.getLogger("studio.streaming")

#: agent-events-v1 section 2. Without them middleware and proxies hold frames back or compress them.
_HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    "Content-Encoding": "identity",
}


class Source(Protocol):
    """What a response sends: an async generator of bytes, or `keepalive.KeepAlive` round one."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class EventStreamResponse(StreamingHttpResponse):
    """Sends `source`, each item in one send, and closes it however the request ends.

    `negotiated`: the client asked for agent-events-v1 and is told that it gets it.

    `on_unstarted` is called once if the response is closed before its source was asked for anything, because
    a source that never began runs no `finally`; it may use the database. A client that leaves while the view
    still runs leaves no response behind, so neither call nor `finally`: that is what leases are for.
    """

    _iterator: AsyncIterator[bytes]

    def __init__(
        self,
        source: Source,
        *,
        negotiated: bool = False,
        headers: Mapping[str, str] | None = None,
        on_unstarted: Callable[[], None] | None = None,
    ) -> None:
        protocol = {HEADER: PROTOCOL} if negotiated else {}
        self._source = source
        self._on_unstarted = on_unstarted
        self._body = self._send()
        super().__init__(
            self._body,
            content_type="text/event-stream; charset=utf-8",
            headers={**_HEADERS, **protocol, **(headers or {})},
        )

    async def _send(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._source):
            await _release_thread()
            self._on_unstarted = None  # nothing is awaited between here and the source's first step
            async for item in self._source:
                yield item

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        # Middleware may have wrapped the body in generators that nobody closes, so it is closed here.
        async with aclosing(self._body):
            async for item in self._iterator:
                yield item

    def close(self) -> None:
        super().close()
        unstarted, self._on_unstarted = self._on_unstarted, None
        if unstarted is not None:
            unstarted()


async def _release_thread() -> None:
    """Give back the thread on which the request's synchronous code ran, and its database connections.

    Django keeps both until the request is over, which for a stream is minutes. Whoever uses the database on
    the stream's context after this brings a thread back.
    """
    context = SyncToAsync.thread_sensitive_context.get(None)
    executor = None if context is None else SyncToAsync.context_to_thread_executor.pop(context, None)
    if executor is None:
        return
    try:
        await asyncio.get_running_loop().run_in_executor(executor, connections.close_all)
    except Exception:
        logger.exception("A connection could not be given back; it ends with its thread.")
    finally:
        executor.shutdown(wait=False)
