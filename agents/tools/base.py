"""A tool as the loop knows it. Its failure is a result that the model reads, and never ends a run."""

from typing import Any, Protocol

import msgspec

from agents.conversation import ToolSpec


class ToolResult(msgspec.Struct, frozen=True):
    """The text given to the model. `is_error` is what the guards count as a failure."""

    text: str
    is_error: bool = False


class Tool(Protocol):
    """Something a model may call."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def idempotent(self) -> bool:
        """Whether a call in flight may be repeated when its worker died."""

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Run once with arguments that fit the schema. Cancelled on Stop; must then leave nothing open."""
