"""The writer gathers what all runs have to store, waits for nobody without need, and survives bad rows."""

import asyncio
import gc
import logging
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connections
from django.utils import timezone

from runs import batches, ledger, writer
from runs.batches import Record, Result, Start, Unreachable, Work
from runs.ledger import Finish
from runs.models import Run, Status, TraceEntry
from runs.trace import Entry
from runs.writer import Writer
from streaming.codes import RunCode
from streaming.events import RunEnded
from tests.runs.conftest import USED, admit, admit_async, completed, flushed, in_thread, row_async

pytestmark = pytest.mark.usefixtures("ledger_loop")


def entry(seq: int, data: object = "x") -> Entry:
    return Entry(seq, "agent_1", "tool_call", {"data": data}, timezone.now())


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[list[Work]]:
    """The batches that were written, in order."""
    seen: list[list[Work]] = []
    write = batches.write

    def watched(works: Sequence[Work]) -> list[Result]:
        seen.append(list(works))
        return write(works)

    monkeypatch.setattr(batches, "write", watched)
    return seen


def failing(monkeypatch: pytest.MonkeyPatch, fails: Callable[[Work], bool], error: Exception) -> None:
    """Let `_apply` raise for every batch that holds what `fails` names."""
    apply = batches._apply

    def broken(works: Sequence[Work]) -> list[Result]:
        if any(fails(work) for work in works):
            raise error
        return apply(works)

    monkeypatch.setattr(batches, "_apply", broken)


async def test_it_writes_at_once_when_idle_and_gathers_after_that(written: list[list[Work]]) -> None:
    pen = writer.current()
    tickets = [await admit_async() for _ in range(3)]

    assert await pen.start(tickets[0].run_id, 1) is True
    first = len(written)
    begun = [pen.start(ticket.run_id, 1) for ticket in tickets[1:]]
    pen.record(tickets[0].run_id, 1, [entry(1), entry(2)])
    await asyncio.gather(*begun)

    assert first == 1
    assert [[type(work) for work in batch] for batch in written] == [[Start], [Start, Start, Record]]
    assert await TraceEntry.objects.acount() == 2


async def test_it_does_not_let_an_end_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "COLLECT", 60)
    pen = writer.current()
    ticket = await admit_async()
    await pen.start(ticket.run_id, 1)

    pen.record(ticket.run_id, 1, [entry(1)])
    async with asyncio.timeout(5):
        terminal = await pen.finish(Finish(ticket.run_id, 1, completed()))

    assert terminal.success
    assert await TraceEntry.objects.acount() == 1


async def test_it_says_whether_a_run_may_go_on() -> None:
    pen = writer.current()
    ticket = await admit_async()
    await in_thread(ledger.request_cancel)(ticket.run_id)

    assert await pen.start(ticket.run_id, 1) is False


async def test_it_starts_and_ends_a_run_in_one_batch() -> None:
    pen = writer.current()
    ticket = await admit_async()
    started = pen.start(ticket.run_id, 1)

    terminal = await pen.finish(Finish(ticket.run_id, 1, completed()))

    assert started.result() is True
    assert terminal.success
    assert (await row_async(ticket.run_id)).started_at is not None


async def test_it_lets_a_bad_row_harm_only_its_own_run(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = await admit_async(), await admit_async()
    failing(monkeypatch, lambda work: work.run_id == bad.run_id, ValueError("cannot be stored"))
    pen = writer.current()

    with caplog.at_level(logging.ERROR):
        failed, fine = await asyncio.gather(
            pen.finish(Finish(bad.run_id, 1, completed())), pen.finish(Finish(good.run_id, 1, completed()))
        )

    assert fine.success
    assert (failed.code, failed.outputs) == (RunCode.AGENT_RUN_FAILED, {})
    run = await row_async(bad.run_id)
    assert (run.status, run.detail) == (Status.FAILED, "Its result could not be stored: cannot be stored")
    assert run.usage["total_tokens"] == USED.total_tokens
    assert len(caplog.records) == 1


async def test_it_goes_on_when_a_trace_cannot_be_written() -> None:
    pen = writer.current()
    ticket = await admit_async()
    pen.record("run_that_was_erased", 1, [entry(1)])
    pen.record(ticket.run_id, 1, [entry(1)])

    assert (await pen.finish(Finish(ticket.run_id, 1, completed()))).success
    assert await TraceEntry.objects.acount() == 1


async def test_it_ends_the_stream_of_an_erased_run() -> None:
    ticket = await admit_async()
    await Run.objects.all().adelete()

    terminal = await writer.current().finish(Finish(ticket.run_id, 1, completed()))

    assert (terminal.run_id, terminal.code) == (ticket.run_id, RunCode.AGENT_RUN_FAILED)


async def test_it_stores_a_batch_again_whose_commit_was_not_heard_of() -> None:
    ticket = await admit_async()
    works: list[Work] = [
        Start(ticket.run_id, 1),
        Record(ticket.run_id, 1, [entry(1)]),
        Finish(ticket.run_id, 1, completed()),
    ]

    first = await in_thread(batches.write)(works)
    second = await in_thread(batches.write)(works)

    assert first[2] == second[2]
    assert await TraceEntry.objects.acount() == 1


async def test_it_tries_again_until_the_database_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ticket = await admit_async()
    write, failures = batches.write, iter([Unreachable("a"), Unreachable("b")])

    def away(works: Sequence[Work]) -> list[Result]:
        for failure in failures:
            raise failure
        return write(works)

    monkeypatch.setattr(batches, "write", away)

    assert (await writer.current().finish(Finish(ticket.run_id, 1, completed()))).success
    assert caplog.text.count("trying again") == 2


async def test_it_gives_up_a_database_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(works: Sequence[Work]) -> list[Result]:
        raise Unreachable("no route")

    monkeypatch.setattr(batches, "write", away)
    monkeypatch.setattr(writer, "GIVE_UP", -1)
    pen = writer.current()

    terminal = await pen.finish(Finish("run_1", 1, completed()))

    assert (terminal.code, terminal.success) == (RunCode.AGENT_RUN_FAILED, False)
    assert "no route" in terminal.detail
    assert await pen.start("run_2", 1) is True


async def test_it_still_answers_after_it_was_closed(caplog: pytest.LogCaptureFixture) -> None:
    ticket = await admit_async()
    pen = Writer()
    await pen.close()

    terminal = await pen.finish(Finish(ticket.run_id, 1, completed()))

    assert terminal.code is RunCode.AGENT_RUN_FAILED
    assert "1 rows are lost" in caplog.text


def test_it_knows_a_bad_row_from_a_database_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = admit()
    failing(monkeypatch, lambda work: True, OperationalError("index row size exceeds maximum"))
    end = Finish(ticket.run_id, 1, completed())

    (result,) = batches.write([end])
    assert isinstance(result, RunEnded)
    assert result.code is RunCode.AGENT_RUN_FAILED

    monkeypatch.setattr(batches, "_answers", lambda: False)
    with pytest.raises(Unreachable):
        batches.write([end])


async def test_it_drops_traces_rather_than_grow(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(writer, "MAX_ENTRIES", 3)
    pen = writer.current()
    ticket = await admit_async()

    for seq in (1, 3, 5):
        pen.record(ticket.run_id, 1, [entry(seq), entry(seq + 1)])
    await flushed()
    pen.record(ticket.run_id, 1, [entry(7)])
    await flushed()

    assert [seq async for seq in TraceEntry.objects.values_list("seq", flat=True)] == [1, 2, 7]
    assert caplog.text.count("traces are incomplete") == 1


async def test_it_holds_no_connection_when_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "IDLE", 0.01)
    pen = Writer()
    ticket = await admit_async()
    await pen.start(ticket.run_id, 1)
    drainer = pen._drainer
    assert drainer is not None
    await drainer

    def held(pool: ThreadPoolExecutor) -> list[object]:
        return pool.submit(lambda: [c.connection for c in connections.all(initialized_only=True)]).result(5)

    assert await pen.call(Run.objects.count) == 1
    for pool in (pen._batch_thread, pen._call_thread):
        assert [connection for connection in held(pool) if connection is not None] == []

    terminal = await pen.finish(Finish(ticket.run_id, 1, completed()))
    assert terminal.success
    await pen.close()


async def test_it_writes_what_waits_when_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "COLLECT", 60)
    pen = Writer()
    ticket = await admit_async()
    await pen.start(ticket.run_id, 1)
    pen.record(ticket.run_id, 1, [entry(1)])
    pen.finish_soon(Finish(ticket.run_id, 1, completed()))

    await pen.close()

    assert await TraceEntry.objects.acount() == 1
    assert (await row_async(ticket.run_id)).status == Status.COMPLETED


async def test_it_is_one_for_a_loop() -> None:
    assert writer.current() is writer.current()

    async def other() -> Writer:
        return writer.current()

    assert await asyncio.to_thread(lambda: asyncio.run(other())) is not writer.current()


async def test_it_keeps_no_context_of_a_request_alive() -> None:
    """A task holds the context it is made in, and a request's context holds its thread and connections."""
    held: ContextVar[object] = ContextVar("held")
    ticket = await admit_async()
    pen = writer.current()
    request = Request()
    seen, token = weakref.ref(request), held.set(request)
    begun = pen.start(ticket.run_id, 1)
    held.reset(token)
    del request, token
    await begun

    gc.collect()
    assert pen._drainer is not None
    assert seen() is None


class Request:
    pass


# --- Crowds -------------------------------------------------------------------------------------------------


def many_turns(turns: int) -> list[bool]:
    """Be one process: admit, start, trace and end some runs through a writer of our own."""

    async def turn(pen: Writer) -> bool:
        ticket = await in_thread(admit)()
        pen.start(ticket.run_id, 1)
        for seq in range(0, 30, 3):
            pen.record(ticket.run_id, 1, [entry(seq + n) for n in range(3)])
            await asyncio.sleep(0)
        return (await pen.finish(Finish(ticket.run_id, 1, completed()))).success

    async def all_turns() -> list[bool]:
        pen = Writer()
        try:
            return list(await asyncio.gather(*(turn(pen) for _ in range(turns))))
        finally:
            await pen.close()

    return asyncio.run(all_turns())


def test_b064_six_writers_and_edits_by_hand_meet_no_lock() -> None:
    user = User.objects.create_user("editor")
    with ThreadPoolExecutor(6) as pool:
        crowd = [pool.submit(many_turns, 5) for _ in range(6)]
        began = time.monotonic()
        while not all(one.done() for one in crowd):
            User.objects.filter(pk=user.pk).update(first_name=f"{time.monotonic()}")
            assert time.monotonic() - began < 60
        results = [success for one in crowd for success in one.result()]

    assert results == [True] * 30
    assert Run.objects.filter(status=Status.COMPLETED).count() == 30
    assert TraceEntry.objects.count() == 900
