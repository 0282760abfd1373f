"""The ASGI application: HTTP to Django, and the process's background work from its start to its end."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.core.asgi import get_asgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
http = get_asgi_application()
get_resolver().url_patterns  # noqa: B018 (loads every view now, not while the first visitor waits)

# They need the applications that the line above loads.
from django.conf import settings  # noqa: E402

from runs.body_cap import capped  # noqa: E402
from studio import background  # noqa: E402
from studio.middleware import SESSIONLESS  # noqa: E402

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    match scope["type"]:
        case "http":
            background.start()  # daphne knows no lifespan; it starts with the first request
            if scope["path"].startswith(SESSIONLESS):
                receive = capped(receive, settings.STUDIO_MAX_BODY_BYTES)
            await http(scope, receive, send)
        case "lifespan":
            await _lifespan(receive, send)
        case "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 4404})
        case other:
            raise ValueError(f"no such kind of connection: {other}")


async def _lifespan(receive: Receive, send: Send) -> None:
    await receive()
    background.start()
    warming = asyncio.create_task(background.warm_up())
    await send({"type": "lifespan.startup.complete"})
    await receive()
    warming.cancel()
    await background.stop()
    await send({"type": "lifespan.shutdown.complete"})
