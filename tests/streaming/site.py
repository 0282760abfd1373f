"""A tiny Django site of event streams, its settings and its ASGI application, for tests on real sockets.

Serve it as `tests.streaming.site:application`; `STREAM_DATABASE` names its SQLite file. Its one synchronous
middleware and GZip stand for what operators add.
"""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncGenerator, Callable

import django
from django.conf import settings

if not settings.configured:
    settings.configure(
        ROOT_URLCONF=__name__,
        SECRET_KEY="of a test",
        ALLOWED_HOSTS=["*"],
        MIDDLEWARE=["django.middleware.gzip.GZipMiddleware", f"{__name__}.synchronous"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": os.environ["STREAM_DATABASE"],
                # As bad as it gets: without us, each thread would keep its connection.
                "CONN_MAX_AGE": None,
            }
        },
    )
    django.setup()

from django.core.asgi import get_asgi_application
from django.db import connection
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.urls import path

from streaming import sse
from streaming.keepalive import KeepAlive
from streaming.response import EventStreamResponse

#: What has happened so far: `opened`, `closed`, `stalled`, and `frames:<name>`.
counts: Counter[str] = Counter()
#: Set by `/go`: the streams of that name go on.
signals: dict[str, asyncio.Event] = {}

FLOOD_FRAMES = 2000
FLOOD_TEXT = "x" * 16_000


def synchronous(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response["X-Middleware"] = "was here"
        return response

    return middleware


async def frames(name: str) -> AsyncGenerator[bytes, None]:
    """One frame, a wait for `/go`, the rest; with the name `flood` as much as the client takes."""
    counts["opened"] += 1
    signal = signals.setdefault(name, asyncio.Event())
    try:
        yield sse.frame({"blockId": "a", "chunk": "first"})
        if name.startswith("flood"):
            for _ in range(FLOOD_FRAMES):
                counts[f"frames:{name}"] += 1
                yield sse.frame({"blockId": "a", "chunk": FLOOD_TEXT})
        await signal.wait()
        yield sse.frame({"blockId": "a", "chunk": "second"}) + sse.DONE
    finally:
        counts["closed"] += 1


def stream(request: HttpRequest, name: str) -> HttpResponseBase:
    """A stream as a surface makes it: a synchronous view that has asked the database."""
    _query()

    def stalled() -> None:
        counts["stalled"] += 1
        signals[name].set()

    seconds = float(request.GET.get("stall", 600))
    ping = float(request.GET.get("ping", 600))
    source = KeepAlive(frames(name), ping_seconds=ping, stall_seconds=seconds, on_stall=stalled)
    return EventStreamResponse(source, negotiated=True)


def stock(request: HttpRequest, name: str) -> HttpResponseBase:
    """The same with Django's own response, to show that the difference can be seen."""
    _query()
    headers = {"Content-Encoding": "identity"}
    return StreamingHttpResponse(frames(name), content_type="text/event-stream", headers=headers)


def _query() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


async def go(request: HttpRequest, name: str) -> JsonResponse:
    signals.setdefault(name, asyncio.Event()).set()
    return JsonResponse({})


async def state(request: HttpRequest) -> JsonResponse:
    return JsonResponse(counts)


urlpatterns = [
    path("stream/<name>", stream),
    path("stock/<name>", stock),
    path("go/<name>", go),
    path("state", state),
]
application = get_asgi_application()
