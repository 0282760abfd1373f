"""The reaper ends what a killed process left, at once and again and again."""

import logging
from datetime import timedelta

import pytest
from django.utils import timezone

from runs import process, reaper, registry
from runs.models import RateWindow, Run, Status
from runs.reaper import Reaper
from tests.runs.conftest import admit_async, row_when

pytestmark = pytest.mark.usefixtures("ledger_loop")


async def orphan() -> str:
    ticket = await admit_async()
    over = timezone.now() - timedelta(seconds=1)
    await Run.objects.filter(pk=ticket.run_id).aupdate(status=Status.RUNNING, lease_until=over)
    return ticket.run_id


async def reaped(run_id: str) -> None:
    await row_when(run_id, lambda run: run.status == Status.FAILED)


async def test_it_sweeps_at_its_start_and_then_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaper, "EVERY", 0.01)
    old = timezone.now() - timedelta(hours=2)
    await RateWindow.objects.acreate(key="a", minute=old)
    first = await orphan()
    process.start()
    process.start()

    await reaped(first)
    await reaped(await orphan())

    assert await RateWindow.objects.acount() == 0
    await process.drain(1)
    await process.stop()
    assert registry.current()._stopping


async def test_it_goes_on_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reaper, "EVERY", 0.01)
    sweep, failures = reaper.sweep, iter([OSError("no route")])

    def away() -> None:
        for failure in failures:
            raise failure
        sweep()

    monkeypatch.setattr(reaper, "sweep", away)
    broom = Reaper()
    with caplog.at_level(logging.WARNING):
        broom.start()
        await reaped(await orphan())
    await broom.stop()

    assert "could not be swept: no route" in caplog.text


async def test_it_can_be_stopped_without_having_begun() -> None:
    await Reaper().stop()
