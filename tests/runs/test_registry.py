"""The live runs of a process keep their leases, hear cancels from elsewhere and end with their process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta

import pytest
from django.utils import timezone

from runs import ledger, registry
from runs.control import CancelReason, RunControl
from runs.models import Run, Status
from runs.supervisor import supervise
from streaming.codes import RunCode
from streaming.events import RunStatus
from tests.runs.conftest import (
    Played,
    admit_async,
    completed,
    flushed,
    in_thread,
    listen,
    row_async,
    row_when,
    text,
)

pytestmark = pytest.mark.usefixtures("ledger_loop")


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BEAT", 0.01)
    monkeypatch.setattr(registry, "BEATS_A_LEASE", 2)


@pytest.mark.usefixtures("fast")
async def test_it_hears_a_cancel_that_another_process_asked_for() -> None:
    ticket, other = await admit_async(), await admit_async()
    async with (
        aclosing(supervise(ticket, Played([text("x")]))) as source,
        aclosing(supervise(other, Played([text("x")]))) as undisturbed,
    ):
        await anext(source)
        await anext(undisturbed)
        await flushed()
        await in_thread(ledger.request_cancel)(ticket.run_id)

        _, terminal = await listen(source)

        assert terminal.status is RunStatus.CANCELLED
        assert (await row_async(other.run_id)).status == Status.RUNNING


@pytest.mark.usefixtures("fast")
async def test_it_renews_leases_while_runs_are_live() -> None:
    ticket = await admit_async()
    async with aclosing(supervise(ticket, Played([text("x")]))) as source:
        await anext(source)
        await flushed()
        over = timezone.now() - timedelta(seconds=1)
        await Run.objects.filter(pk=ticket.run_id).aupdate(lease_until=over)

        assert await row_when(ticket.run_id, lambda run: run.lease_until > over)


@pytest.mark.usefixtures("fast")
async def test_it_ends_a_run_that_is_not_ours_any_more() -> None:
    ticket = await admit_async()
    async with aclosing(supervise(ticket, Played([text("x")]))) as source:
        await anext(source)
        await flushed()
        reap = in_thread(ledger.reap)
        assert await reap(timezone.now() + timedelta(hours=1)) == 1

        _, terminal = await listen(source)

    assert terminal.code is RunCode.RUN_INTERRUPTED


@pytest.mark.usefixtures("fast")
async def test_it_beats_on_when_the_ledger_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hear, failures = ledger.requested_cancels, iter([OSError("no route")])

    def away() -> set[str]:
        for failure in failures:
            raise failure
        return hear()

    monkeypatch.setattr(ledger, "requested_cancels", away)
    ticket = await admit_async()
    async with aclosing(supervise(ticket, Played([text("x")]))) as source:
        await anext(source)
        await flushed()
        await Run.objects.filter(pk=ticket.run_id).aupdate(cancel_requested=True)

        _, terminal = await listen(source)

    assert terminal.status is RunStatus.CANCELLED
    assert "could not be asked about live runs" in caplog.text


@pytest.mark.usefixtures("fast")
async def test_it_stops_beating_when_no_run_is_live() -> None:
    await listen(supervise(await admit_async(), Played([], completed())))

    beating = registry.current()._beating
    assert beating is not None
    async with asyncio.timeout(5):
        await beating


async def test_it_interrupts_every_run_at_shutdown_and_waits_for_their_rows() -> None:
    tickets = [await admit_async() for _ in range(3)]
    plays = [Played([text("x")]) for _ in tickets]
    readers = [asyncio.create_task(listen(supervise(*pair))) for pair in zip(tickets, plays, strict=True)]
    for played in plays:
        await played.begun.wait()

    await registry.current().shutdown(5)

    assert {(await row_async(ticket.run_id)).code for ticket in tickets} == {RunCode.RUN_INTERRUPTED}
    for reader in readers:
        _, terminal = await reader
        assert terminal.code is RunCode.RUN_INTERRUPTED


async def test_it_interrupts_what_comes_after_the_shutdown() -> None:
    await registry.current().shutdown(0)

    _, terminal = await listen(supervise(await admit_async(), Played([text("x")])))

    assert terminal.code is RunCode.RUN_INTERRUPTED


async def test_it_does_not_wait_for_a_deaf_run_for_ever(
    caplog: pytest.LogCaptureFixture, deaf: RunControl
) -> None:
    await registry.current().shutdown(0.01)

    assert deaf.reason is CancelReason.SHUTDOWN
    assert "did not end in time" in caplog.text


@pytest.fixture
async def deaf() -> AsyncIterator[RunControl]:
    control = RunControl()
    with registry.current().live("run_deaf", 1, control):
        yield control


async def test_it_cancels_only_what_is_live(deaf: RunControl) -> None:
    assert registry.cancel("run_unknown", CancelReason.USER) is False
    assert registry.cancel("run_deaf", CancelReason.USER) is True
    await asyncio.sleep(0)

    assert deaf.reason is CancelReason.USER


async def test_it_stops_for_a_view_what_is_live_here_and_says_how_the_row_stands() -> None:
    ticket = await admit_async()
    async with aclosing(supervise(ticket, Played([text("x")]))) as source:
        await anext(source)
        await flushed()

        run = await in_thread(registry.stop)(ticket.run_id)

        assert run is not None
        assert run.status == Status.RUNNING
        _, terminal = await listen(source)
    assert terminal.status is RunStatus.CANCELLED
    assert await in_thread(registry.stop)("run_unknown") is None
