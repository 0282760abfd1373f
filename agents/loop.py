"""The agent loop: ask a model, run its tools, ask again, until it answers or a rule ends it.

One run is one object. Its events end with `AgentFinished` or an AgentError; its facts can be read at any
time, also after a cancel. Calls still open after an error or a cancel end through `settle_open_calls`.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, assert_never

from agents.attempt import Attempt
from agents.chain import Chain
from agents.conversation import Message
from agents.errors import AgentError, ProviderError
from agents.guards import Guards
from agents.history import History
from agents.providers.base import ResponseEnded
from agents.records import ABANDONED, ToolRecord, settle_open
from agents.spec import AgentSpec
from agents.spending import Spent
from agents.timeline import Timeline
from agents.tool_turn import ToolTurn
from agents.turn import Answered, CallsTools, Turn, Unusable, Verdict, judge
from streaming.codes import RunCode
from streaming.events import (
    AgentEvent,
    AgentFinished,
    StopReason,
    ToolSettled,
    ToolStatus,
    TurnEnd,
    TurnEnded,
    Usage,
)

log = logging.getLogger(__name__)


class AgentRun:
    """One run of one agent over `messages`. `next_call_id` makes the `call_N` of the whole run of blocks.

    Facts beside the properties: `rounds` (those begun; attempts of a fallback are one round), `tool_calls`,
    `content` (the final turn's text), `stop_reason` (None unless the agent finished) and `timeline`.
    """

    def __init__(
        self,
        spec: AgentSpec,
        messages: Sequence[Message],
        *,
        next_call_id: Callable[[], str],
        timeline: Timeline | None = None,
    ) -> None:
        self.rounds = 0
        self.content = ""
        self.stop_reason: StopReason | None = None
        self.tool_calls: list[ToolRecord] = []
        self.timeline = timeline or Timeline()
        self._spec = spec
        self._next_call_id = next_call_id
        self._tools = {tool.spec.name: tool for tool in spec.tools}
        self._history = History(spec, messages)
        self._chain = Chain(spec.models)
        self._guards = Guards()
        self._spent = Spent()
        self._attempt: Attempt | None = None
        self._accounted = True

    async def events(self) -> AsyncGenerator[list[AgentEvent], None]:
        """Run once. Yields batches as the provider brought them; raises AgentError if no answer came of it.

        Closing or cancelling it closes the provider's stream and stops the tools.
        """
        try:
            while self.stop_reason is None:
                async with aclosing(self._ask()) as batches:
                    async for batch in batches:
                        yield batch
                async with aclosing(self._conclude()) as batches:
                    async for batch in batches:
                        yield batch
        except AgentError:
            raise
        except Exception as error:
            log.exception("the agent loop failed")
            raise AgentError(RunCode.AGENT_RUN_FAILED, f"{type(error).__name__}: {error}") from error
        finally:
            self.timeline.stop()

    async def _ask(self) -> AsyncGenerator[list[AgentEvent], None]:
        """One round: ask the models of the chain until one ends its turn."""
        self.rounds += 1
        while True:
            attempt = self._begin()
            turn = attempt.turn
            stream = attempt.choice.provider.stream(self._history.request(attempt.choice))
            try:
                async with aclosing(stream) as batches:
                    async for batch in batches:
                        if said := turn.fold(batch):
                            if attempt.first is None:
                                attempt.first = self.timeline.now()
                            yield said
                        if turn.end is not None:
                            break
            except ProviderError as error:
                attempt.raised = error
            finally:
                attempt.end()
            self._account(attempt)
            if attempt.error is None:
                return
            yield self._fall_back(attempt, attempt.error)

    def _begin(self) -> Attempt:
        turn = Turn(self._tools, self._next_call_id, self.tool_calls)
        self._attempt = Attempt(self._chain.current, turn, self._history.size(), self.timeline)
        self._accounted = False
        return self._attempt

    def _account(self, attempt: Attempt) -> None:
        if not attempt.refused:
            self._spent = attempt.added_to(self._spent)
        self._accounted = True

    def _fall_back(self, attempt: Attempt, error: ProviderError) -> list[AgentEvent]:
        """Abandon the turn for the next model. Raises ProviderError if there is none to go to."""
        warning = self._chain.advance(error)
        calls = attempt.turn.calls
        for call in calls:
            call.abandoned = True
        ends = settle_open(calls, ToolStatus.ERROR, self.timeline.now(), ABANDONED)
        return [*ends, TurnEnded(TurnEnd.ABANDONED), warning]

    async def _conclude(self) -> AsyncGenerator[list[AgentEvent], None]:
        """Say what the turn was and do what it asks for."""
        assert self._attempt is not None
        attempt, turn = self._attempt, self._attempt.turn
        verdict = self._judge(attempt)
        said = [*turn.ready(), attempt.round_usage(self.rounds, self._calls_made())]
        match verdict:
            case Unusable(error=error, intermediate=intermediate):
                yield [*said, TurnEnded(TurnEnd.INTERMEDIATE)] if intermediate else said
                raise error
            case Answered(stop_reason=stop_reason):
                self.content, self.stop_reason = turn.text, stop_reason
                ends = settle_open(turn.calls, ToolStatus.ERROR, self.timeline.now())
                yield [*said, TurnEnded(TurnEnd.FINAL), *ends, self._finished(stop_reason)]
            case CallsTools():
                yield [*said, TurnEnded(TurnEnd.INTERMEDIATE)]
                async with aclosing(self._run_tools(attempt)) as batches:
                    async for batch in batches:
                        yield batch
            case _:
                assert_never(verdict)

    def _judge(self, attempt: Attempt) -> Verdict:
        end = attempt.turn.end
        assert isinstance(end, ResponseEnded)
        last_round = self.rounds >= self._spec.max_rounds
        return judge(attempt.turn, end, provider=attempt.choice.provider.name, last_round=last_round)

    async def _run_tools(self, attempt: Attempt) -> AsyncGenerator[list[AgentEvent], None]:
        turn = attempt.turn
        message = turn.message(attempt.choice.provider.vendor, self._history.call_ids)
        tools = ToolTurn(self._tools, self._guards, message.calls, turn.calls, self.timeline)
        async with aclosing(tools.events()) as batches:
            async for batch in batches:
                yield batch
        self._history.add(message, tools.messages())
        if self._guards.exhausted:
            self.stop_reason = StopReason.TOOL_FAILURE_LIMIT
            yield [self._finished(self.stop_reason)]

    def _finished(self, stop_reason: StopReason) -> AgentFinished:
        return AgentFinished(self.content, self.rounds, stop_reason, self.usage, self.cost)

    def settle_open_calls(self, status: ToolStatus) -> list[ToolSettled]:
        """The ends of the calls that are still open, once `events()` has ended, however it ended.

        A call whose result came too late to be told keeps its own status.
        """
        return settle_open(self.tool_calls, status, self.timeline.now())

    @property
    def usage(self) -> Usage:
        """All rounds and attempts so far, the running one estimated."""
        return self._so_far.usage

    @property
    def cost(self) -> float | None:
        """Dollars; None once any price is unknown."""
        return self._so_far.cost

    @property
    def model(self) -> str:
        """`provider/model`, as it last answered."""
        return self._chain.current.label if self._attempt is None else self._attempt.model

    @property
    def provider_timing(self) -> dict[str, Any]:
        """The block's `providerTiming` (agent-events-v1 section 5)."""
        return self.timeline.provider_timing()

    @property
    def _so_far(self) -> Spent:
        if self._attempt is None or self._accounted:
            return self._spent
        return self._attempt.added_to(self._spent)

    def _calls_made(self) -> int:
        return sum(not call.abandoned for call in self.tool_calls)
