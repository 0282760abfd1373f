"""The calls of one turn, run concurrently under the guards. No task of it is left behind."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

from agents.conversation import ToolCall, ToolMessage
from agents.guards import Counted, Guards, Refusal, Repeated
from agents.records import ToolRecord
from agents.timeline import Timeline
from agents.tools.base import Tool, ToolResult
from agents.tools.call import call_tool, limit_among
from streaming.events import AgentEvent, ToolStatus

#: How long tools may take to stop when their run is cancelled.
STOP_SECONDS = 1.0

INTERRUPTED = ToolResult("The call was interrupted by its own side before it had a result.", is_error=True)

log = logging.getLogger(__name__)


class ToolTurn:
    """`calls` and `records` are the same calls, as the conversation and as the run knows them."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        guards: Guards,
        calls: Sequence[ToolCall],
        records: Sequence[ToolRecord],
        timeline: Timeline,
    ) -> None:
        self._tools = tools
        self._guards = guards
        self._calls = calls
        self._records = records
        self._timeline = timeline

    async def events(self) -> AsyncGenerator[list[AgentEvent], None]:
        """Refusals at once, each other call as it settles, at last the suspensions this turn brought."""
        refusals = self._guards.admit(self._calls)
        refused: list[AgentEvent] = []
        tasks: dict[asyncio.Task[None], ToolRecord] = {}
        for call, record, refusal in zip(self._calls, self._records, refusals, strict=True):
            if refusal is None:
                tasks[asyncio.create_task(self._run(call, record))] = record
            else:
                refused += self._refuse(record, refusal)
        try:
            if refused:
                yield refused
            pending = set(tasks)
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                yield [_settled(task, record).tell() for task, record in tasks.items() if task in done]
        finally:
            await _stop(tasks)
        if warnings := self._guards.count(self._counted(refusals)):
            yield list(warnings)

    def messages(self) -> list[ToolMessage]:
        """What the model reads of each call, in call order."""
        return [
            ToolMessage(call.id, call.name, record.result, record.status is not ToolStatus.SUCCESS)
            for call, record in zip(self._calls, self._records, strict=True)
        ]

    async def _run(self, call: ToolCall, record: ToolRecord) -> None:
        tool = self._tools.get(call.name)
        record.started = self._timeline.now()
        try:
            limit = limit_among(len(self._calls))
            record.settle(await call_tool(tool, call, tuple(self._tools), limit))
        finally:
            record.ended = self._timeline.now()
            if tool is not None:
                self._timeline.add("tool", call.name, record.started)

    def _refuse(self, record: ToolRecord, refusal: Refusal) -> list[AgentEvent]:
        record.started = record.ended = self._timeline.now()
        record.settle(refusal.result)
        warnings = [refusal.warning] if isinstance(refusal, Repeated) else []
        return [*warnings, record.tell()]

    def _counted(self, refusals: Sequence[Refusal | None]) -> list[Counted]:
        return [
            Counted(call, refusal, ToolResult(record.result, record.status is not ToolStatus.SUCCESS))
            for call, record, refusal in zip(self._calls, self._records, refusals, strict=True)
        ]


def _settled(task: asyncio.Task[None], record: ToolRecord) -> ToolRecord:
    """A task that was cancelled, though nobody here did it, is a failed call and no end of the run."""
    if task.cancelled():
        record.settle(INTERRUPTED)
    else:
        task.result()
    return record


async def _stop(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel what still runs and wait for it, but not for ever."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        _, stuck = await asyncio.wait(running, timeout=STOP_SECONDS)
        if stuck:
            log.error("%d tool calls did not stop within %s s of being cancelled", len(stuck), STOP_SECONDS)
