"""Generated graphs and what their models say: every shape of a run that the protocol knows, at any pace."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from agents.conversation import ModelRequest
from agents.errors import ProviderError
from agents.providers.base import (
    CallDelta,
    CallStarted,
    ProviderEvent,
    ResponseEnded,
    ResponseFailed,
    TurnStop,
)
from runs.control import CancelReason
from streaming.codes import FALLBACK_CODES, RunCode
from streaming.events import TextDelta, ThinkingDelta, Usage
from tests.workflows.doubles import agent, graph
from workflows import outbox

TOOLS = [{"type": "builtin", "name": "calculator"}, {"type": "builtin", "name": "current_time"}]
_NAMES = ["calculator", "current_time", "made_up"]
_ARGUMENTS = ["", "{}", '{"expression": "1+1"}', '{"expression": "aab"}', "no json"]
_CODES = sorted(FALLBACK_CODES | {RunCode.PROVIDER_BAD_REQUEST, RunCode.CONTEXT_WINDOW_EXCEEDED})

#: A batch to say, or how many turns of the event loop to wait.
Move = Sequence[ProviderEvent] | int


@dataclass(frozen=True)
class Turn:
    """One model call: `raises` comes before the first batch."""

    moves: tuple[Move, ...]
    raises: RunCode | None = None


class Paced:
    """Plays turns, the last one for ever. `open` counts streams that were not closed."""

    def __init__(self, name: str, turns: Sequence[Turn]) -> None:
        self.name = self.vendor = name
        self.asked = 0
        self.open = 0
        self._turns = turns

    async def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        turn = self._turns[min(self.asked, len(self._turns) - 1)]
        self.asked += 1
        self.open += 1
        try:
            if turn.raises is not None:
                raise ProviderError(turn.raises, "refused", provider=self.name)
            for move in turn.moves:
                if isinstance(move, int):
                    for _ in range(move):
                        await asyncio.sleep(0)
                else:
                    yield list(move)
        finally:
            self.open -= 1


@dataclass(frozen=True)
class Scene:
    """A graph, what its models say, and how it is heard: with `room` for batches, `pauses` after events, and
    ended from outside after `cut` events by `how` (None: the reader leaves).

    `edges` are those that a run takes or not, with whether it does if it gets there.
    """

    graph: dict[str, Any]
    edges: tuple[tuple[str, str, bool], ...]
    turns: dict[str, tuple[Turn, ...]]
    selected: tuple[str, ...]
    cut: int | None
    how: CancelReason | None
    room: int
    pauses: tuple[int, ...]

    def providers(self) -> dict[str, Paced]:
        return {name: Paced(name, turns) for name, turns in self.turns.items()}

    def running(self) -> set[str]:
        """The blocks that run if nothing fails: those to which some way is taken."""
        reached = {"start"}
        for name in [block["id"] for block in self.graph["blocks"]][1:]:
            if any(target == name and source in reached and taken for source, target, taken in self.edges):
                reached.add(name)
        return reached

    def predecessors(self, block: str) -> set[str]:
        """The blocks that must have ended before this one begins."""
        return {source for source, target, _ in self.edges if target == block} & self.running()


_words = st.text("ab c", min_size=1, max_size=3)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    moves: list[Move] = []
    calls: Counter[str] = Counter()
    batch: list[ProviderEvent] = []
    for kind in draw(
        st.lists(st.sampled_from(["text", "text", "thinking", "call", "send", "wait"]), max_size=9)
    ):
        match kind:
            case "text":
                batch.append(TextDelta(draw(_words)))
            case "thinking":
                batch.append(ThinkingDelta(draw(_words)))
            case "call":
                batch += _call(draw, calls.total())
                calls["made"] += 1
            case "send" if batch:
                moves.append(batch)
                batch = []
            case "wait":
                moves.append(draw(st.integers(1, 5)))
    end = draw(st.sampled_from(["closed"] * 6 + ["length", "filter", "open", "failed", "cut", "raises"]))
    if end == "raises":
        return Turn((), draw(st.sampled_from(_CODES)))
    batch += _end(end, called=bool(calls), code=draw(st.sampled_from(_CODES)))
    return Turn((*moves, *([batch] if batch else [])))


def _call(draw: st.DrawFn, index: int) -> list[ProviderEvent]:
    name, arguments = draw(st.sampled_from(_NAMES)), draw(st.sampled_from(_ARGUMENTS))
    started = CallStarted(index, f"v{index}", name)
    return [started, CallDelta(index, arguments)] if arguments else [started]


def _end(kind: str, *, called: bool, code: RunCode) -> list[ProviderEvent]:
    usage = Usage(2, 1, 3)
    match kind:
        case "closed":
            return [ResponseEnded(True, TurnStop.TOOL_CALLS if called else TurnStop.STOP, usage)]
        case "length":
            return [ResponseEnded(True, TurnStop.LENGTH, usage)]
        case "filter":
            return [ResponseEnded(True, TurnStop.CONTENT_FILTER, usage)]
        case "open":
            return [ResponseEnded(False, TurnStop.STOP, usage)]
        case "failed":
            return [ResponseFailed(code, "broke", usage)]
        case _:
            return []


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    names = [f"b{number}" for number in range(draw(st.integers(1, 5)))]
    kinds = [
        "agent",
        *(draw(st.sampled_from(["agent", "agent", "template", "condition"])) for _ in names[1:]),
    ]
    agents = [name for name, kind in zip(names, kinds, strict=True) if kind == "agent"]
    blocks: list[dict[str, Any]] = []
    edges: list[tuple[str, str, bool]] = []
    sources = ["start"]
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        led_to = any(target == name for _, target, _ in edges)
        chosen = draw(st.lists(st.sampled_from(sources), min_size=not led_to, max_size=3, unique=True))
        edges += [(source, name, True) for source in chosen]
        if kind == "condition" and (later := names[number + 1 :]):
            block, ways = _condition(draw, name, later)
            edges += ways
        elif kind == "agent":
            block = _agent(draw, name, agents)
            sources.append(name)
        else:
            block = {"id": name, "type": "template", "template": "{{start.input}}"}
            sources.append(name)
        blocks.append(block)
    listed = [(source, target) for source, target, _ in edges if source in sources]
    return Scene(
        graph=graph(*blocks, edges=listed),
        edges=tuple(edges),
        turns={name: tuple(draw(st.lists(turns(), min_size=1, max_size=3))) for name in agents},
        selected=tuple(draw(st.lists(st.sampled_from(agents), unique=True, min_size=1))),
        cut=draw(st.none() | st.integers(0, 30)),
        how=draw(
            st.none() | st.sampled_from([CancelReason.USER, CancelReason.TIMEOUT, CancelReason.SHUTDOWN])
        ),
        room=draw(st.sampled_from([1, 2, outbox.ROOM])),
        pauses=tuple(draw(st.lists(st.integers(0, 12), min_size=1, max_size=5))),
    )


def _agent(draw: st.DrawFn, name: str, agents: Sequence[str]) -> dict[str, Any]:
    fallbacks = draw(st.lists(st.sampled_from(agents), max_size=2, unique=True))
    return agent(name, tools=TOOLS, max_rounds=4, fallbacks=[f"{other}/m" for other in fallbacks])


def _condition(
    draw: st.DrawFn, name: str, later: Sequence[str]
) -> tuple[dict[str, Any], list[tuple[str, str, bool]]]:
    """A condition with one case, which holds or not, and its edges."""
    holds, then = draw(st.booleans()), draw(st.sampled_from(later))
    otherwise = draw(st.none() | st.sampled_from(later))
    case = {"if": "{{start.input}} == 'Hi'" if holds else "1 == 2", "then": then}
    block = {"id": name, "type": "condition", "cases": [case], "else": otherwise}
    ways = {then: holds}
    if otherwise is not None:
        ways[otherwise] = ways.get(otherwise, False) or not holds
    return block, [(name, target, taken) for target, taken in ways.items()]
