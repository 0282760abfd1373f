"""Every item passes, a slow reader slows the source, and the source is closed whenever the reader goes."""

import asyncio
import contextvars
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from streaming.keepalive import KeepAlive
from tests.streaming.sources import Source, alive, all_of, asked, settle


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
        await settle()
        # One taken, three waiting, one in hand.
        assert source.asked == 5
        for _ in range(10):
            await anext(stream)
        await settle()
        assert source.asked == 15


# --- Closing ------------------------------------------------------------------------------------------------


async def test_it_closes_while_the_reader_waits() -> None:
    source = Source()
    stream = alive(source)
    waiting = await asked(stream)
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
