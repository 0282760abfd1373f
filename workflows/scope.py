"""One running block: what it may use of its run, and its way out. No database on it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from agents.conversation import Message
from agents.loop import AgentRun
from streaming.events import (
    AgentEvent,
    AgentFinished,
    BlockStreamed,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolSettled,
    ToolStatus,
)
from workflows.outbox import Outbox
from workflows.speech import MaskedSpeech
from workflows.tally import Tally
from workflows.templates import Outputs

#: After one of these nothing has changed that the ledger counts.
_DELTAS = frozenset({TextDelta, ThinkingDelta, ToolCallDelta})


@dataclass(frozen=True)
class Common:
    """What all blocks of a run share. `given` is what the run was given; `history` ends before it."""

    given: Mapping[str, Any]
    history: Sequence[Message]
    outputs: Outputs
    outbox: Outbox[Any]
    tally: Tally
    next_call_id: Callable[[], str]


class Scope:
    """`input` is what the block was given, for its owner: set by the block as soon as it is known."""

    def __init__(self, block_id: str, common: Common, masked: MaskedSpeech | None) -> None:
        self.block_id = block_id
        self.input: Any = None
        #: The answer of the block's agent as it went out.
        self.said: str | None = None
        self._common = common
        self._masked = masked
        self._agent: AgentRun | None = None

    @property
    def given(self) -> Mapping[str, Any]:
        return self._common.given

    @property
    def history(self) -> Sequence[Message]:
        return self._common.history

    @property
    def outputs(self) -> Outputs:
        return self._common.outputs

    @property
    def next_call_id(self) -> Callable[[], str]:
        return self._common.next_call_id

    async def relay(self, agent: AgentRun) -> None:
        """Run an agent and send what it says. Its facts count for the run from now on."""
        self._agent = agent
        self._common.tally.add(agent)
        async with aclosing(agent.events()) as batches:
            if self._masked is None:
                async for batch in batches:
                    await self._send(batch)
            else:
                async for batch in batches:
                    if events := self._masked.feed(batch):
                        await self._send(events)

    async def _send(self, batch: Sequence[AgentEvent]) -> None:
        # The path of every token: one queue, and nothing else.
        await self._common.outbox.put(BlockStreamed(self.block_id, batch))
        last = batch[-1]
        if type(last) not in _DELTAS:
            self._common.tally.count()
            if isinstance(last, AgentFinished):
                self.said = last.content

    def end_calls(self, status: ToolStatus) -> list[ToolSettled]:
        """The ends of the calls that the reader still sees open, once the block runs no more."""
        if self._agent is None:
            return []
        ends = self._agent.settle_open_calls(status)
        return ends if self._masked is None else self._masked.ends(ends, status)
