"""A model server for tests: it plays scripted HTTP responses and notes what was asked and who left.

In process on the test's own loop (`async with ProviderServer() as server`) or in a thread of its own
(`with ThreadedProviderServer() as server`) for tests whose client is another process or a synchronous one.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

#: A piece of a body to send, a moment to wait for, or seconds to wait.
Step = bytes | asyncio.Event | threading.Event | float


@dataclass(frozen=True)
class Reply:
    """One HTTP response. `cut`: the connection breaks after the steps, without the body's end.

    `stays_open`: after the steps nothing more comes until the client leaves.
    """

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    cut: bool = False
    stays_open: bool = False


@dataclass
class Received:
    """One request as it came. `left` is set when the client closed the connection before the reply's end."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Any
    #: Which TCP connection it came on: the same number, the same connection.
    connection: int
    left: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)


#: A request → its reply.
Answer = Callable[[Received], Reply]


def sse(*documents: object, done: bool = True) -> bytes:
    """Return documents as an event-stream body, with the end marker of Chat Completions."""
    lines = [f"data: {json.dumps(document, ensure_ascii=False)}\n\n" for document in documents]
    return "".join([*lines, "data: [DONE]\n\n"] if done else lines).encode()


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return one Chat Completions chunk."""
    choice = {"index": 0, "delta": dict(delta or {}), "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": "test-model", "choices": [choice], **more}


def text_reply(*deltas: str) -> Reply:
    """Return a whole answer, one chunk a delta, with usage."""
    usage = {"prompt_tokens": 10, "completion_tokens": len(deltas), "total_tokens": 10 + len(deltas)}
    chunks = [chunk({"content": delta}) for delta in deltas]
    return Reply([sse(*chunks, chunk(finish="stop"), {"choices": [], "usage": usage})])


def tool_reply(*calls: tuple[str, str, str]) -> Reply:
    """Return a turn that ends in calls of (id, name, arguments)."""
    chunks = [
        chunk({"tool_calls": [{"index": at, "id": id, "function": {"name": name, "arguments": arguments}}]})
        for at, (id, name, arguments) in enumerate(calls)
    ]
    return Reply([sse(*chunks, chunk(finish="tool_calls"))])


def error_reply(status: int, document: object, headers: Mapping[str, str] | None = None) -> Reply:
    """Return a refusal with a JSON body."""
    return Reply(
        [json.dumps(document).encode()], status, {"Content-Type": "application/json", **(headers or {})}
    )


class _Script:
    """What both servers share: the replies to come, the requests that came."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.url = ""
        self._replies: deque[Reply] = deque()
        self._answer: Answer | None = None
        self._connections: dict[int, Any] = {}
        self._arrived = threading.Condition()

    def reply(self, *replies: Reply) -> None:
        """Play these, one a request, after those that wait already."""
        self._replies.extend(replies)

    def forget(self) -> None:
        """Begin anew: nothing was asked, nothing waits to be said."""
        self.requests.clear()
        self._replies.clear()
        self._answer = None

    def answer(self, answer: Answer) -> None:
        """Ask this function for each reply once the others are used up."""
        self._answer = answer

    def wait_for_requests(self, number: int, seconds: float = 10) -> list[Received]:
        """Return the requests once there are that many. Blocks: for the threaded server."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.requests) >= number, seconds), (
                f"{len(self.requests)} requests came, not {number}"
            )
        return self.requests

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        received = await self._receive(request)
        reply = self._next(received)
        response = web.StreamResponse(status=reply.status, headers=reply.headers)
        try:
            await response.prepare(request)
            for step in reply.steps:
                await _play(step, response)
            if reply.stays_open:
                await asyncio.Event().wait()
            if reply.cut and request.transport is not None:
                request.transport.abort()
            else:
                await response.write_eof()
        except (asyncio.CancelledError, ConnectionError):
            received.left.set()
            raise
        finally:
            received.done.set()
        return response

    async def _receive(self, request: web.Request) -> Received:
        raw = await request.read()
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw
        transport = request.transport
        # Holding the transport keeps its id from being used again.
        self._connections[id(transport)] = transport
        received = Received(
            method=request.method,
            path=request.path,
            query=request.query_string,
            headers=dict(request.headers),
            body=body,
            connection=list(self._connections).index(id(transport)),
        )
        with self._arrived:
            self.requests.append(received)
            self._arrived.notify_all()
        return received

    def _next(self, received: Received) -> Reply:
        if self._replies:
            return self._replies.popleft()
        if self._answer is not None:
            return self._answer(received)
        return error_reply(500, {"error": {"message": "the test has no reply for this request"}})

    async def _start(self) -> web.AppRunner:
        application = web.Application(client_max_size=64 * 1024 * 1024)
        application.router.add_route("*", "/{path:.*}", self._serve)
        # Without this a handler never learns that its client has left.
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return runner


async def _play(step: Step, response: web.StreamResponse) -> None:
    match step:
        case bytes():
            await response.write(step)
        case asyncio.Event():
            await step.wait()
        case threading.Event():
            while not step.is_set():  # noqa: ASYNC110 - another thread sets it
                await asyncio.sleep(0.005)
        case _:
            await asyncio.sleep(step)


class ProviderServer(_Script):
    """On the running loop. `base_url` is what a provider connection gets."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    async def __aenter__(self) -> Self:
        self._runner = await self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()


class ThreadedProviderServer(_Script):
    """In a thread with a loop of its own. Replies wait on threading events only."""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def __enter__(self) -> Self:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10), "the model server did not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        runner = await self._start()
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()
