"""The queue of a run: order, room, and nothing lost to a cancel."""

import asyncio

import pytest

from workflows.outbox import Outbox


async def test_it_keeps_the_order() -> None:
    outbox: Outbox[str] = Outbox(2)
    await outbox.put("batch")
    outbox.mark("mark")
    await outbox.put("another")
    assert [await outbox.get() for _ in range(3)] == ["batch", "mark", "another"]


async def test_its_batches_wait_for_room_and_its_marks_do_not() -> None:
    outbox: Outbox[int] = Outbox(1)
    await outbox.put(1)
    waiting = asyncio.create_task(outbox.put(3))
    await asyncio.sleep(0)
    outbox.mark(2)
    assert not waiting.done()
    assert await outbox.get() == 1
    await waiting
    assert [await outbox.get(), await outbox.get()] == [2, 3]


async def test_its_room_comes_back() -> None:
    outbox: Outbox[int] = Outbox(3)
    for number in range(100):
        outbox.mark(-1)
        await outbox.put(number)
        assert [await outbox.get(), await outbox.get()] == [-1, number]


async def test_it_takes_the_batch_of_a_task_that_is_cancelled_while_it_waits() -> None:
    outbox: Outbox[int] = Outbox(1)
    await outbox.put(1)
    waiting = asyncio.create_task(outbox.put(2))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert outbox.rest() == [1, 2]
    assert outbox.rest() == []
