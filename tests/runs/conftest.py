"""What tests of the ledger share: admitted runs, executions played from a script, a writer that ends."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable
from typing import Any, ParamSpec, TypeVar

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from runs import registry, writer
from runs.admission import ConversationRef, NewRun, Ticket, admit_run
from runs.control import CANCEL_CODES, CancelReason, ExecutionEnded, RunControl
from runs.ledger import nothing_ran
from runs.models import Run, Surface
from streaming.codes import RunCode
from streaming.events import BlockStreamed, RunEnded, RunEvent, TextDelta, Usage

P = ParamSpec("P")
T = TypeVar("T")

USED = Usage(input_tokens=7, output_tokens=3, total_tokens=10)


def completed(answer: str | None = "Forty-two.", **changes: Any) -> ExecutionEnded:
    """Return the end of an execution that went well."""
    values: dict[str, Any] = {
        "code": None,
        "detail": "",
        "outputs": {"agent_1": {"content": answer}},
        "terminal_blocks": ("agent_1",),
        "usage": USED,
        "cost": 0.25,
        "rounds": 1,
        "tool_calls": 0,
        "stop_reason": "end_turn",
        "answer": answer,
    }
    return ExecutionEnded(**values | changes)


def ended(code: RunCode, detail: str = "") -> ExecutionEnded:
    return nothing_ran(code, detail)


def admit(said: str = "Hello", conversation: ConversationRef | None = None, **changes: Any) -> Ticket:
    """Admit a chat's run, as its view does."""
    ref = conversation or ConversationRef(scope="chat:1", owner="visitor")
    return admit_run(NewRun(surface=Surface.CHAT, said=said, visitor="visitor", **changes), conversation=ref)


def text(delta: str) -> BlockStreamed:
    return BlockStreamed("agent_1", [TextDelta(delta)])


def row(run_id: str) -> Run:
    return Run.objects.get(pk=run_id)


async def row_when(run_id: str, wanted: Callable[[Run], bool]) -> Run:
    """Return the row as soon as it is as wanted; others write it, and no event tells of it."""
    async with asyncio.timeout(10):
        while not wanted(found := await row_async(run_id)):
            pass
    return found


def in_thread(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return `function` to be awaited: it runs in another thread and leaves no connection there."""

    def unconnected(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        finally:
            connections.close_all()

    return sync_to_async(unconnected, thread_sensitive=False)


admit_async = in_thread(admit)
row_async = in_thread(row)


class Played:
    """An execution from a script. Without an end of its own it waits until it is cancelled.

    `begun` is set when it is first asked for an event, `closed` when its generator has ended, however.
    """

    def __init__(
        self,
        events: Iterable[RunEvent] = (),
        end: ExecutionEnded | None = None,
        *,
        before: Callable[[RunControl], None] = lambda control: None,
    ) -> None:
        self._events, self._end, self._before = list(events), end, before
        self.begun, self.closed = asyncio.Event(), asyncio.Event()
        self.control: RunControl | None = None

    async def __call__(self, control: RunControl) -> AsyncGenerator[RunEvent | ExecutionEnded, None]:
        self.control = control
        cancelled: asyncio.Future[CancelReason] = asyncio.get_running_loop().create_future()
        control.on_cancel(lambda reason: None if cancelled.done() else cancelled.set_result(reason))
        self.begun.set()
        try:
            self._before(control)
            for event in self._events:
                yield event
            if self._end is not None:
                yield self._end
            else:
                reason = await cancelled
                yield ended(CANCEL_CODES[reason], reason)
        finally:
            self.closed.set()


async def listen(source: AsyncGenerator[RunEvent, None]) -> tuple[list[RunEvent], RunEnded]:
    """Read a supervised run to its end, which must come; the last event must be its only terminal."""
    async with asyncio.timeout(30):
        events = [event async for event in source]
    terminals = [event for event in events if isinstance(event, RunEnded)]
    assert len(terminals) == 1
    assert events[-1] is terminals[0]
    return events[:-1], terminals[0]


async def flushed() -> None:
    """Wait until everything that the writer was given is written."""
    await writer.current().flush()


@pytest.fixture
async def ledger_loop(transactional_db: None) -> AsyncIterator[None]:
    """A database that threads see, and a writer that has ended when the test has."""
    yield
    await registry.current().shutdown(5)
    await writer.current().close()
    await sync_to_async(connections.close_all)()  # of the thread that `aget` and its like use
