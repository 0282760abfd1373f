"""Runs a plan: its blocks in tasks of their own, what they say merged into one stream of events.

A run ends once: with its last block, the first failure, or a cancel. From that moment nothing starts, tasks
are cancelled and waited for, open calls get their ends, and exactly one `ExecutionEnded` follows.
"""

import asyncio
import contextvars
import logging
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from agents.errors import AgentError
from runs.control import CANCEL_CODES, CancelReason, ExecutionEnded, RunControl
from runs.supervisor import DETAILS
from streaming.codes import RunCode
from streaming.events import (
    BlockCompleted,
    BlockFailed,
    BlockStarted,
    BlockStreamed,
    RunEvent,
    ToolStatus,
    Usage,
)
from workflows import answers, outbox
from workflows.blocks.base import Block, Result
from workflows.masking import Disclosure
from workflows.outbox import Outbox
from workflows.plan import Plan
from workflows.schedule import Schedule
from workflows.scope import Common, Scope
from workflows.tally import Tally
from workflows.templates import Outputs

#: How long blocks may take to stop (agent-events-v1 section 4).
STOP_SECONDS = 2.0

logger = logging.getLogger("workflows")


async def execute(plan: Plan, control: RunControl) -> AsyncGenerator[RunEvent | ExecutionEnded, None]:
    """Yield what the run says, at last one `ExecutionEnded`. Closing it cancels and awaits every block."""
    if plan.problem:
        yield _never_ran(plan.problem)
        return
    run = _Run(plan, control)
    try:
        run.begin()
        while (event := await run.outbox.get()) is not None:
            yield event
        await run.stop_blocks()
        for last in run.last_words():
            yield last
        yield run.ended()
    finally:
        await run.stop_blocks()
        run.tally.count()


def _never_ran(detail: str) -> ExecutionEnded:
    return ExecutionEnded(
        code=RunCode.BLOCK_FAILED,
        detail=detail,
        outputs={},
        terminal_blocks=(),
        usage=Usage(),
        cost=0.0,
        rounds=0,
        tool_calls=0,
        stop_reason="",
        answer=None,
    )


@dataclass(frozen=True)
class _Ending:
    """Why the run ends. `block`: the one that failed. `open_calls`: how calls still open end."""

    code: RunCode | None
    detail: str = ""
    block: str | None = None
    open_calls: ToolStatus = ToolStatus.CANCELLED


@dataclass(eq=False)
class _Running:
    """A block that has begun. `settled`: it has come to its own end."""

    block: Block
    order: int
    started_at: datetime
    scope: Scope
    settled: bool = False


class _Run:
    """One execution. Everything happens on one event loop, so between two awaits nothing changes."""

    def __init__(self, plan: Plan, control: RunControl) -> None:
        self.outbox: Outbox[RunEvent | None] = Outbox(outbox.ROOM)
        self.tally = Tally(control.facts)
        self._plan = plan
        self._control = control
        self._disclosure = Disclosure(plan.masker, texts=plan.masked_texts)
        self._schedule = Schedule(plan.graph.start.id, list(plan.graph.blocks), plan.graph.edges)
        #: What templates see: what the run was given as it is, everything else as it may leave.
        self._values: dict[str, dict[str, Any]] = {plan.graph.start.id: dict(plan.given)}
        self._outputs: dict[str, dict[str, Any]] = {}
        self._running: dict[asyncio.Task[None], _Running] = {}
        self._given_up: set[asyncio.Task[None]] = set()
        self._orders, calls = count(1), count(1)
        self._ending: _Ending | None = None
        self._common = Common(
            given=plan.given,
            history=plan.history,
            outputs=Outputs(self._values),
            outbox=self.outbox,
            tally=self.tally,
            next_call_id=lambda: f"call_{next(calls)}",
        )

    def begin(self) -> None:
        self._control.on_cancel(self._cancel)
        if self._ending is None:
            self._start(self._schedule.begin())

    # --- Blocks ---------------------------------------------------------------------------------------------

    def _start(self, ready: Iterable[str]) -> None:
        for block_id in ready:
            block = self._plan.graph.blocks[block_id]
            scope = Scope(block_id, self._common, self._disclosure.speech())
            running = _Running(block, next(self._orders), _now(), scope)
            self.outbox.mark(
                BlockStarted(block_id, block.title, block.type, running.order, running.started_at)
            )
            # An empty context: one inherited from the request would bring its database connections along.
            task = asyncio.get_running_loop().create_task(self._work(running), context=contextvars.Context())
            self._running[task] = running
            task.add_done_callback(self._gone)

    async def _work(self, running: _Running) -> None:
        try:
            result = await self._plan.works[running.block.id].run(running.scope)
            output = self._disclosure.output(result.output, running.scope.said)
        except Exception as error:
            self._fail(running, error)
        else:
            self._complete(running, result, output)

    def _gone(self, task: asyncio.Task[None]) -> None:
        """A task that ended without a word was cancelled by its own side; nobody else would say so."""
        if self._ending is not None:
            return
        error = None if task.cancelled() else task.exception()
        if error is not None or not self._running[task].settled:
            self._fail(self._running[task], error or asyncio.CancelledError("interrupted by its own side"))

    def _complete(self, running: _Running, result: Result, output: dict[str, Any]) -> None:
        if self._ending is not None:
            return
        running.settled = True
        block = running.block
        self._outputs[block.id] = output
        self._values.setdefault(block.id, output)
        given = self._disclosure.input(running.scope.input)
        began, ended = running.started_at, _now()
        self.outbox.mark(
            BlockCompleted(block.id, block.title, block.type, running.order, given, output, began, ended)
        )
        ready = self._schedule.settle(block.id, result.taken)
        if result.ended is not None:
            self._end(_Ending(result.ended, f"{block.id}: {result.detail}"))
            return
        self._start(ready)
        if all(other.settled for other in self._running.values()):
            self._end(_Ending(None))

    def _fail(self, running: _Running, error: BaseException) -> None:
        if self._ending is not None:
            return
        running.settled = True
        block = running.block
        code = error.code if isinstance(error, AgentError) else RunCode.BLOCK_FAILED
        if not isinstance(error, AgentError):
            # A traceback may quote what a rule would mask.
            trace = error if self._plan.masker is None else None
            logger.error("Block %s failed unexpectedly (%s).", block.id, type(error).__name__, exc_info=trace)
        detail = self._disclosure.reason(error)
        given = self._disclosure.input(running.scope.input)
        began, ended = running.started_at, _now()
        self.outbox.mark(
            BlockFailed(block.id, block.title, block.type, running.order, given, code, detail, began, ended)
        )
        self._end(_Ending(code, f"{block.id}: {detail}", block.id))

    # --- The end --------------------------------------------------------------------------------------------

    def _cancel(self, reason: CancelReason) -> None:
        open_calls = ToolStatus.ERROR if reason is CancelReason.TIMEOUT else ToolStatus.CANCELLED
        self._end(_Ending(CANCEL_CODES[reason], DETAILS[reason], open_calls=open_calls))

    def _end(self, ending: _Ending) -> None:
        if self._ending is not None:
            return
        self._ending = ending
        self.outbox.mark(None)
        for task, running in self._running.items():
            if not running.settled:
                task.cancel()

    async def stop_blocks(self) -> None:
        """See that no block runs any more; those that do not stop are left behind, and logged."""
        self._end(_Ending(RunCode.RUN_CANCELLED, DETAILS[CancelReason.DISCONNECT]))
        waiting = [task for task in self._running if not task.done() and task not in self._given_up]
        if not waiting:
            return
        _, stuck = await asyncio.wait(waiting, timeout=STOP_SECONDS)
        self._given_up |= stuck
        for task in stuck:
            logger.error("Block %s did not stop within %s s.", self._running[task].block.id, STOP_SECONDS)

    def last_words(self) -> Iterator[RunEvent]:
        """What was said before the blocks stopped and not heard yet, then the ends of open calls."""
        assert self._ending is not None
        yield from (event for event in self.outbox.rest() if event is not None)
        for running in self._running.values():
            failed = running.block.id == self._ending.block
            if ends := running.scope.end_calls(ToolStatus.ERROR if failed else self._ending.open_calls):
                yield BlockStreamed(running.block.id, ends)

    def ended(self) -> ExecutionEnded:
        assert self._ending is not None
        facts = self.tally.snapshot()
        terminal = tuple(block for block in self._outputs if self._schedule.is_terminal(block))
        answered = self._ending.code is None
        return ExecutionEnded(
            code=self._ending.code,
            detail=self._ending.detail,
            outputs=self._outputs,
            terminal_blocks=terminal,
            usage=facts.usage,
            cost=facts.cost,
            rounds=facts.rounds,
            tool_calls=facts.tool_calls,
            stop_reason=facts.stop_reason,
            answer=self._answer(terminal) if answered else None,
        )

    def _answer(self, terminal: Sequence[str]) -> str | None:
        return answers.answer(self._plan.graph, self._plan.selected, self._outputs, terminal)


def _now() -> datetime:
    return datetime.now(UTC)
