"""One model call as it unfolds: provider events in, agent events out, and at its end what it amounts to.

Pure: call ids come from outside and nothing waits here. Text and thinking go through as the very events the
provider made, one for one, because this is the path of every token.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never, cast

from agents.conversation import AssistantMessage, ToolCall
from agents.errors import AgentError, LimitReached, ProviderError
from agents.providers.base import (
    CallDelta,
    CallStarted,
    ProviderEvent,
    ReplayPart,
    ResponseEnded,
    ResponseFailed,
    TurnStop,
)
from agents.records import ToolRecord
from streaming.codes import RunCode
from streaming.events import (
    AgentEvent,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
)


class Turn:
    """Folds the events of one model call. `declared` are the names of the agent's tools.

    Each call it announces is also added to `records`, the calls of the whole run.
    """

    def __init__(
        self, declared: Container[str], next_call_id: Callable[[], str], records: list[ToolRecord]
    ) -> None:
        self.calls: list[ToolRecord] = []
        self.end: ResponseEnded | ResponseFailed | None = None
        self._declared = declared
        self._next_call_id = next_call_id
        self._records = records
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._replay: list[Mapping[str, Any]] = []

    def fold(self, batch: list[ProviderEvent]) -> list[AgentEvent]:
        """Take what one read brought and return what it says, in order. Nothing counts after the end.

        A batch of deltas, which is what most are, is returned as it is.
        """
        if self.end is not None:
            return []
        text, thinking = self._text, self._thinking
        for position, event in enumerate(batch):
            kind = type(event)
            if kind is TextDelta:
                text.append(event.text)  # type: ignore[union-attr]  # narrowed by `kind`, at no cost per token
            elif kind is ThinkingDelta:
                thinking.append(event.text)  # type: ignore[union-attr]
            else:
                deltas = cast(list[AgentEvent], batch[:position])
                return deltas + self._fold_rest(batch[position:])
        return cast(list[AgentEvent], batch)

    def _fold_rest(self, events: Sequence[ProviderEvent]) -> list[AgentEvent]:
        said: list[AgentEvent] = []
        for event in events:
            if self.end is not None:
                break
            self._fold_one(event, said)
        return said

    def _fold_one(self, event: ProviderEvent, said: list[AgentEvent]) -> None:
        match event:
            case CallStarted():
                said.append(self._start(event))
            case CallDelta(index=index, fragment=fragment):
                call = self.calls[index]
                call.fragments.append(fragment)
                said.append(ToolCallDelta(index, call.id, fragment))
            case ReplayPart(data=data):
                self._replay.append(data)
            case ResponseEnded() | ResponseFailed():
                self.end = event
            case TextDelta(text=text):
                self._text.append(text)
                said.append(event)
            case ThinkingDelta(text=text):
                self._thinking.append(text)
                said.append(event)
            case _:
                assert_never(event)

    def _start(self, event: CallStarted) -> ToolCallStarted:
        declared = event.name in self._declared
        call = ToolRecord(event.index, self._next_call_id(), event.id, event.name, declared)
        self.calls.append(call)
        self._records.append(call)
        return ToolCallStarted(call.index, call.id, call.name, declared)

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)

    @property
    def size(self) -> int:
        """Characters the model has produced so far, thinking and arguments included."""
        parts = [*self._text, *self._thinking, *(call.arguments for call in self.calls)]
        return sum(map(len, parts))

    def ready(self) -> list[AgentEvent]:
        """The whole arguments of every call, in order of start."""
        return [ToolCallReady(call.index, call.id, call.name, call.arguments) for call in self.calls]

    def message(self, vendor: str, taken: set[str]) -> AssistantMessage:
        """The turn as the next request repeats it; text before its calls is part of it.

        A call keeps the vendor's id unless it is empty or in `taken`, which grows by the ids given here.
        """
        calls = []
        for call in self.calls:
            identity = call.vendor_id
            if not identity or identity in taken:
                identity = _unused(call.id, taken)
            taken.add(identity)
            calls.append(ToolCall(identity, call.name, call.arguments))
        return AssistantMessage(self.text, tuple(calls), self.thinking, tuple(self._replay), vendor)


def _unused(wanted: str, taken: Container[str]) -> str:
    candidate, number = wanted, 1
    while candidate in taken:
        number += 1
        candidate = f"{wanted}_{number}"
    return candidate


@dataclass(frozen=True)
class Answered:
    """The turn's text is the answer."""

    stop_reason: StopReason


@dataclass(frozen=True)
class CallsTools:
    """The turn's calls are to be run."""


@dataclass(frozen=True)
class Unusable:
    """The turn ends the run. `intermediate`: its text is known to be no answer."""

    error: AgentError
    intermediate: bool


Verdict = Answered | CallsTools | Unusable


def failure(turn: Turn, provider: str) -> ProviderError | None:
    """Why the model call did not come to its end; None if it did (section 4, closed turns)."""
    match turn.end:
        case ResponseFailed(code=code, detail=detail):
            return ProviderError(code, detail, provider=provider)
        case ResponseEnded(closed=True):
            return None
        case ResponseEnded() | None:
            detail = "the stream ended without a finish reason or end marker"
            return ProviderError(RunCode.PROVIDER_STREAM_BROKEN, detail, provider=provider)


def judge(turn: Turn, end: ResponseEnded, *, provider: str, last_round: bool) -> Verdict:
    """What a closed turn amounts to (section 4). White space alone is no answer."""
    answered = bool(turn.text.strip())
    if end.stop is TurnStop.CONTENT_FILTER:
        return Answered(StopReason.CONTENT_FILTER) if answered else _filtered(provider)
    if turn.calls:
        return _judge_calls(end.stop, last_round)
    if not answered:
        detail = f"the model ended its turn ({end.raw_stop or end.stop}) with neither text nor a call"
        return Unusable(LimitReached(RunCode.EMPTY_ANSWER, detail, provider=provider), intermediate=False)
    return Answered(StopReason.MAX_TOKENS if end.stop is TurnStop.LENGTH else StopReason.END_TURN)


def _judge_calls(stop: TurnStop, last_round: bool) -> CallsTools | Unusable:
    if stop is TurnStop.LENGTH:
        error = LimitReached(RunCode.OUTPUT_LIMIT, "the output limit cut the turn's tool calls")
        return Unusable(error, intermediate=True)
    if last_round:
        error = LimitReached(RunCode.MAX_TOOL_ROUNDS, "the last round still asked for tools")
        return Unusable(error, intermediate=True)
    return CallsTools()


def _filtered(provider: str) -> Unusable:
    detail = "the provider's content filter ended the turn before any text"
    error = ProviderError(RunCode.PROVIDER_CONTENT_FILTERED, detail, provider=provider)
    return Unusable(error, intermediate=False)
