"""Pings in silence, and an end to readers that do not come back. No test waits for a clock."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from streaming.keepalive import LAST_WORDS_SECONDS, KeepAlive
from streaming.sse import PING
from tests.streaming.sources import Clock, Source, alive, all_of, asked, settle


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


# --- Pings --------------------------------------------------------------------------------------------------


async def test_it_pings_every_15_seconds_of_silence(clock: Clock) -> None:
    source = Source()
    async with aclosing(alive(source)) as stream:
        for _ in range(3):
            waiting = await asked(stream)
            await clock.forward(14)
            assert not waiting.done()
            await clock.forward(1.5)
            assert await waiting == PING


async def test_it_counts_silence_from_the_last_item(clock: Clock) -> None:
    source = Source()
    async with aclosing(alive(source)) as stream:
        for _ in range(5):
            waiting = await asked(stream)
            await clock.forward(10)
            assert not waiting.done()
            source.items.put_nowait(b"a")
            assert await waiting == b"a"
        waiting = await asked(stream)
        await clock.forward(14)
        assert not waiting.done()
        await clock.forward(1.5)
        assert await waiting == PING


async def test_it_does_not_ping_while_the_reader_is_away(clock: Clock) -> None:
    source = Source(b"a")
    async with aclosing(alive(source)) as stream:
        await anext(stream)
        await clock.forward(20)
        source.items.put_nowait(b"b")
        await settle()
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


async def test_it_closes_the_source_of_a_reader_that_stays_away_30_seconds(clock: Clock) -> None:
    source = Source(b"a", b"b")
    stream = alive(source)
    await anext(stream)
    await clock.forward(29)
    assert not source.closed.is_set()
    await clock.forward(1.5)
    assert source.closed.is_set()
    # What was said before is still there, should it come back.
    assert await all_of(stream) == [b"b"]
    await stream.aclose()


async def test_it_counts_how_long_the_reader_is_away_each_time(clock: Clock) -> None:
    source = Source(*[b"x"] * 9)
    async with aclosing(alive(source)) as stream:
        for _ in range(5):
            await anext(stream)
            await clock.forward(20)
        assert not source.closed.is_set()


async def test_it_notices_a_stall_although_pings_are_rare(clock: Clock) -> None:
    source = Source(b"a")
    stream = alive(source, ping_seconds=600, stall_seconds=5)
    await anext(stream)
    for _ in range(3):
        await clock.forward(2)
    assert source.closed.is_set()
    await stream.aclose()


async def test_it_tells_of_a_stall_once_and_lets_the_source_say_how_it_ended(clock: Clock) -> None:
    source, stalls = Source(*[b"x"] * 20), []

    def stop() -> None:
        stalls.append(1)
        source.items.put_nowait(b"terminal")
        source.items.put_nowait(None)

    stream = alive(source, on_stall=stop, room=2)
    await anext(stream)
    await clock.forward(31)
    await source.closed.wait()
    await clock.forward(100)
    assert (await all_of(stream))[-1] == b"terminal"
    assert stalls == [1]
    await stream.aclose()


async def test_it_closes_a_source_that_goes_on_after_a_stall(clock: Clock) -> None:
    source, stalls = Source(b"a"), []
    stream = alive(source, on_stall=lambda: stalls.append(1))
    await anext(stream)
    await clock.forward(31)
    assert not source.closed.is_set()
    await clock.forward(LAST_WORDS_SECONDS)
    assert source.closed.is_set()
    assert stalls == [1]
    await stream.aclose()


async def test_it_does_not_take_waiting_for_the_source_for_a_stall(clock: Clock) -> None:
    source, stalls = Source(b"a"), []
    async with aclosing(alive(source, ping_seconds=600, on_stall=lambda: stalls.append(1))) as stream:
        await anext(stream)
        waiting = await asked(stream)
        for _ in range(3):
            await clock.forward(100)
        source.items.put_nowait(b"b")
        assert await waiting == b"b"
    assert stalls == []


async def test_it_does_not_stall_on_the_last_item(clock: Clock) -> None:
    source, stalls = Source(b"a"), []
    source.items.put_nowait(None)
    stream = alive(source, on_stall=lambda: stalls.append(1))
    await anext(stream)
    await settle()
    await clock.forward(31)
    assert await all_of(stream) == []
    assert stalls == []


async def test_it_does_not_stall_while_it_is_being_closed(clock: Clock) -> None:
    stalls: list[int] = []
    slow = asyncio.Event()

    async def stream() -> AsyncGenerator[bytes, None]:
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            await slow.wait()

    kept = KeepAlive(stream(), on_stall=lambda: stalls.append(1))
    await anext(kept)
    await settle()
    closing = asyncio.ensure_future(kept.aclose())
    await clock.forward(31)
    slow.set()
    await closing
    assert stalls == []
