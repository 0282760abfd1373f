"""The queue of a run: order, room, and nothing lost to a cancel."""

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


async def test_it_serves_writers_in_their_order() -> None:
    """A writer who never waits for its model takes no other's turn."""
    outbox: Outbox[str] = Outbox(1)
    await outbox.put("x")

    async def say(name: str) -> None:
        for _ in range(3):
            await outbox.put(name)

    writers = [asyncio.create_task(say(name)) for name in "abc"]
    await asyncio.sleep(0)
    assert "".join([await outbox.get() for _ in range(10)]) == "xabcabcabc"
    await asyncio.gather(*writers)


async def test_it_gives_the_room_of_a_cancelled_writer_to_the_next() -> None:
    outbox: Outbox[int] = Outbox(1)
    await outbox.put(0)
    first, second = (asyncio.create_task(outbox.put(number)) for number in (1, 2))
    await asyncio.sleep(0)
    assert await outbox.get() == 0
    first.cancel()  # it has been given room, and does not know yet
    await asyncio.wait([first, second])
    assert first.cancelled()
    assert not second.cancelled()
    assert sorted(outbox.rest()) == [1, 2]


@given(
    room=st.integers(1, 3),
    batches=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    moves=st.lists(st.sampled_from(["get", "wait", "cancel", "mark"]), max_size=30),
    choice=st.randoms(use_true_random=False),
)
async def test_nothing_is_lost_and_nothing_overflows(
    room: int, batches: list[int], moves: list[str], choice: Random
) -> None:
    outbox: Outbox[tuple[int, int]] = Outbox(room)
    begun: set[tuple[int, int]] = set()

    async def say(writer: int, count: int) -> None:
        for number in range(count):
            begun.add((writer, number))
            await outbox.put((writer, number))

    writers = [asyncio.create_task(say(writer, count)) for writer, count in enumerate(batches)]
    got: list[tuple[int, int]] = []
    marks = cancelled = 0
    for move in moves:
        match move:
            case "get" if outbox._items:
                got.append(await outbox.get())
            case "wait":
                await asyncio.sleep(0)
            case "cancel":
                cancelled += choice.choice(writers).cancel()
            case "mark":
                marks += 1
                outbox.mark((-1, marks))
        waiting = sum(writer >= 0 for (writer, _), _ in outbox._items)
        assert waiting <= room + cancelled
    while any(not writer.done() for writer in writers) or outbox._items:
        got.append(await outbox.get()) if outbox._items else await asyncio.sleep(0)
    assert len(got) == len(set(got))
    assert {item for item in got if item[0] >= 0} == begun
    for writer in range(-1, len(batches)):
        own = [number for who, number in got if who == writer]
        assert own == sorted(own)
    assert outbox._free == room
    assert not outbox._writers
