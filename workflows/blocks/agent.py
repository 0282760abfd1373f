"""`agent`: a model with tools, which answers in text or, with a `response_schema`, in fields of an object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import msgspec

from agents.conversation import Message, Thinking, UserMessage
from agents.loop import AgentRun
from agents.spec import AgentSpec
from runs.memory import window
from streaming.codes import RunCode
from streaming.events import StopReason
from workflows.blocks import agent_output, agent_tools, structured
from workflows.blocks.agent_tools import ToolDefinition
from workflows.blocks.base import Block, LongText, Output, Resources, Result, Templated
from workflows.problems import Problem
from workflows.scope import Scope

ModelName = Annotated[
    str,
    msgspec.Meta(pattern=r"^[A-Za-z0-9_\-]+/\S+$", max_length=300, description="provider/model"),
]


class Window(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last messages of a conversation."""

    window: Annotated[int, msgspec.Meta(ge=1, le=1000)]


Memory = Annotated[
    Literal["none", "conversation"] | Window, msgspec.Meta(description="none, conversation or {window: 20}")
]


class Agent(Block, frozen=True, kw_only=True, tag="agent"):
    """`prompt` None: the run's input."""

    model: ModelName
    fallbacks: tuple[ModelName, ...] = ()
    instructions: LongText = ""
    prompt: LongText | None = None
    memory: Memory = "none"
    thinking: Thinking = Thinking.OFF
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    max_output_tokens: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] | None = None
    max_rounds: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20
    response_schema: dict[str, Any] | None = None
    tools: Annotated[tuple[ToolDefinition, ...], msgspec.Meta(max_length=128)] = ()

    def problems(self) -> Iterator[Problem]:
        yield from agent_tools.problems(self.tools)
        if self.response_schema is not None:
            for sentence in structured.problems(self.response_schema, taken=agent_output.PATHS):
                yield Problem("response_schema", sentence)

    def templated(self) -> Iterator[Templated]:
        yield Templated("instructions", self.instructions)
        if self.prompt is not None:
            yield Templated("prompt", self.prompt)

    def outputs(self) -> Sequence[Output]:
        fields = structured.fields(self.response_schema or {})
        opaque = ("tokens", "cost", "toolCalls", "providerTiming")
        own = (Output(path, opaque=path in opaque) for path in agent_output.PATHS)
        return [*own, *(Output(name, opaque=True) for name in fields)]

    @property
    def is_live(self) -> bool:
        """Whether its text may be shown while it comes: fields of an object are none before its end."""
        return self.response_schema is None

    @property
    def recall(self) -> int | None:
        """How many messages of its conversation it reads; None: all."""
        match self.memory:
            case "none":
                return 0
            case "conversation":
                return None
            case Window(window=last):
                return last

    def prepare(self, resources: Resources, *, start: str) -> "Answering":
        spec = AgentSpec(
            models=[resources.model(name) for name in (self.model, *self.fallbacks)],
            tools=[tool.tool(resources) for tool in self.tools],
            thinking=self.thinking,
            summaries=resources.summaries,
            temperature=self.temperature,
            max_output_tokens=self.max_output_tokens,
            max_rounds=self.max_rounds,
            response_schema=self.response_schema,
        )
        return Answering(self, spec, self.prompt if self.prompt is not None else f"{{{{{start}.input}}}}")


@dataclass(frozen=True)
class Answering:
    """`spec` lacks only its instructions, which are filled in when it runs, like `prompt`."""

    block: Agent
    spec: AgentSpec
    prompt: str

    async def run(self, scope: Scope) -> Result:
        instructions = scope.outputs.text(self.block.instructions)
        prompt = scope.outputs.text(self.prompt)
        remembered = self._remembered(scope)
        scope.input = {"instructions": instructions, "prompt": prompt, "remembered": len(remembered)}
        agent = AgentRun(
            replace(self.spec, instructions=instructions),
            [*remembered, UserMessage(prompt)],
            next_call_id=scope.next_call_id,
        )
        await scope.relay(agent)
        output = agent_output.of(agent)
        if agent.stop_reason is StopReason.TOOL_FAILURE_LIMIT:
            return Result(
                output, ended=RunCode.TOOL_FAILURE_LIMIT, detail="too many tool calls in a row failed"
            )
        if self.block.response_schema is None:
            return Result(output)
        return Result(structured.parse(agent.content, self.block.response_schema) | output)

    def _remembered(self, scope: Scope) -> Sequence[Message]:
        recall = self.block.recall
        return [] if recall == 0 else window(scope.history, recall)
