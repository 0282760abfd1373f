"""A model request as a Responses body. Pure.

Nothing is stored at the vendor: the whole conversation goes with each request, and so does the reasoning that
only the model can read. Whatever a vendor may not know is in `_OPTIONAL`: refused by name, it is left out.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from agents.conversation import AssistantMessage, Message, ModelRequest, Thinking, ToolMessage, UserMessage
from agents.providers.history import fit_history
from agents.providers.schemas import is_strict
from agents.providers.tool_names import ToolNames, names_of
from agents.providers.vendors import Quirks

Body = dict[str, Any]


def render_request(request: ModelRequest, quirks: Quirks, names: ToolNames | None = None) -> Body:
    """Return the JSON body of a streaming request."""
    names = names or names_of(request)
    body: Body = {
        "model": request.model,
        "input": _input(request, quirks, names),
        "stream": True,
        "store": False,
    }
    if request.instructions:
        body["instructions"] = request.instructions
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": names.wire(tool.name),
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": False,
            }
            for tool in request.tools
        ]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    if request.response_schema is not None:
        body["text"] = {"format": _format(request.response_schema)}
    return body | _reasoning(request, quirks)


def _format(schema: Mapping[str, Any]) -> Body:
    return {"type": "json_schema", "name": "answer", "schema": dict(schema), "strict": is_strict(schema)}


def _reasoning(request: ModelRequest, quirks: Quirks) -> Body:
    if quirks.thinking_models is not None and not quirks.thinking_models.match(request.model):
        return {}
    body: Body = {"include": ["reasoning.encrypted_content"]}
    if request.thinking is not Thinking.OFF:
        body["reasoning"] = {"effort": str(request.thinking)}
        if request.summaries:
            body["reasoning"]["summary"] = "auto"
    return body


# --- Items --------------------------------------------------------------------------------------------------


def _input(request: ModelRequest, quirks: Quirks, names: ToolNames) -> list[Body]:
    history = fit_history(request.messages, quirks.vendor, quirks.call_ids)
    return [item for message in history for item in _items(message, request.model, quirks, names)]


def _items(message: Message, model: str, quirks: Quirks, names: ToolNames) -> list[Body]:
    match message:
        case UserMessage():
            return [{"role": "user", "content": message.text}]
        case ToolMessage():
            return [{"type": "function_call_output", "call_id": message.call_id, "output": message.text}]
        case AssistantMessage():
            mine = message.vendor == quirks.vendor
            kept = [part for part in message.replay if mine and part.get("model") == model]
            return _assistant(message, kept, names)
        case _:
            assert_never(message)


def _assistant(message: AssistantMessage, kept: Sequence[Mapping[str, Any]], names: ToolNames) -> list[Body]:
    """Return the items of a turn in their order: reasoning must stand before what it led to."""
    items: list[Body] = []
    reasoning = [part for part in kept if part.get("type") == "reasoning"]
    for after_text in (False, True):
        items += [p["item"] for p in reasoning if p["calls_before"] == 0 and p["after_text"] is after_text]
        if message.text and not after_text:
            items.append({"role": "assistant", "content": message.text, **_phase(kept)})
    for at, call in enumerate(message.calls):
        if at:
            items += [part["item"] for part in reasoning if part["calls_before"] == at]
        items.append(
            {
                "type": "function_call",
                "call_id": call.id,
                "name": names.wire(call.name),
                "arguments": call.arguments,
            }
        )
    return items


def _phase(kept: Sequence[Mapping[str, Any]]) -> Body:
    phases = [part["phase"] for part in kept if part.get("type") == "phase"]
    return {"phase": phases[-1]} if phases else {}


# --- Asking again -------------------------------------------------------------------------------------------

#: What a complaint speaks of → where that stands in the body. The first that is there counts.
_OPTIONAL: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"summar", re.IGNORECASE), ("reasoning", "summary")),
    (re.compile(r"encrypted|\binclude\b", re.IGNORECASE), ("include",)),
    (re.compile(r"reasoning", re.IGNORECASE), ("reasoning",)),
    (re.compile(r"temperature", re.IGNORECASE), ("temperature",)),
)


def without_refused(body: Body, complaint: str) -> tuple[Body, Sequence[str]]:
    """Return the body without what a vendor's refusal speaks of, and its name; unchanged if it has none.

    An organisation that may not have summaries gets its answer without.
    """
    for pattern, (key, *inner) in _OPTIONAL:
        if key not in body or not pattern.search(complaint):
            continue
        if not inner:
            return {name: value for name, value in body.items() if name != key}, [key]
        if inner[0] in body[key]:
            kept = {name: value for name, value in body[key].items() if name != inner[0]}
            return {**body, key: kept}, [f"{key}.{inner[0]}"]
    return body, []
