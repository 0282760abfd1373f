"""What a run says: one vocabulary for every surface. Encoders turn it into wires; nothing here knows one.

Two unions. `AgentEvent` is what one agent block says; `RunEvent` is what a run of blocks says, and carries
agent events in batches: a batch is what one read from the provider brought, so that its frames can leave in
one send.

Order, within a block: per turn `ThinkingDelta`, `TextDelta`, `ToolCall*` in the provider's order, then for a
tool turn `RoundUsage`, `TurnEnded(intermediate)`, a `ToolSettled` for each call; at last `RoundUsage`,
`TurnEnded(final)`, `AgentFinished`. A failure ends the block's events without `AgentFinished`.
Within a run: exactly one `RunEnded`, last.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from streaming.codes import RunCode

JSON = Any


class Struct(msgspec.Struct, frozen=True, tag=True, tag_field="event", gc=False):
    """Frozen and tagged by its class name, so that a trace entry or a log line is one encoder call."""


class ToolStatus(StrEnum):
    """How a tool call settled (agent-events-v1 section 3)."""

    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"


class TurnEnd(StrEnum):
    """What a model call turned out to be, known only when it has ended."""

    #: It ended in tool calls: its text is no answer and is retracted.
    INTERMEDIATE = "intermediate"
    #: Its text is the answer.
    FINAL = "final"
    #: The model failed before the end and another attempt follows: text is retracted, thinking stays.
    ABANDONED = "abandoned"


class WarningKind(StrEnum):
    """agent-runtime-v1 section 3."""

    TOOL_LOOP_GUARD = "tool_loop_guard"
    TOOL_SUSPENDED = "tool_suspended"
    MODEL_FALLBACK = "model_fallback"
    ROUND_RESTARTED = "round_restarted"


class StopReason(StrEnum):
    """How an agent that finished came to its end."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    CONTENT_FILTER = "content_filter"
    TOOL_FAILURE_LIMIT = "tool_failure_limit"


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Token counts as the provider stated them; None where it said nothing.

    `estimated` is true where a part is our own estimate, because the stream was cut before its usage came.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    estimated: bool = False


class PromptSize(msgspec.Struct, frozen=True, gc=False):
    """How large the request of a round was, in characters and messages."""

    system_chars: int
    tools_chars: int
    history_chars: int
    message_count: int


# --- What one agent block says ------------------------------------------------------------------------------


class ThinkingDelta(Struct, frozen=True, gc=False):
    """Thinking or a reasoning summary, as exposed by the provider. Never empty."""

    text: str


class TextDelta(Struct, frozen=True, gc=False):
    """Answer text (a refusal's text included). Never empty; may be retracted by the turn's end."""

    text: str


class ToolCallStarted(Struct, frozen=True, gc=False):
    """A call's whole name is known. `id` is `call_N` of the run; the provider's id stays in the conversation.

    `declared` is false when the name is none of the block's tools: the model made it up.
    """

    index: int
    id: str
    name: str
    declared: bool


class ToolCallDelta(Struct, frozen=True, gc=False):
    """A fragment of a call's arguments, as emitted. Never empty."""

    index: int
    id: str
    fragment: str


class ToolCallReady(Struct, frozen=True, gc=False):
    """The whole arguments text exactly as the model emitted it, valid JSON or not."""

    index: int
    id: str
    name: str
    arguments: str


class ToolSettled(Struct, frozen=True, gc=False):
    """A call has its end. `output` is the text given to the model; `duration_ms` is 0 if it never ran."""

    id: str
    name: str
    declared: bool
    status: ToolStatus
    output: str
    duration_ms: int


class RoundUsage(Struct, frozen=True, gc=False):
    """One model call in numbers. `tool_calls` counts the run so far; `model` is `provider/model` as it
    answered.
    """

    round: int
    model: str
    usage: Usage
    latency_ms: int
    first_token_ms: int | None
    tool_calls: int
    prompt: PromptSize


class Warned(Struct, frozen=True, gc=False):
    """A guard acted, or a model was replaced. `facts` are the wire's own keys: `tool`, `count`, `from`…"""

    kind: WarningKind
    facts: dict[str, JSON]
    message: str


class TurnEnded(Struct, frozen=True, gc=False):
    """A model call has ended and is known for what it was."""

    kind: TurnEnd


class AgentFinished(Struct, frozen=True, gc=False):
    """The agent's own end. `content` is the final turn's text; empty with `tool_failure_limit`.

    `cost` is in dollars, None when a price is unknown.
    """

    content: str
    rounds: int
    stop_reason: StopReason
    usage: Usage
    cost: float | None


AgentEvent = (
    ThinkingDelta
    | TextDelta
    | ToolCallStarted
    | ToolCallDelta
    | ToolCallReady
    | ToolSettled
    | RoundUsage
    | Warned
    | TurnEnded
    | AgentFinished
)


# --- What a run says ----------------------------------------------------------------------------------------


class RunStatus(StrEnum):
    """The ledger's states (agent-runtime-v1 section 1)."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class BlockStarted(Struct, frozen=True, gc=False):
    """A block began. `order` counts from 1 in order of start."""

    block_id: str
    name: str
    type: str
    order: int
    at: datetime


class BlockStreamed(Struct, frozen=True, gc=False):
    """What one provider read brought for an agent block, in order. Never empty."""

    block_id: str
    events: Sequence[AgentEvent]


class BlockCompleted(Struct, frozen=True, gc=False):
    """A block's whole private result. Whoever shows it selects from it."""

    block_id: str
    name: str
    type: str
    order: int
    input: JSON
    output: dict[str, JSON]
    started_at: datetime
    ended_at: datetime


class BlockFailed(Struct, frozen=True, gc=False):
    """A block failed. `detail` is the literal reason, for the log and the owner only."""

    block_id: str
    name: str
    type: str
    order: int
    input: JSON
    code: RunCode
    detail: str
    started_at: datetime
    ended_at: datetime


class RunEnded(Struct, frozen=True, gc=False):
    """The terminal, made from the ledger's row after its compare-and-set.

    `outputs` maps each completed block to its whole output; `terminal_blocks` are those without taken
    outgoing edges. `code` is None iff `success`. `detail` is private.
    """

    run_id: str
    status: RunStatus
    success: bool
    code: RunCode | None
    detail: str
    outputs: dict[str, dict[str, JSON]]
    terminal_blocks: Sequence[str]
    duration_ms: int


RunEvent = BlockStarted | BlockStreamed | BlockCompleted | BlockFailed | RunEnded
