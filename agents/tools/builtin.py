"""The tools that every installation has. Adding one is a function here and its row in BUILTINS."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from agents.conversation import ToolSpec
from agents.tools.arithmetic import NotArithmetic, evaluate
from agents.tools.base import ToolResult


@dataclass(frozen=True)
class BuiltinTool:
    """A pure function of its arguments. A ValueError of it is an error result with that text."""

    spec: ToolSpec
    function: Callable[[dict[str, Any]], str]
    idempotent: bool = True

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        try:
            return ToolResult(self.function(arguments))
        except ValueError as error:
            return ToolResult(f"{error}", is_error=True)


def current_time(arguments: dict[str, Any], now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> str:
    """ISO 8601 with its offset, the weekday and the zone."""
    name = arguments.get("timezone") or "UTC"
    moment = now().astimezone(_zone(name))
    return f"{moment.isoformat(timespec='seconds')} ({moment:%A}, {name})"


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError(
            f"{name[:100]!r} is no time zone; give an IANA name such as Europe/Lisbon or America/Sao_Paulo."
        ) from error


def calculator(arguments: dict[str, Any]) -> str:
    expression = arguments["expression"]
    try:
        return evaluate(expression)
    except NotArithmetic as error:
        raise ValueError(f"This could not be computed: {error}.") from error


def _builtin(
    function: Callable[[dict[str, Any]], str],
    description: str,
    properties: dict[str, Any],
    required: list[str],
) -> tuple[str, BuiltinTool]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    name = function.__name__
    return name, BuiltinTool(ToolSpec(name, description, schema), function)


BUILTINS: Mapping[str, BuiltinTool] = dict(
    [
        _builtin(
            current_time,
            "The current date, time and weekday in a time zone.",
            {
                "timezone": {
                    "type": "string",
                    "description": "IANA time zone, e.g. America/Sao_Paulo. UTC if left out.",
                }
            },
            [],
        ),
        _builtin(
            calculator,
            "Computes an arithmetic expression. Use it for any calculation.",
            {
                "expression": {
                    "type": "string",
                    "description": "With + - * / // % ** and functions such as sqrt, round, log, sin; "
                    "e.g. (12.5 * 3) ** 2 / sqrt(2)",
                }
            },
            ["expression"],
        ),
    ]
)
