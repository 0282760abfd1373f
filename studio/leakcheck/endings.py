"""How the answers of a checked chat go and end: what its models say, with a mark in everything hidden."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.conversation import ToolCall
from agents.errors import ProviderError
from agents.providers.base import (
    CallDelta,
    CallStarted,
    ProviderEvent,
    ReplayPart,
    ResponseEnded,
    ResponseFailed,
    TurnStop,
)
from agents.providers.scripted import Step, Turn
from runs.control import CancelReason
from streaming.codes import RunCode
from streaming.events import TextDelta, ThinkingDelta, Usage
from studio.leakcheck.copying import Agent, Copy
from studio.leakcheck.doubles import Halt, Scene

#: What the models of a check answer with; it holds nothing.
ANSWER = "This is the answer."
#: No fallback model is asked after this one.
_BAD = RunCode.PROVIDER_BAD_REQUEST
#: Calls of tools that fail, in a row: then the engine ends the run.
_FAILURES = 15


class Speech:
    """What one agent of the copy says. Where its text may be read, it is plain; else it is a mark."""

    def __init__(self, agent: Agent, copy: Copy, scene: Scene) -> None:
        self._agent = agent
        self._view = copy.view
        self._found = copy.found
        self._scene = scene
        self._marks = scene.marks

    def tool_turn(self) -> list[Step]:
        """Thinking, text that is no answer, and a call of each tool and of one that does not exist."""
        return [*self._thinking(), *self.draft(), self.calls(), self.end(TurnStop.TOOL_CALLS)]

    def answer(self, text: str = ANSWER) -> list[Step]:
        spoken = f"{text} {self._found}".rstrip()
        if self._agent.schema is not None:
            spoken = json.dumps(sample(self._agent.schema, spoken))
        elif not self._agent.heard:
            spoken = self._marks.at(f"the answer of {self._agent.id}, which is not selected")
        return [*self._thinking(), *([TextDelta(part)] for part in _halves(spoken)), self.end(TurnStop.STOP)]

    def draft(self) -> list[Step]:
        """Text of a turn that is no answer: live clients get it and take it back, no other does."""
        live = self._view.negotiated and self._agent.heard and not self._found and self._agent.schema is None
        text = "One moment." if live else self._marks.at("text of a turn that is no answer")
        return [[TextDelta(part)] for part in _halves(text)]

    def calls(self) -> list[ProviderEvent]:
        named = {name: json.dumps(self._arguments(schema)) for name, schema in self._agent.tools.items()}
        unknown = {self._marks.at("a tool name that the model made up"): f'{{"x": "{self._argument()}"'}
        return self._announce([ToolCall(self._call_id(), *call) for call in (named | unknown).items()])

    def failing_calls(self) -> list[ProviderEvent]:
        name = self._marks.at("a tool name that the model made up")
        return self._announce([ToolCall(self._call_id(), name, "{}") for _ in range(_FAILURES)])

    def failed(self, code: RunCode) -> list[ProviderEvent]:
        return [ResponseFailed(code, self._marks.at("the reason why a provider failed"), self._usage())]

    def refused(self, code: RunCode) -> ProviderError:
        provider = self._marks.at("a provider name")
        return ProviderError(code, self._marks.at("the reason why a provider refused"), provider=provider)

    def fault(self) -> Exception:
        return RuntimeError(self._marks.at("the text of an exception"))

    def halt(self) -> Halt:
        return Halt(self._scene)

    def end(self, stop: TurnStop) -> list[ProviderEvent]:
        model, word = self._marks.at("a model name"), self._marks.at("a provider's word for the end")
        return [ResponseEnded(True, stop, self._usage(), model, word)]

    def _thinking(self) -> list[Step]:
        shown = self._view.negotiated and self._view.thinking and self._agent.heard
        thought = f"I think. {self._found}" if shown else self._marks.at("thinking")
        signature = ReplayPart({"signature": self._marks.at("a provider's own part")})
        return [*([ThinkingDelta(part)] for part in _halves(thought)), [signature]]

    def _announce(self, calls: Sequence[ToolCall]) -> list[ProviderEvent]:
        started = (CallStarted(index, call.id, call.name) for index, call in enumerate(calls))
        given = (CallDelta(index, call.arguments) for index, call in enumerate(calls))
        return [event for pair in zip(started, given, strict=True) for event in pair]

    def _arguments(self, schema: Mapping[str, Any]) -> Any:
        made = sample(schema, self._argument())
        return made if isinstance(made, dict) and made else {"expression": self._argument()}

    def _argument(self) -> str:
        return self._marks.at("an argument of a tool")

    def _call_id(self) -> str:
        return self._marks.at("a provider's id of a call")

    def _usage(self) -> Usage:
        number = self._marks.number
        return Usage(number("input tokens"), number("output tokens"), number("all tokens"))


@dataclass(frozen=True)
class Ending:
    """`turns` of an agent's own model; `spare` of its fallback, which else says the same.

    `broken_rule`: a redaction rule cannot run.
    """

    name: str
    turns: Callable[[Speech], Sequence[Turn]]
    spare: Callable[[Speech], Sequence[Turn]] | None = None
    tools: str = "work"
    stop: CancelReason | None = None
    broken_rule: bool = False

    def script(self, copy: Copy, scene: Scene) -> dict[str, Sequence[Turn]]:
        """The turns of every model of the copy, by label."""
        script = {}
        for agent in copy.agents:
            speech = Speech(agent, copy, scene)
            own, spare = agent.models
            script[own] = self.turns(speech)
            script[spare] = (self.spare or self.turns)(speech)
        return script


def _answered(speech: Speech) -> Sequence[Turn]:
    return [speech.tool_turn(), speech.answer()]


def _then(*last: Callable[[Speech], Step]) -> Callable[[Speech], Sequence[Turn]]:
    """A turn with tools, then a turn of these steps."""
    return lambda speech: [speech.tool_turn(), [step(speech) for step in last]]


def _while_drafting(last: Callable[[Speech], Step]) -> Callable[[Speech], Sequence[Turn]]:
    return lambda speech: [[*speech.draft(), last(speech)]]


ENDINGS = (
    Ending("success", _answered),
    Ending("tools that fail", _answered, tools="fail"),
    Ending("tools that cannot be reached", _answered, tools="break"),
    Ending("a provider that refuses", lambda s: [[s.refused(RunCode.PROVIDER_RATE_LIMITED)]]),
    Ending("a provider that refuses the second round", _then(lambda s: s.refused(_BAD))),
    Ending("a provider that breaks off", _while_drafting(lambda s: s.failed(RunCode.PROVIDER_STREAM_BROKEN))),
    Ending("a bad request", _while_drafting(lambda s: s.failed(_BAD))),
    Ending(
        "a fallback model", _while_drafting(lambda s: s.failed(RunCode.PROVIDER_OVERLOADED)), spare=_answered
    ),
    Ending("a fault of our own", _then(Speech.fault)),
    Ending("an empty answer", _then(lambda s: s.end(TurnStop.STOP))),
    Ending("a content filter", _then(lambda s: s.end(TurnStop.CONTENT_FILTER))),
    Ending("too many rounds", lambda s: [s.tool_turn(), s.tool_turn()]),
    Ending("calls cut by length", lambda s: [[s.calls(), s.end(TurnStop.LENGTH)]]),
    Ending("endless failures", lambda s: [[s.failing_calls(), s.end(TurnStop.TOOL_CALLS)]]),
    Ending("Stop", _then(Speech.halt), stop=CancelReason.USER),
    Ending("Stop while a call is announced", lambda s: [[s.calls(), s.halt()]], stop=CancelReason.USER),
    Ending("a timeout", _then(Speech.halt), stop=CancelReason.TIMEOUT),
    Ending("a restart of the server", _then(Speech.halt), stop=CancelReason.SHUTDOWN),
    Ending("a rule that cannot run", _answered, broken_rule=True),
)


def sample(schema: Mapping[str, Any], text: str) -> Any:
    """A value that fits a plain JSON schema, with `text` for every text; one with more to it may refuse."""
    if "const" in schema or schema.get("enum"):
        return schema.get("const", (schema.get("enum") or [None])[0])
    match schema.get("type", "object" if "properties" in schema else "string"):
        case "object":
            return {name: sample(each, text) for name, each in schema.get("properties", {}).items()}
        case "array":
            return [sample(schema.get("items", {}), text)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "null":
            return None
    return text


def _halves(text: str) -> tuple[str, str]:
    """A value may be cut over deltas."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
