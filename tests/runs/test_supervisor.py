"""However an execution ends, the row ends, and the listener gets one terminal made from it."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import Any

import pytest
from django.db.backends.utils import CursorWrapper

from runs import batches, ledger, registry, writer
from runs.batches import Result, Unreachable, Work
from runs.control import CancelReason, ExecutionEnded, RunControl
from runs.ledger import request_cancel
from runs.models import Message, Run, Status, TraceEntry
from runs.supervisor import supervise
from streaming.codes import RunCode
from streaming.events import BlockStreamed, RunEvent, RunStatus, ThinkingDelta, ToolCallReady, Usage
from tests.runs.conftest import (
    USED,
    Played,
    admit_async,
    completed,
    ended,
    flushed,
    in_thread,
    listen,
    row_async,
    text,
)

pytestmark = pytest.mark.usefixtures("ledger_loop")

CALL = BlockStreamed(
    "agent_1", [ThinkingDelta("hm"), ToolCallReady(0, "call_1", "find", '{"q": "\x00\ud800"}')]
)


@in_thread
def marks() -> list[str]:
    return list(Message.objects.filter(role="assistant").values_list("status", flat=True))


@in_thread
def traced(run_id: str) -> list[tuple[str, object]]:
    return list(TraceEntry.objects.filter(run_id=run_id).values_list("kind", "data"))


async def disconnect(source: AsyncGenerator[RunEvent, None]) -> None:
    """Leave as a server does when the socket is gone: the task that awaits the next event is cancelled."""

    async def read() -> None:
        async with aclosing(source):
            async for _ in source:
                begun.set()

    begun = asyncio.Event()
    reader = asyncio.create_task(read())
    await begun.wait()
    await asyncio.sleep(0)
    reader.cancel()
    with suppress(asyncio.CancelledError):
        await reader


# --- Ends ---------------------------------------------------------------------------------------------------


async def test_it_passes_events_through_and_ends_with_the_row() -> None:
    ticket = await admit_async()
    said = [text("Forty"), text("-two.")]

    events, terminal = await listen(supervise(ticket, Played(said, completed())))

    assert events == said
    assert terminal.success
    assert terminal.outputs == {"agent_1": {"content": "Forty-two."}}
    run = await row_async(ticket.run_id)
    assert run.status == RunStatus.COMPLETED
    assert run.started_at is not None
    assert run.usage["total_tokens"] == USED.total_tokens


async def test_it_ends_with_the_failure_of_the_execution() -> None:
    ticket = await admit_async()

    _, terminal = await listen(supervise(ticket, Played(end=ended(RunCode.PROVIDER_AUTH, "bad key"))))

    assert (terminal.success, terminal.code, terminal.detail) == (False, RunCode.PROVIDER_AUTH, "bad key")
    assert await marks() == ["failed"]


async def test_it_fails_the_run_when_the_execution_breaks(caplog: pytest.LogCaptureFixture) -> None:
    def break_down(control: RunControl) -> None:
        control.facts.usage = Usage(input_tokens=5)
        raise ZeroDivisionError("secret detail")

    ticket = await admit_async()
    with caplog.at_level(logging.ERROR):
        _, terminal = await listen(supervise(ticket, Played(before=break_down)))

    assert (terminal.code, terminal.detail) == (RunCode.AGENT_RUN_FAILED, "ZeroDivisionError: secret detail")
    assert (await row_async(ticket.run_id)).usage["input_tokens"] == 5
    assert len(caplog.records) == 1


async def test_it_fails_the_run_when_the_execution_stops_without_an_end() -> None:
    async def nothing(control: RunControl) -> AsyncGenerator[RunEvent | ExecutionEnded, None]:
        yield text("x")

    ticket = await admit_async()

    events, terminal = await listen(supervise(ticket, nothing))

    assert (len(events), terminal.code) == (1, RunCode.AGENT_RUN_FAILED)


async def test_it_closes_the_execution_after_its_end() -> None:
    played = Played([text("x")], completed())

    await listen(supervise(await admit_async(), played))

    assert played.closed.is_set()


# --- Cancels ------------------------------------------------------------------------------------------------


async def test_it_times_out() -> None:
    ticket = await admit_async(max_seconds=0.01)

    _, terminal = await listen(supervise(ticket, Played([text("x")])))

    assert (terminal.code, terminal.status) == (RunCode.RUN_TIMEOUT, RunStatus.FAILED)


async def test_it_times_no_ended_run_out() -> None:
    ticket = await admit_async(max_seconds=0.01)
    played = Played([], completed())
    source = supervise(ticket, played)
    await anext(source)
    await source.aclose()

    await asyncio.sleep(0.02)

    assert played.control is not None
    assert played.control.reason is None


async def test_it_stops_from_another_thread() -> None:
    ticket = await admit_async()
    async with aclosing(supervise(ticket, Played([text("x")]))) as source:
        await anext(source)
        await asyncio.to_thread(registry.cancel, ticket.run_id, CancelReason.USER)

        _, terminal = await listen(source)

    assert terminal.status is RunStatus.CANCELLED
    assert await marks() == ["stopped"]


async def test_b037_a_stop_before_the_start_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BEAT", 3600)
    ticket = await admit_async()
    await in_thread(request_cancel)(ticket.run_id)
    played = Played([text("x")])

    async with asyncio.timeout(20):
        _, terminal = await listen(supervise(ticket, played))

    assert (terminal.code, terminal.status) == (RunCode.RUN_CANCELLED, RunStatus.CANCELLED)
    assert terminal.detail == "Stopped before it began."


async def test_it_says_what_the_row_says_when_somebody_else_was_faster() -> None:
    ticket = await admit_async()
    async with aclosing(supervise(ticket, Played([text("x")], completed()))) as source:
        await anext(source)
        await flushed()
        await Run.objects.filter(pk=ticket.run_id).aupdate(
            lease_until=(await row_async(ticket.run_id)).created_at
        )
        now = (await row_async(ticket.run_id)).created_at.replace(year=2100)
        assert await in_thread(ledger.reap)(now) == 1

        _, terminal = await listen(source)

    assert (terminal.code, terminal.outputs) == (RunCode.RUN_INTERRUPTED, {})


@pytest.mark.parametrize("repeat", [1, 30])
async def test_b037_starts_and_stops_leave_nothing_running(repeat: int) -> None:
    async def stopped(number: int) -> None:
        ticket = await admit_async()
        source = supervise(ticket, Played([text("x")] * 3))
        async with aclosing(source):
            for _ in range(number % 4):
                await anext(source)
            registry.cancel(ticket.run_id, CancelReason.USER)
            if number % 4:
                await listen(source)
            else:
                await in_thread(registry.stop)(ticket.run_id)

    before = asyncio.all_tasks()
    await asyncio.gather(*(stopped(number) for number in range(repeat)))
    await flushed()

    assert await Run.objects.exclude(status=Status.CANCELLED).acount() == 0
    await registry.current().shutdown(1)
    await writer.current().close()
    assert {task for task in asyncio.all_tasks() - before if "_beat" not in repr(task)} == set()


# --- Disconnects --------------------------------------------------------------------------------------------


async def test_it_cancels_with_what_was_used_when_the_client_leaves() -> None:
    def use(control: RunControl) -> None:
        control.facts.usage, control.facts.rounds = Usage(input_tokens=9, estimated=True), 1

    ticket = await admit_async()
    played = Played([text("x")], before=use)

    await disconnect(supervise(ticket, played))
    assert played.closed.is_set()
    await flushed()

    run = await row_async(ticket.run_id)
    assert (run.status, run.code, run.detail) == ("cancelled", RunCode.RUN_CANCELLED, "The client went away.")
    assert (run.usage["input_tokens"], run.usage["estimated"], run.rounds) == (9, True, 1)
    assert await marks() == ["stopped"]


async def test_it_cancels_when_the_stream_is_closed_between_events() -> None:
    ticket = await admit_async()
    played = Played([text("x"), text("y")])
    source = supervise(ticket, played)
    await anext(source)

    await source.aclose()
    await flushed()

    assert played.closed.is_set()
    assert (await row_async(ticket.run_id)).status == "cancelled"


async def test_it_gives_a_claim_back_when_the_client_leaves_and_only_then() -> None:
    left, stopped = await admit_async(), await admit_async()
    for ticket in (left, stopped):
        await Run.objects.filter(pk=ticket.run_id).aupdate(claim=ticket.run_id, claimed_request="x")

    await disconnect(supervise(left, Played([text("x")])))
    await listen(
        supervise(stopped, Played([text("x")], before=lambda control: control.cancel(CancelReason.USER)))
    )
    await flushed()

    assert (await row_async(left.run_id)).claim == ""
    assert (await row_async(stopped.run_id)).claim == stopped.run_id


async def test_it_keeps_the_first_reason_when_the_client_leaves_after_it() -> None:
    ticket = await admit_async(max_seconds=0)
    started = asyncio.Event()

    async def deaf(control: RunControl) -> AsyncGenerator[RunEvent | ExecutionEnded, None]:
        control.on_cancel(lambda reason: started.set())
        yield text("x")
        await asyncio.Event().wait()

    source = supervise(ticket, deaf)
    await anext(source)
    await started.wait()
    await source.aclose()
    await flushed()

    assert (await row_async(ticket.run_id)).code == RunCode.RUN_TIMEOUT


async def test_b060_sixty_cancelled_streams_count_their_usage_and_leave_room() -> None:
    def use(control: RunControl) -> None:
        control.facts.usage = Usage(total_tokens=3)

    tickets = [await admit_async() for _ in range(60)]
    await asyncio.gather(
        *(disconnect(supervise(ticket, Played([text("x")], before=use))) for ticket in tickets)
    )
    await flushed()

    runs = [run async for run in Run.objects.all()]
    assert {run.status for run in runs} == {"cancelled"}
    assert sum(run.usage["total_tokens"] for run in runs) == 180
    assert set(await marks()) == {"stopped"}
    _, terminal = await listen(supervise(await admit_async(), Played([], completed())))
    assert terminal.success


# --- Trace --------------------------------------------------------------------------------------------------


async def test_b062_it_traces_bytes_that_databases_refuse() -> None:
    ticket = await admit_async()

    await listen(supervise(ticket, Played([CALL], completed())))
    await flushed()

    assert await traced(ticket.run_id) == [
        ("tool_call", {"index": 0, "id": "call_1", "name": "find", "arguments": '{"q": "\ufffd\ufffd"}'})
    ]


@pytest.mark.parametrize("leaves", [True, False])
async def test_it_traces_thinking_by_policy_also_when_the_client_leaves(leaves: bool) -> None:
    ticket = await admit_async(trace_thinking=True)
    if leaves:
        await disconnect(supervise(ticket, Played([CALL])))
    else:
        await listen(supervise(ticket, Played([CALL], completed())))
    await flushed()

    assert [kind for kind, _ in await traced(ticket.run_id)] == ["tool_call", "thinking"]


# --- No database --------------------------------------------------------------------------------------------


async def test_it_touches_the_database_only_in_the_writer_s_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open stream that asks the database once holds a thread and a connection until it ends."""
    tickets = [await admit_async() for _ in range(50)]
    threads: set[str] = set()
    execute = CursorWrapper.execute

    def watched(self: CursorWrapper, *arguments: Any) -> Any:
        threads.add(threading.current_thread().name)
        return execute(self, *arguments)

    monkeypatch.setattr(CursorWrapper, "execute", watched)
    sources = [supervise(ticket, Played([CALL, text("x")])) for ticket in tickets]
    for source in sources:
        await anext(source)
    await flushed()
    for source in sources:
        await source.aclose()
    await flushed()

    assert "studio-writer_0" in threads
    assert threads <= {"studio-writer_0", "studio-ledger_0"}


async def test_it_still_ends_when_the_ledger_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ticket = await admit_async()
    reachable, write = threading.Event(), batches.write

    def away(works: Sequence[Work]) -> list[Result]:
        if not reachable.is_set():
            raise Unreachable("no route")
        return write(works)

    monkeypatch.setattr(batches, "write", away)
    monkeypatch.setattr(writer, "PATIENCE", 0.02)

    _, terminal = await listen(supervise(ticket, Played([text("x")], completed())))

    assert (terminal.code, terminal.success) == (RunCode.AGENT_RUN_FAILED, False)
    assert "could not be stored" in caplog.text
    reachable.set()
    await flushed()
    run = await row_async(ticket.run_id)
    assert (run.status, run.detail, run.output) == ("failed", "The ledger could not be reached.", {})
    assert run.usage["total_tokens"] == USED.total_tokens
    assert await marks() == ["failed"]
