"""One call of one tool: checked, run, and whatever happens turned into a result that the model reads."""

import logging
from collections.abc import Sequence

from agents.conversation import ToolCall
from agents.tools import arguments
from agents.tools.base import Tool, ToolResult
from streaming.text import clean

#: Characters of one result that reach the model; what is cut is said in the text.
MAX_RESULT = 100_000
#: Characters of all results of one turn; many parallel calls share them.
MAX_TURN_RESULTS = 500_000

log = logging.getLogger(__name__)


async def call_tool(
    tool: Tool | None, call: ToolCall, available: Sequence[str], limit: int = MAX_RESULT
) -> ToolResult:
    """Run `call` with `tool` (None: the model made its name up). Only a cancel leaves it as an exception."""
    if tool is None:
        return _unknown(call.name, available)
    try:
        values = arguments.read(call.arguments)
    except arguments.BadArguments as error:
        return _refused(f"The arguments of {call.name} could not be parsed: {error}. It was not run.")
    try:
        arguments.check(values, tool.spec.parameters)
    except arguments.BadArguments as error:
        return _refused(f"The arguments of {call.name} do not fit its schema: {error}. It was not run.")
    try:
        result = await tool.call(values)
    except Exception as error:
        log.exception("tool %s raised", call.name)
        return _refused(f"{call.name} failed unexpectedly ({type(error).__name__}).")
    return ToolResult(cap(clean(result.text), limit), result.is_error)


def limit_among(calls: int) -> int:
    """How much of a result reaches the model when so many calls share a turn."""
    return min(MAX_RESULT, MAX_TURN_RESULTS // max(calls, 1))


def cap(text: str, limit: int) -> str:
    """Return `text`, or its beginning with a note of how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut: {len(text) - limit} more characters]"


def _unknown(name: str, available: Sequence[str]) -> ToolResult:
    tools = ", ".join(available) if available else "none"
    return _refused(f"There is no tool named {cap(clean(name), 100)!r}. Available tools: {tools}.")


def _refused(text: str) -> ToolResult:
    return ToolResult(clean(text), is_error=True)
