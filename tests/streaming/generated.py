"""Every legal run, drawn by hypothesis: what the executor may say of parallel blocks, tool turns, abandoned
attempts, failures and cancels at any moment, in any cut into batches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

import msgspec
from hypothesis import strategies as st

from streaming.codes import RunCode
from streaming.events import (
    AgentEvent,
    AgentFinished,
    BlockStreamed,
    PromptSize,
    RoundUsage,
    RunEvent,
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
    Usage,
    Warned,
    WarningKind,
)
from streaming.selection import Selected
from tests.streaming.runs import agent_output, broke, completed, failed, started, succeeded, tool_call

#: How a run may end, and by which code. A failing block has its own.
ENDINGS = {
    "success": None,
    "rule": RunCode.TOOL_FAILURE_LIMIT,
    "failure": RunCode.PROVIDER_STREAM_BROKEN,
    "cancel": RunCode.RUN_CANCELLED,
    "timeout": RunCode.RUN_TIMEOUT,
    "shutdown": RunCode.RUN_INTERRUPTED,
}


@dataclass(frozen=True)
class Call:
    """What becomes of one call of a turn."""

    name: str
    declared: bool
    status: ToolStatus
    arguments: str = "ELM-5"
    output: str = "MAPLE-31"


@dataclass(frozen=True)
class Turn:
    """One model call; `texts` have one part more than there are calls, which stand between them."""

    kind: TurnEnd
    thinking: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    calls: tuple[Call, ...] = ()

    @property
    def text(self) -> str:
        return "".join(delta for part in self.texts for delta in part)


@dataclass(frozen=True)
class Block:
    """A block and all it will say, if nothing stops it. Without turns it is no agent."""

    id: str
    paths: tuple[str, ...]
    turns: tuple[Turn, ...] = ()
    structured: bool = False

    @property
    def is_agent(self) -> bool:
        return bool(self.turns)

    @property
    def selected(self) -> tuple[Selected, ...]:
        live = self.is_agent and not self.structured
        return tuple(Selected(self.id, path, self.is_agent, live) for path in self.paths)

    @property
    def content(self) -> str:
        return self.turns[-1].text if self.turns[-1].kind is TurnEnd.FINAL else ""


@dataclass(frozen=True)
class Run:
    """A drawn run. `seed` decides how blocks interleave; `moment` (0 to 1) when a run is cut that is cut."""

    blocks: tuple[Block, ...]
    ending: str
    seed: int
    moment: float
    ends_told: bool

    @property
    def selected(self) -> tuple[Selected, ...]:
        return tuple(one for block in self.blocks for one in block.selected)

    def events(self, batches: int = 0) -> list[RunEvent]:
        """Return what the run says; `batches` is a seed for how the same events are cut into batches."""
        return list(_batched(_Story(self).events(), Random(batches)))


# --- Drawing ------------------------------------------------------------------------------------------------


class Choices:
    """Small choices out of one drawn number: a draw for each would cost more than the tests themselves."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._words = count()

    def below(self, limit: int) -> int:
        self._number, choice = divmod(self._number, limit)
        return choice

    def deltas(self, least: int = 0) -> tuple[str, ...]:
        """Up to two deltas more than `least`, each with a text of its own."""
        kinds = ("", "\n", "é", "😀", "\u2028", "[DONE]", '"')
        return tuple(
            f"{next(self._words)}{kinds[self.below(len(kinds))]}" for _ in range(least + self.below(3))
        )


def blocks(number: int, choices: Choices, *, by_rule: bool) -> Block:
    """`by_rule`: an agent whose tools fail until the engine ends the run."""
    block_id = f"block_{number}"
    kind = 0 if by_rule else choices.below(5)
    if kind == 4:
        return Block(block_id, [(), ("text",), ("text", "data.items[0]")][choices.below(3)])
    kinds = [[TurnEnd.INTERMEDIATE, TurnEnd.ABANDONED][choices.below(2)] for _ in range(choices.below(3))]
    last = TurnEnd.INTERMEDIATE if by_rule else TurnEnd.FINAL
    paths = [("content",), (), ("mood",), ("content", "mood")][choices.below(4 if kind == 3 else 2)]
    return Block(block_id, paths, tuple(_turn(one, choices) for one in [*kinds, last]), kind == 3)


def _turn(kind: TurnEnd, choices: Choices) -> Turn:
    least = 1 if kind is TurnEnd.INTERMEDIATE else 0
    calls = 0 if kind is TurnEnd.FINAL else least + choices.below(3)
    return Turn(
        kind,
        choices.deltas(),
        # An empty answer would be a failure.
        (choices.deltas(least=kind is TurnEnd.FINAL), *(choices.deltas() for _ in range(calls))),
        tuple(_call(choices) for _ in range(calls)),
    )


def _call(choices: Choices) -> Call:
    name = ["lookup", "convert", "made-up"][choices.below(3)]
    return Call(name, name != "made-up", list(ToolStatus)[choices.below(3)])


@st.composite
def runs(draw: st.DrawFn, endings: Sequence[str] = tuple(ENDINGS)) -> Run:
    ending = draw(st.sampled_from(endings))
    numbers = draw(st.lists(st.integers(0, 2**96), min_size=1, max_size=3))
    return Run(
        tuple(
            blocks(position, Choices(number), by_rule=ending == "rule" and position == 0)
            for position, number in enumerate(numbers)
        ),
        ending,
        seed=draw(st.integers(0, 2**16)),
        moment=draw(st.floats(0, 1)),
        ends_told=draw(st.booleans()),
    )


# --- Telling ------------------------------------------------------------------------------------------------


class _Story:
    """Lays the blocks' own sequences over each other, stops them where the run ends, and counts its calls."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._ids: dict[tuple[str, str], str] = {}
        self._open: dict[str, tuple[str, ToolSettled]] = {}
        self._outputs: dict[str, dict[str, Any]] = {}

    def events(self) -> Iterator[RunEvent]:
        steps = self._interleaved()
        if self._run.ending not in ("success", "rule"):
            # Cut before the last step at the latest, so that something was not done yet.
            steps = steps[: int(self._run.moment * (len(steps) - 1))]
        running: dict[str, Block] = {}
        for block, step in steps:
            running[block.id] = block
            yield self._tell(block, step)
            if step is None:
                del running[block.id]
                if self._run.ending == "rule" and block is self._run.blocks[0]:
                    break
        yield from self._end(running)

    def _interleaved(self) -> list[tuple[Block, AgentEvent | str | None]]:
        random = Random(self._run.seed)
        waiting = {block.id: (block, _steps(block)) for block in self._run.blocks}
        steps: list[tuple[Block, AgentEvent | str | None]] = []
        while waiting:
            block, own = waiting[random.choice(list(waiting))]
            step = next(own)
            steps.append((block, step))
            if step is None:
                del waiting[block.id]
        return steps

    def _tell(self, block: Block, step: "AgentEvent | str | None") -> RunEvent:
        if step == "start":
            return started(block.id, "agent" if block.is_agent else "template")
        if step is None:
            self._outputs[block.id] = self._output(block)
            return completed(block.id, self._outputs[block.id], "agent" if block.is_agent else "template")
        assert not isinstance(step, str)
        return BlockStreamed(block.id, [self._numbered(block, step)])

    def _numbered(self, block: Block, event: AgentEvent) -> AgentEvent:
        """Give a call the run's id for it, in the order in which calls are announced."""
        match event:
            case ToolCallStarted():
                call_id = f"call_{len(self._ids) + 1}"
                self._ids[block.id, event.id] = call_id
                end = ToolSettled(call_id, event.name, event.declared, ToolStatus.CANCELLED, "", 0)
                self._open[call_id] = (block.id, end)
                return msgspec.structs.replace(event, id=call_id)
            case ToolCallDelta() | ToolCallReady():
                return msgspec.structs.replace(event, id=self._ids[block.id, event.id])
            case ToolSettled():
                settled = msgspec.structs.replace(event, id=self._ids[block.id, event.id])
                del self._open[settled.id]
                return settled
            case _:
                return event

    def _output(self, block: Block) -> dict[str, Any]:
        if not block.is_agent:
            return {"text": f"{block.id}'s text", "data": {"items": [1, 2]}}
        calls = [
            tool_call(int(self._ids[block.id, local].removeprefix("call_")), call.name, call.status)
            | {"arguments": call.arguments, "result": call.output}
            for local, turn, call in _calls(block)
            if turn.kind is not TurnEnd.ABANDONED
        ]
        fields = {"mood": "good"} if block.structured else {}
        return agent_output(block.content, *calls, **fields)

    def _end(self, running: dict[str, Block]) -> Iterator[RunEvent]:
        if self._run.ending == "success":
            yield succeeded(self._outputs)
            return
        code = ENDINGS[self._run.ending]
        assert code is not None
        broken = next(iter(running), None) if self._run.ending == "failure" else None
        if self._run.ending == "failure":
            broken = broken or "block_never_seen"
            yield failed(broken, code)
        for block_id, end in self._open.values():
            if self._run.ends_told:
                lost = block_id == broken or code is RunCode.RUN_TIMEOUT
                status = ToolStatus.ERROR if lost else ToolStatus.CANCELLED
                yield BlockStreamed(block_id, [msgspec.structs.replace(end, status=status)])
        yield broke(code, self._outputs)


def _steps(block: Block) -> Iterator["AgentEvent | str | None"]:
    """A block's start, all its events, and None for its completion. Ids of calls are the block's own here."""
    yield "start"
    number = 0
    for position, turn in enumerate(block.turns):
        yield from map(ThinkingDelta, turn.thinking)
        yield from map(TextDelta, turn.texts[0])
        here = []
        for call, texts in zip(turn.calls, turn.texts[1:], strict=True):
            number += 1
            here.append((f"own_{number}", call))
            yield ToolCallStarted(0, f"own_{number}", call.name, call.declared)
            yield ToolCallDelta(0, f"own_{number}", call.arguments)
            yield from map(TextDelta, texts)
            yield ToolCallReady(0, f"own_{number}", call.name, call.arguments)
        yield from _turn_end(turn, position, here)
    if block.is_agent:
        by_rule = block.turns[-1].kind is TurnEnd.INTERMEDIATE
        reason = StopReason.TOOL_FAILURE_LIMIT if by_rule else StopReason.END_TURN
        yield AgentFinished(block.content, len(block.turns), reason, Usage(), 0.25)
    yield None


def _turn_end(turn: Turn, position: int, calls: Sequence[tuple[str, Call]]) -> Iterator[AgentEvent]:
    usage = RoundUsage(position + 1, "local/llama-3", Usage(1, 2, 3), 4, 5, 6, PromptSize(7, 8, 9, 10))
    match turn.kind:
        case TurnEnd.ABANDONED:
            for call_id, call in calls:
                yield ToolSettled(call_id, call.name, call.declared, ToolStatus.ERROR, "", 0)
            yield TurnEnded(turn.kind)
            yield Warned(WarningKind.MODEL_FALLBACK, {"from": "a/b", "to": "c/d"}, "BIRCH-7")
        case TurnEnd.INTERMEDIATE:
            yield usage
            yield TurnEnded(turn.kind)
            for call_id, call in reversed(calls):
                yield ToolSettled(call_id, call.name, call.declared, call.status, call.output, 12)
        case TurnEnd.FINAL:
            yield usage
            yield TurnEnded(turn.kind)


def _calls(block: Block) -> Iterator[tuple[str, Turn, Call]]:
    numbered = ((turn, call) for turn in block.turns for call in turn.calls)
    for number, (turn, call) in enumerate(numbered, start=1):
        yield f"own_{number}", turn, call


def _batched(events: Iterator[RunEvent], random: Random) -> Iterator[RunEvent]:
    """Join neighbouring events of a block into batches, as one network read may bring them."""
    batch: BlockStreamed | None = None
    for event in events:
        if batch is not None:
            if (
                isinstance(event, BlockStreamed)
                and event.block_id == batch.block_id
                and random.random() < 0.5
            ):
                batch = BlockStreamed(batch.block_id, [*batch.events, *event.events])
                continue
            yield batch
        batch = event if isinstance(event, BlockStreamed) else None
        if batch is None:
            yield event
    if batch is not None:
        yield batch
