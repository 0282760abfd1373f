"""The stream itself, apart from HTTP: readers who stop reading, never begin, or leave."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from deployments import messages, stream
from deployments.messages import Admitted, Asking
from deployments.models import ChatDeployment
from runs import registry, writer
from runs.models import Message, Run, Status
from streaming.keepalive import KeepAlive
from tests.deployments.wire import row
from tests.providers_server import ProviderServer, Reply, chunk, sse

PIECES = [sse(chunk({"content": f"{number} "}), done=False) for number in range(50)]


@pytest.fixture
async def admitted(provider: ProviderServer, chat: ChatDeployment) -> AsyncIterator[Admitted]:
    """A message that was let in; the model speaks and then waits for ever."""
    provider.reply(Reply(PIECES, stays_open=True))
    yield await sync_to_async(admit)(chat)
    await registry.current().shutdown(5)
    await writer.current().close()


def admit(chat: ChatDeployment, **values: Any) -> Admitted:
    assert chat.workflow.published is not None
    asking = Asking(
        chat=chat,
        version=chat.workflow.published,
        visitor=None,
        address="203.0.113.7",
        grant=None,
        negotiated=True,
        idempotency_key=None,
        now=timezone.now(),
    )
    return messages.admit(asking, {"input": "Hi", **values})


async def run_when(*wanted: Status) -> Run:
    """Return the row once the writer has made it so; no event tells of that."""
    async with asyncio.timeout(10):
        while (run := await row()).status not in wanted:
            pass
    return run


async def run_when_ended() -> Run:
    return await run_when(Status.COMPLETED, Status.FAILED, Status.CANCELLED)


async def test_a_reader_who_stops_reading_ends_the_run(
    admitted: Admitted, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "KeepAlive", partial(KeepAlive, stall_seconds=0.05))
    response = stream.response(admitted)
    pieces = aiter(response)
    await anext(pieces)  # and never asks again, like a server whose socket is full
    run = await run_when_ended()
    assert (run.status, run.code, run.detail) == (
        Status.CANCELLED,
        "RUN_CANCELLED",
        "The client stopped reading.",
    )
    assert await asyncio.to_thread(provider.requests[0].left.wait, 1)
    await pieces.aclose()


async def test_a_reader_who_leaves_ends_the_run(admitted: Admitted, provider: ProviderServer) -> None:
    pieces = aiter(stream.response(admitted))
    await anext(pieces)
    await pieces.aclose()
    run = await run_when_ended()
    assert (run.status, run.detail) == (Status.CANCELLED, "The client went away.")
    assert await asyncio.to_thread(provider.requests[0].left.wait, 1)
    stopped = await Message.objects.aget(role="assistant")
    assert (stopped.status, stopped.content) == ("stopped", "")


async def test_an_answer_that_nobody_waits_for_never_begins(
    admitted: Admitted, provider: ProviderServer
) -> None:
    response = stream.response(admitted)
    await sync_to_async(response.close)()
    run = await row()
    assert (run.status, run.code) == (Status.CANCELLED, "RUN_CANCELLED")
    assert provider.requests == []


async def test_a_stop_by_its_owner_ends_the_stream_properly(admitted: Admitted) -> None:
    pieces = aiter(stream.response(admitted))
    raw = await anext(pieces)
    run = await run_when(Status.RUNNING)
    await sync_to_async(registry.stop)(run.pk)
    async for piece in pieces:
        raw += piece
    assert b'"code":"RUN_CANCELLED"' in raw
    assert raw.endswith(b'data: "[DONE]"\n\n')
    assert (await run_when_ended()).detail == "Stopped by its user."
