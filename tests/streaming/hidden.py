"""Another run with the same public data: everything that section 9 hides from one chat client is changed, and
calls that it may not see are added.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from streaming.agent_events_v1 import View
from streaming.events import (
    AgentEvent,
    AgentFinished,
    BlockCompleted,
    BlockFailed,
    BlockStreamed,
    RoundUsage,
    RunEnded,
    RunEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
    TurnEnd,
    TurnEnded,
    Usage,
    Warned,
)
from tests.streaming.runs import call, completed, said, settled, started, text, thinking, tool_call

replace = msgspec.structs.replace


class Hider:
    """Changes what `view` hides. `seed` decides how."""

    def __init__(self, view: View, seed: int) -> None:
        self._view = view
        self._random = Random(seed)
        self._heard = {one.block_id for one in view.selected}
        self._texts = {one.block_id for one in view.selected if one.live and one.path == "content"}
        self._tools = view.negotiated and view.tool_calls
        #: New ids by old ones, in order of announcement; a call added beside another is `old+`.
        self._ids: dict[str, str] = {}
        self._names: dict[str, tuple[str, bool]] = {}
        self._statuses: dict[str, ToolStatus] = {}
        #: Blocks whose open turn holds a call already: another one that is not seen may be left out.
        self._calling: set[str] = set()
        self._dropped: set[str] = set()

    def events(self, events: Sequence[RunEvent]) -> Iterator[RunEvent]:
        single = list(_one_by_one(events))
        for position, event in enumerate(single):
            yield from self._noise()
            match event:
                case BlockStreamed(block_id=block_id, events=(inner,)):
                    changed = self._heard_event(block_id, inner, single[position:])
                    if block_id in self._heard or self._random.random() < 0.5:
                        yield from (BlockStreamed(block_id, [one]) for one in changed)
                case BlockCompleted():
                    yield replace(
                        event, input=self._word(), output=self._output(event.block_id, event.output)
                    )
                case BlockFailed():
                    yield replace(event, input=self._word(), detail=self._word())
                case RunEnded():
                    outputs = {block: self._output(block, output) for block, output in event.outputs.items()}
                    extra = {"noise": {"text": self._word()}}
                    yield replace(
                        event, outputs={**extra, **outputs}, detail=self._word(), terminal_blocks=()
                    )
                case _:
                    yield event

    # --- What a block says ----------------------------------------------------------------------------------

    def _heard_event(self, block: str, event: AgentEvent, rest: Sequence[RunEvent]) -> list[AgentEvent]:
        match event:
            case ThinkingDelta():
                seen = self._view.negotiated and self._view.thinking and block in self._heard
                return [event] if seen else self._some(ThinkingDelta)
            case TextDelta():
                return [event] if self._text_is_public(block, rest) else self._some(TextDelta)
            case ToolCallStarted():
                return self._announce(block, event)
            case ToolCallDelta() | ToolCallReady():
                return [] if event.id in self._dropped else [self._private(event)]
            case ToolSettled():
                return [] if event.id in self._dropped else self._settle(event)
            case RoundUsage() | Warned() | AgentFinished():
                return [self._private(event)] if self._random.random() < 0.5 else []
            case TurnEnded():
                self._calling.discard(block)
                return [event]

    def _private(self, event: AgentEvent) -> AgentEvent:
        """An event of which no chat sees anything."""
        match event:
            case ToolCallDelta():
                return replace(event, id=self._ids[event.id], fragment=self._word())
            case ToolCallReady():
                return replace(event, id=self._ids[event.id], arguments=self._word())
            case RoundUsage():
                return replace(event, model=self._word(), usage=Usage(self._random.randrange(99)))
            case Warned():
                return replace(event, message=self._word(), facts={"tool": self._word()})
            case AgentFinished():
                return replace(event, rounds=self._random.randrange(99), cost=None)
            case _:
                raise AssertionError(event)

    def _text_is_public(self, block: str, rest: Sequence[RunEvent]) -> bool:
        if block not in self._texts:
            return False
        if self._view.negotiated:
            return True
        ends = (
            event.events[0].kind
            for event in rest
            if isinstance(event, BlockStreamed)
            and event.block_id == block
            and isinstance(event.events[0], TurnEnded)
        )
        return next(ends, None) is TurnEnd.FINAL

    def _some(self, kind: type[TextDelta] | type[ThinkingDelta]) -> list[AgentEvent]:
        return [kind(self._word()) for _ in range(self._random.randrange(3))]

    def _announce(self, block: str, event: ToolCallStarted) -> list[AgentEvent]:
        name, declared = event.name, event.declared
        seen = self._tools and declared
        if block in self._calling and not seen and self._random.random() < 0.5:
            self._dropped.add(event.id)
            return []
        self._calling.add(block)
        if not self._tools:
            name, declared = self._word(), self._random.random() < 0.5
        elif not declared:
            name = self._word()
        self._ids[event.id] = self._next_id()
        self._names[event.id] = (name, declared)
        out: list[AgentEvent] = [replace(event, id=self._ids[event.id], name=name, declared=declared)]
        if self._random.random() < 0.5:
            self._ids[f"{event.id}+"] = extra = self._next_id()
            out.append(ToolCallStarted(1, extra, self._word(), declared=not self._tools))
        return out

    def _settle(self, event: ToolSettled) -> list[AgentEvent]:
        name, declared = self._names[event.id]
        told = self._tools and declared
        status = event.status if told else self._random.choice(list(ToolStatus))
        self._statuses[event.id] = status
        end = replace(
            event, id=self._ids[event.id], name=name, declared=declared, status=status, output=self._word()
        )
        extra = self._ids.get(f"{event.id}+")
        if extra is None:
            return [end]
        return [ToolSettled(extra, "x", not self._tools, ToolStatus.ERROR, self._word(), 0), end]

    def _next_id(self) -> str:
        return f"call_{len(self._ids) + 1 + self._noise_calls}"

    # --- What is not seen at all ----------------------------------------------------------------------------

    _noise_calls = 0

    def _noise(self) -> Iterator[RunEvent]:
        """Another block, which nobody selected, says something."""
        if self._random.random() < 0.8:
            return
        number = len(self._ids) + self._noise_calls + 1
        self._noise_calls += 1
        yield started("noise")
        yield said("noise", thinking(self._word()), text(self._word()), call(number, self._word()))
        yield said("noise", settled(number, self._word()))
        if self._random.random() < 0.5:
            yield completed("noise", {"text": self._word()}, "template")

    def _output(self, block: str, output: Mapping[str, Any]) -> dict[str, Any]:
        if "toolCalls" not in output:
            return dict(output) if block in self._heard else {"text": self._word()}
        calls = []
        for one in output["toolCalls"]["list"]:
            old = one["id"]
            if old in self._dropped:
                continue
            name, _ = self._names[old]
            number = int(self._ids[old].removeprefix("call_"))
            calls.append(tool_call(number, name, self._statuses[old]) | {"result": self._word()})
            if f"{old}+" in self._ids:
                calls.append(tool_call(int(self._ids[f"{old}+"].removeprefix("call_")), self._word()))
        private = {"model": self._word(), "tokens": {"input": self._random.randrange(99)}, "cost": None}
        return {**output, **private, "toolCalls": {"list": calls, "count": len(calls)}, "new": self._word()}

    def _word(self) -> str:
        return f"HIDDEN-{self._random.randrange(10**6)}"


def _one_by_one(events: Sequence[RunEvent]) -> Iterator[RunEvent]:
    for event in events:
        if isinstance(event, BlockStreamed):
            yield from (BlockStreamed(event.block_id, (one,)) for one in event.events)
        else:
            yield event
