"""The `demo` provider: no model, no network, no key. It plays a short turn and says that it is a demo.

The same conversation gives the same answer. It shows what a model may do: think, call a tool, use its result.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

from agents.conversation import ModelRequest, ToolCall, ToolMessage, UserMessage
from agents.providers.base import CallDelta, CallStarted, ProviderEvent, ResponseEnded, TurnStop
from streaming.events import TextDelta, ThinkingDelta, Usage

#: Between two words: fast to read, slow enough to see that it streams.
DEFAULT_DELAY_SECONDS = 0.03

_CALCULATION = re.compile(r"[-(]*\d[\d.]*(?:\s*[-+*/%^()]+\s*[\d.]+)+\)*")
_WORD = re.compile(r"\s*\S+")


class DemoProvider:
    """Answers every model's name. `delay` is the pause between words, in seconds."""

    vendor = "demo"

    def __init__(self, name: str, delay: float = DEFAULT_DELAY_SECONDS) -> None:
        self.name = name
        self._delay = delay

    async def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        said = 0
        for event in _turn(request):
            if isinstance(event, TextDelta | ThinkingDelta):
                said += 1
                await asyncio.sleep(self._delay)
            yield [event]
        asked = sum(len(message.text.split()) for message in request.messages)
        stop = TurnStop.TOOL_CALLS if _call_for(request) else TurnStop.STOP
        usage = Usage(input_tokens=asked, output_tokens=said, total_tokens=asked + said)
        yield [ResponseEnded(True, stop, usage, request.model, "demo")]


def _turn(request: ModelRequest) -> Iterator[ProviderEvent]:
    call = _call_for(request)
    for word in _words(_thoughts(request, call)):
        yield ThinkingDelta(word)
    if call is None:
        text = _structured(request.response_schema) if request.response_schema else _answer(request)
        for word in _words(text):
            yield TextDelta(word)
        return
    for word in _words(f"This is a demo. First I use the tool {call.name}."):
        yield TextDelta(word)
    yield CallStarted(0, call.id, call.name)
    yield CallDelta(0, call.arguments)


def _question(request: ModelRequest) -> str:
    return next((m.text for m in reversed(request.messages) if isinstance(m, UserMessage)), "")


def _results(request: ModelRequest) -> list[ToolMessage]:
    """Return the results that came since the question."""
    results: list[ToolMessage] = []
    for message in reversed(request.messages):
        if isinstance(message, UserMessage):
            break
        if isinstance(message, ToolMessage):
            results.insert(0, message)
    return results


def _call_for(request: ModelRequest) -> ToolCall | None:
    """Return the one call that this question gets: a calculation if it holds one, else the time."""
    tools = {tool.name for tool in request.tools}
    if _results(request):
        return None
    found = _CALCULATION.search(_question(request))
    if "calculator" in tools and (found or "current_time" not in tools):
        expression = found.group().strip().replace("^", "**") if found else "6 * 7"
        return ToolCall("demo_call", "calculator", json.dumps({"expression": expression}))
    if "current_time" in tools:
        return ToolCall("demo_call", "current_time", "{}")
    return None


def _thoughts(request: ModelRequest, call: ToolCall | None) -> str:
    if call is not None:
        return f"This is a demo, and no model thinks here. I call the tool {call.name} to show how it looks."
    if _results(request):
        return "The demo tool has answered. I can say what it said."
    return "This is a demo, and no model thinks here. I answer at once."


def _answer(request: ModelRequest) -> str:
    question = " ".join(_question(request).split())
    if len(question) > 200:
        question = question[:199] + "…"
    lines = [f"This is a demo answer: no model was asked. You wrote: “{question}”"]
    for result in _results(request):
        verdict = "could not help" if result.is_error else "says"
        lines.append(f"The tool `{result.name}` {verdict}: {' '.join(result.text.split())[:300]}")
    lines.append("To get real answers, add a provider and choose one of its models for this agent.")
    return "\n\n".join(lines)


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _structured(schema: Mapping[str, Any]) -> str:
    return json.dumps(_example(schema), ensure_ascii=False)


def _example(schema: Mapping[str, Any]) -> object:
    """Return a value that a simple schema takes."""
    if schema.get("enum"):
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) and kind else kind:
        case "string":
            return "This is a demo answer"
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "array":
            return [_example(schema.get("items", {}))] if schema.get("minItems") else []
        case "null":
            return None
        case _:
            return {name: _example(inner) for name, inner in schema.get("properties", {}).items()}
