"""What an agent is, resolved and ready to run: models with their providers, tools, limits. Frozen."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.conversation import Thinking
from agents.providers.base import Provider
from agents.tools.base import Tool


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens; cached input None: as input."""

    input: float
    output: float
    cached_input: float | None = None


@dataclass(frozen=True)
class ModelChoice:
    """One model of a chain. `price` None: unknown, so the cost is unknown too, never zero."""

    provider: Provider
    model: str
    price: Price | None = None

    @property
    def label(self) -> str:
        """`provider/model`, as everywhere."""
        return f"{self.provider.name}/{self.model}"


@dataclass(frozen=True)
class AgentSpec:
    """An agent block or an agent of the runtime. `models[0]` is asked first, the rest are fallbacks in order.

    `summaries` is true iff thinking can reach somebody.
    """

    models: Sequence[ModelChoice]
    instructions: str = ""
    tools: Sequence[Tool] = ()
    thinking: Thinking = Thinking.OFF
    summaries: bool = False
    temperature: float | None = None
    max_output_tokens: int | None = None
    max_rounds: int = 20
    response_schema: dict[str, Any] | None = field(default=None)
