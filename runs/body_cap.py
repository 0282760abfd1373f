"""A cap on what one request may make us store while its body comes in. Pure ASGI.

Django writes a whole body to memory or disk before any view can refuse it, and a chunked one tells no size.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


def capped(receive: Receive, limit: int) -> Receive:
    """Return a `receive` whose body ends after `limit` + 1 bytes: `runs.http.parse_body` then answers 413.

    What a client sends after that is read and dropped.
    """
    left = limit + 1

    async def receive_capped() -> Message:
        nonlocal left
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return message
            if left > 0:
                break
        body = message.get("body", b"")[:left]
        left -= len(body)
        return {**message, "body": body, "more_body": left > 0 and message.get("more_body", False)}

    return receive_capped
