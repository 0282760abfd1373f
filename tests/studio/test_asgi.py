import asyncio
from typing import Any

import pytest

from studio import asgi, background


async def exchange(scope: dict[str, Any], *events: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the application sends for these events."""
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    sent: list[dict[str, Any]] = []
    for event in events:
        incoming.put_nowait(event)

    async def send(event: Any) -> None:
        sent.append(dict(event))

    await asgi.application(scope, incoming.get, send)
    return sent


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record what becomes of the background work instead of doing it."""
    seen: list[str] = []

    async def stop() -> None:
        seen.append("stop")

    monkeypatch.setattr(background, "start", lambda: seen.append("start"))
    monkeypatch.setattr(background, "stop", stop)
    return seen


async def test_it_starts_and_stops_the_background_work_with_the_server(calls: list[str]) -> None:
    sent = await exchange({"type": "lifespan"}, {"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    assert [event["type"] for event in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert calls == ["start", "stop"]


async def test_it_starts_the_background_work_on_a_server_without_a_lifespan(calls: list[str]) -> None:
    scope = {"type": "http", "method": "GET", "path": "/health/live", "headers": [], "query_string": b""}
    sent = await exchange(scope, {"type": "http.request", "body": b"", "more_body": False})
    assert sent[0]["status"] == 200
    assert calls == ["start"]


async def test_it_closes_a_websocket_that_nothing_serves() -> None:
    sent = await exchange({"type": "websocket", "path": "/ws/x"}, {"type": "websocket.connect"})
    assert sent == [{"type": "websocket.close", "code": 4404}]


async def test_it_knows_no_other_kind_of_connection() -> None:
    with pytest.raises(ValueError, match="carrier-pigeon"):
        await exchange({"type": "carrier-pigeon"})
