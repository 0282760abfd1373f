"""The heartbeat: every item, pings in silence, an end to readers that left, and the source always closed."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from streaming import keepalive
from streaming.keepalive import KeepAlive
from streaming.sse import PING

#: Long enough never to ring within a test.
NEVER = 600.0


class Source:
    """Yields what is put in; knows who ran it, and how it ended."""

    def __init__(self, *items: bytes) -> None:
        self.items: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.closed = asyncio.Event()
        self.tasks: set[asyncio.Task[Any] | None] = set()
        self.asked = 0
        for item in items:
            self.items.put_nowait(item)

    async def stream(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                self.tasks.add(asyncio.current_task())
                self.asked += 1
                item = await self.items.get()
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.tasks.add(asyncio.current_task())
            await asyncio.sleep(0)  # closing a connection takes its time
            self.closed.set()


def alive(source: Source, **times: Any) -> KeepAlive:
    return KeepAlive(source.stream(), **{"ping_seconds": NEVER, "stall_seconds": NEVER, **times})


async def all_of(stream: AsyncIterator[bytes]) -> list[bytes]:
    return [item async for item in stream]


async def test_it_passes_every_item_on_and_ends() -> None:
    source = Source(*[b"%d" % number for number in range(100)])
    source.items.put_nowait(None)
    stream = alive(source)
    assert await all_of(stream) == [b"%d" % number for number in range(100)]
    assert source.closed.is_set()
    assert await all_of(stream) == []
    await stream.aclose()


async def test_it_passes_nothing_on_for_nothing() -> None:
    source = Source(b"", b"a", b"")
    source.items.put_nowait(None)
    assert await all_of(alive(source)) == [b"a"]


async def test_it_runs_the_source_in_one_task_and_a_context_of_its_own() -> None:
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request", default="none")
    request.set("mine")
    seen = []

    async def stream() -> AsyncGenerator[bytes, None]:
        seen.append(request.get())
        yield b"a"

    assert await all_of(KeepAlive(stream())) == [b"a"]
    assert seen == ["none"]

    source = Source(b"a", b"b")
    reader = alive(source)
    async with aclosing(reader):
        await anext(reader)
        await asyncio.create_task(anext(reader))
    assert len(source.tasks) == 1
    assert asyncio.current_task() not in source.tasks


async def test_it_lets_a_slow_reader_slow_the_source() -> None:
    source = Source(*[b"x"] * 100)
    async with aclosing(alive(source, room=3)) as stream:
        await anext(stream)
        for _ in range(20):
            await asyncio.sleep(0)
        # One taken, three waiting, one in hand.
        assert source.asked == 5
        for _ in range(10):
            await anext(stream)
        for _ in range(20):
            await asyncio.sleep(0)
        assert source.asked == 15


# --- Pings --------------------------------------------------------------------------------------------------


async def test_it_pings_in_silence_and_only_then() -> None:
    source = Source(b"a")
    async with aclosing(alive(source, ping_seconds=0.01)) as stream:
        assert await anext(stream) == b"a"
        assert [await anext(stream) for _ in range(3)] == [PING] * 3
        source.items.put_nowait(b"b")
        assert await anext(stream) == b"b"
        assert await anext(stream) == PING


async def test_it_pings_after_a_whole_silence_not_by_the_clock() -> None:
    loop = asyncio.get_running_loop()
    source = Source()
    async with aclosing(alive(source, ping_seconds=0.05)) as stream:
        loop.call_later(0.03, source.items.put_nowait, b"a")
        assert await anext(stream) == b"a"
        since = loop.time()
        assert await anext(stream) == PING
        assert loop.time() - since >= 0.049


async def test_it_does_not_ping_while_the_reader_is_away() -> None:
    source = Source(b"a")
    async with aclosing(alive(source, ping_seconds=0.005)) as stream:
        await anext(stream)
        await asyncio.sleep(0.02)
        source.items.put_nowait(b"b")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert await anext(stream) == b"b"


async def test_it_makes_no_timer_and_no_task_for_an_item(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(*[b"x"] * 50)
    async with aclosing(alive(source)) as stream:
        await anext(stream)
        loop = asyncio.get_running_loop()
        for name in ("call_at", "call_later", "create_task"):
            monkeypatch.setattr(loop, name, None)
        for _ in range(49):
            await anext(stream)
        monkeypatch.undo()


# --- Readers that do not come back --------------------------------------------------------------------------


async def test_it_closes_the_source_of_a_reader_that_does_not_come_back() -> None:
    source = Source(b"a", b"b")
    stream = alive(source, stall_seconds=0.01)
    await anext(stream)
    await asyncio.wait_for(source.closed.wait(), 5)
    # What was said before is still there, should it come back.
    assert await all_of(stream) == [b"b"]
    await stream.aclose()


async def test_it_tells_of_a_stall_once_and_lets_the_source_say_how_it_ended() -> None:
    source, stalls = Source(*[b"x"] * 20), []

    def stop() -> None:
        stalls.append(1)
        source.items.put_nowait(b"terminal")
        source.items.put_nowait(None)

    stream = alive(source, stall_seconds=0.01, on_stall=stop, room=2)
    await anext(stream)
    await asyncio.wait_for(source.closed.wait(), 5)
    assert (await all_of(stream))[-1] == b"terminal"
    await asyncio.sleep(0.02)
    assert stalls == [1]
    await stream.aclose()


async def test_it_closes_a_source_that_goes_on_after_a_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keepalive, "LAST_WORDS_SECONDS", 0.01)
    source, stalls = Source(b"a"), []
    stream = alive(source, stall_seconds=0.01, on_stall=lambda: stalls.append(1))
    await anext(stream)
    await asyncio.wait_for(source.closed.wait(), 5)
    assert stalls == [1]
    await stream.aclose()


async def test_it_does_not_take_waiting_for_the_source_for_a_stall() -> None:
    source, stalls = Source(b"a"), []
    async with aclosing(alive(source, stall_seconds=0.01, on_stall=lambda: stalls.append(1))) as stream:
        await anext(stream)
        asyncio.get_running_loop().call_later(0.05, source.items.put_nowait, b"b")
        assert await anext(stream) == b"b"
    assert stalls == []


async def test_it_does_not_stall_on_the_last_item() -> None:
    source, stalls = Source(b"a"), []
    source.items.put_nowait(None)
    stream = alive(source, stall_seconds=0.01, on_stall=lambda: stalls.append(1))
    await anext(stream)
    await asyncio.sleep(0.02)
    assert await all_of(stream) == []
    assert stalls == []


# --- Closing ------------------------------------------------------------------------------------------------


async def test_it_closes_while_the_reader_waits() -> None:
    source = Source()
    stream = alive(source)
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await stream.aclose()
    assert source.closed.is_set()


@pytest.mark.parametrize("taken", [1, 2, 5])
async def test_it_closes_while_the_source_waits_for_room(taken: int) -> None:
    source = Source(*[b"x"] * 50)
    stream = alive(source, room=1)
    for _ in range(taken):
        await anext(stream)
    await asyncio.sleep(0)
    await stream.aclose()
    await stream.aclose()
    assert source.closed.is_set()
    assert len(source.tasks) == 1


async def test_it_lets_a_source_begin_that_is_closed_in_its_first_moment() -> None:
    source = Source()
    stream = alive(source)
    waiting = asyncio.ensure_future(anext(stream))
    waiting.get_loop().call_soon(waiting.cancel)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await stream.aclose()
    assert source.closed.is_set()


async def test_it_closes_a_source_in_the_very_step_that_asked_for_it() -> None:
    source = Source()
    stream = alive(source)
    step = stream.__anext__()
    step.send(None)
    step.close()
    await stream.aclose()
    assert source.closed.is_set()


async def test_it_never_runs_a_source_that_nobody_asked_for() -> None:
    source = Source(b"a")
    stream = alive(source)
    await stream.aclose()
    assert source.asked == 0
    assert await all_of(stream) == []


async def test_it_passes_errors_on_behind_what_came_before_them() -> None:
    source = Source(b"a", b"b")
    source.items.put_nowait(ValueError("broken"))
    stream = alive(source)
    assert await anext(stream) == b"a"
    assert await anext(stream) == b"b"
    with pytest.raises(ValueError, match="broken"):
        await anext(stream)
    assert source.closed.is_set()
    await stream.aclose()


async def test_it_raises_an_error_that_nobody_has_heard_when_it_is_closed() -> None:
    source = Source(b"a")
    source.items.put_nowait(ValueError("broken"))
    stream = alive(source)
    await anext(stream)
    await source.closed.wait()
    with pytest.raises(ValueError, match="broken"):
        await stream.aclose()


async def test_it_passes_on_that_the_source_was_cancelled_by_its_own_side() -> None:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield b"a"
        raise asyncio.CancelledError

    kept = KeepAlive(stream())
    await anext(kept)
    with pytest.raises(asyncio.CancelledError):
        await anext(kept)


async def test_it_leaves_no_timer_behind() -> None:
    loop = asyncio.get_running_loop()
    source = Source(b"a")
    stream = alive(source)
    await anext(stream)
    await stream.aclose()
    assert [timer for timer in loop._scheduled if not timer.cancelled()] == []  # type: ignore[attr-defined]
