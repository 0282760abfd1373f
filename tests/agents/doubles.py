"""Doubles of the loop's two ports: a provider that plays a script, and tools that do what a test says."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from itertools import count
from typing import Any

from agents.conversation import Message, ToolSpec, UserMessage
from agents.errors import ProviderError
from agents.loop import AgentRun
from agents.providers.base import (
    CallDelta,
    CallStarted,
    ProviderEvent,
    ResponseEnded,
    TurnStop,
)
from agents.providers.scripted import ScriptedProvider, Step, Turn
from agents.spec import AgentSpec, ModelChoice, Price
from agents.tools.base import Tool, ToolResult
from streaming.codes import RunCode
from streaming.events import AgentEvent, TextDelta, Usage

Script = Turn
#: More rounds than any run here has.
ENOUGH = 30

USAGE = Usage(10, 5, 15)


class Played(ScriptedProvider):
    """Plays one script a call, and the last one for as long as it is asked."""

    def __init__(self, *scripts: Script, name: str = "fake", vendor: str = "vendor") -> None:
        super().__init__([*scripts, *[scripts[-1]] * ENOUGH], name=name, vendor=vendor)


class Doing:
    """A tool that takes any object, or what `parameters` says, and does what it is told."""

    def __init__(
        self,
        name: str,
        does: Callable[[dict[str, Any]], Awaitable[ToolResult]],
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self.spec = ToolSpec(name, f"Does {name}.", parameters or {"type": "object"})
        self.idempotent = True
        self.calls: list[dict[str, Any]] = []
        self._does = does

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        self.calls.append(arguments)
        return await self._does(arguments)


def saying(name: str, text: str = "done", *, is_error: bool = False) -> Doing:
    """A tool that always gives the same result."""

    async def does(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(text, is_error)

    return Doing(name, does)


def ended(stop: TurnStop = TurnStop.STOP, *, closed: bool = True, usage: Usage = USAGE) -> ResponseEnded:
    return ResponseEnded(closed, stop, usage)


def answer(*texts: str, stop: TurnStop = TurnStop.STOP) -> Script:
    return [[TextDelta(text)] for text in texts] + [[ended(stop)]]


def call(index: int, name: str, arguments: str = "{}", identity: str | None = None) -> list[ProviderEvent]:
    events: list[ProviderEvent] = [CallStarted(index, f"v{index}" if identity is None else identity, name)]
    return [*events, CallDelta(index, arguments)] if arguments else events


def calling(*calls: Sequence[ProviderEvent], text: str = "", stop: TurnStop = TurnStop.TOOL_CALLS) -> Script:
    """A turn that says `text` and makes `calls`."""
    said: list[Step] = [[TextDelta(text)]] if text else []
    return [*said, *calls, [ended(stop)]]


def failing(code: RunCode, *before: Step, detail: str = "it broke") -> Script:
    return [*before, ProviderError(code, detail)]


def spec_of(*providers: Played, tools: Iterable[Tool] = (), max_rounds: int = 20) -> AgentSpec:
    models = [ModelChoice(provider, "model", Price(1.0, 2.0)) for provider in providers]
    return AgentSpec(models=models, instructions="Help.", tools=tuple(tools), max_rounds=max_rounds)


def run_of(spec: AgentSpec, *messages: Message) -> AgentRun:
    numbers = count(1)
    return AgentRun(spec, messages or [UserMessage("Hi")], next_call_id=lambda: f"call_{next(numbers)}")


def run(*providers: Played, tools: Iterable[Tool] = (), max_rounds: int = 20) -> AgentRun:
    return run_of(spec_of(*providers, tools=tools, max_rounds=max_rounds))


async def heard(agent: AgentRun) -> list[AgentEvent]:
    """Everything a run says, without its batches."""
    said: list[AgentEvent] = []
    async with aclosing(agent.events()) as batches:
        async for batch in batches:
            said += batch
    return said
