"""What is said to a model and what it answered, vendor-neutral and frozen. Provider wires render from it."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec


class Thinking(StrEnum):
    """How much a model should think, as far as it can."""

    OFF = "off"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class ToolCall(msgspec.Struct, frozen=True):
    """A call as the model made it. `id` is what the next request must repeat: unique in its conversation."""

    id: str
    name: str
    arguments: str


class UserMessage(msgspec.Struct, frozen=True):
    text: str


class AssistantMessage(msgspec.Struct, frozen=True):
    """`replay`: a vendor's opaque parts (signatures, encrypted reasoning) that only `vendor` gets back."""

    text: str = ""
    calls: Sequence[ToolCall] = ()
    thinking: str = ""
    replay: Sequence[Mapping[str, Any]] = ()
    vendor: str = ""


class ToolMessage(msgspec.Struct, frozen=True):
    """The result of one call, as the model reads it."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


Message = UserMessage | AssistantMessage | ToolMessage


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as the model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ModelRequest(msgspec.Struct, frozen=True):
    """One model call.

    `model` is the vendor's own name (without our provider's). `summaries` is true iff thinking can reach
    somebody (agent-events-v1 section 1): only then is a provider asked for reasoning summaries.
    """

    model: str
    messages: Sequence[Message]
    instructions: str = ""
    tools: Sequence[ToolSpec] = ()
    thinking: Thinking = Thinking.OFF
    summaries: bool = False
    temperature: float | None = None
    max_output_tokens: int | None = None
    response_schema: Mapping[str, Any] | None = None
