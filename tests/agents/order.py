"""The order in which an agent may speak, as a reader that follows it event by event.

`streaming/events.py` states it, agent-events-v1 section 4 is its source. `Order.follow` fails at the first
event out of place; what may come next depends on the turn only.
"""

from collections.abc import Iterable
from enum import Enum, auto

from streaming.events import (
    AgentEvent,
    AgentFinished,
    RoundUsage,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
    TurnEnd,
    TurnEnded,
    Warned,
    WarningKind,
)


class Phase(Enum):
    SPEAKING = auto()
    ABANDONING = auto()
    READY = auto()
    COUNTED = auto()
    TOOLS = auto()
    ANSWERED = auto()
    SUSPENDING = auto()
    RESTARTING = auto()
    FINISHED = auto()


class Order:
    """`ids`: the calls announced so far in any turn, `open`: those without an end."""

    def __init__(self) -> None:
        self.phase = Phase.SPEAKING
        self.round = 1
        self.text = ""
        self.ids: list[str] = []
        self.open: list[str] = []
        self._turn: list[str] = []
        self._arguments: dict[str, str] = {}
        self._ready = 0
        self._calls = 0

    def follow(self, events: Iterable[AgentEvent]) -> "Order":
        for event in events:
            self._step(event)
        return self

    def _step(self, event: AgentEvent) -> None:
        if self._begins_a_round(event):
            self.round += 1
            self.phase = Phase.SPEAKING
            self._forget_turn()
        match event:
            case TextDelta(text=text) | ThinkingDelta(text=text):
                assert text
                assert self.phase is Phase.SPEAKING
                self.text += text if isinstance(event, TextDelta) else ""
            case ToolCallStarted() | ToolCallDelta():
                assert self.phase is Phase.SPEAKING
                self._announce(event)
            case ToolCallReady(id=identity, arguments=arguments):
                assert self.phase in {Phase.SPEAKING, Phase.READY}
                assert identity == self._turn[self._ready]
                assert arguments == self._arguments[identity]
                self._ready += 1
                self.phase = Phase.READY
            case RoundUsage(round=number, tool_calls=calls):
                assert self.phase in {Phase.SPEAKING, Phase.READY}
                assert self._ready == len(self._turn)
                self._calls += len(self._turn)
                assert (number, calls) == (self.round, self._calls)
                self.phase = Phase.COUNTED
            case TurnEnded(kind=kind):
                self._end_turn(kind)
            case ToolSettled():
                self._settle(event)
            case Warned(kind=kind):
                self._warn(kind)
            case AgentFinished():
                self._finish(event)

    def _begins_a_round(self, event: AgentEvent) -> bool:
        """Nothing says that a tool turn is over but that its calls have their ends and a model speaks."""
        if self.phase not in {Phase.TOOLS, Phase.SUSPENDING} or self.open:
            return False
        speaks = isinstance(event, TextDelta | ThinkingDelta | ToolCallStarted | RoundUsage)
        return speaks or event == TurnEnded(TurnEnd.ABANDONED)

    def _announce(self, event: ToolCallStarted | ToolCallDelta) -> None:
        if isinstance(event, ToolCallDelta):
            assert event.fragment
            assert event.id == self._turn[event.index]
            self._arguments[event.id] += event.fragment
            return
        assert event.index == len(self._turn)
        assert event.id not in self.ids
        for known in (self.ids, self.open, self._turn):
            known.append(event.id)
        self._arguments[event.id] = ""

    def _end_turn(self, kind: TurnEnd) -> None:
        match kind:
            case TurnEnd.ABANDONED:
                assert self.phase in {Phase.SPEAKING, Phase.ABANDONING}
                assert not self.open
                self.phase = Phase.RESTARTING
                self._forget_turn()
            case TurnEnd.INTERMEDIATE:
                assert self.phase is Phase.COUNTED
                assert self._turn
                self.phase, self.text = Phase.TOOLS, ""
            case TurnEnd.FINAL:
                assert self.phase is Phase.COUNTED
                self.phase = Phase.ANSWERED

    def _settle(self, event: ToolSettled) -> None:
        assert event.id in self.open, f"{event.id} is not open"
        self.open.remove(event.id)
        match self.phase:
            case Phase.SPEAKING | Phase.ABANDONING:
                assert (event.status, event.duration_ms) == (ToolStatus.ERROR, 0)
                self.phase = Phase.ABANDONING
            case Phase.ANSWERED:
                assert event.status is ToolStatus.ERROR
            case _:
                assert self.phase is Phase.TOOLS

    def _warn(self, kind: WarningKind) -> None:
        match kind:
            case WarningKind.MODEL_FALLBACK:
                assert self.phase is Phase.RESTARTING
                self.phase = Phase.SPEAKING
            case WarningKind.TOOL_LOOP_GUARD:
                assert self.phase is Phase.TOOLS
                assert self.open
            case WarningKind.TOOL_SUSPENDED:
                assert self.phase in {Phase.TOOLS, Phase.SUSPENDING}
                assert not self.open
                self.phase = Phase.SUSPENDING
            case WarningKind.ROUND_RESTARTED:
                raise AssertionError("the loop restarts no rounds")

    def _finish(self, event: AgentFinished) -> None:
        assert not self.open
        if event.stop_reason is StopReason.TOOL_FAILURE_LIMIT:
            assert self.phase in {Phase.TOOLS, Phase.SUSPENDING}
            assert event.content == ""
        else:
            assert self.phase is Phase.ANSWERED
            assert event.content == self.text
        assert event.rounds == self.round
        self.phase = Phase.FINISHED

    def _forget_turn(self) -> None:
        self.text, self._turn, self._arguments, self._ready = "", [], {}, 0
