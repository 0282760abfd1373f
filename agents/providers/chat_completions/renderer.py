"""A model request as a Chat Completions body. Pure.

Whatever a vendor may not know stands in `OPTIONAL`: a vendor that refuses it by name is asked again without.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from agents.conversation import AssistantMessage, Message, ModelRequest, Thinking, ToolMessage, UserMessage
from agents.providers.history import fit_history
from agents.providers.schemas import is_strict
from agents.providers.tool_names import ToolNames, names_of
from agents.providers.vendors import Quirks, ReasoningBack, Structured, ThinkingStyle

Body = dict[str, Any]

#: Keys that only change how an answer comes, so that an answer without them is better than none.
OPTIONAL = ("stream_options", "reasoning_effort", "reasoning", "thinking", "enable_thinking", "temperature")

#: The two names of one limit: a vendor that refuses one names the other.
MAX_TOKENS_KEYS = ("max_tokens", "max_completion_tokens")


def render_request(request: ModelRequest, quirks: Quirks, names: ToolNames | None = None) -> Body:
    """Return the JSON body of a streaming request."""
    names = names or names_of(request)
    body: Body = {
        "model": request.model,
        "messages": _messages(request, quirks, names),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": names.wire(tool.name),
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        body[quirks.max_tokens] = request.max_output_tokens
    if request.response_schema is not None:
        body["response_format"] = _response_format(request.response_schema, quirks.structured)
    return body | _thinking(request, quirks)


# --- Messages -----------------------------------------------------------------------------------------------


def _messages(request: ModelRequest, quirks: Quirks, names: ToolNames) -> list[Body]:
    rendered: list[Body] = []
    if instructions := _instructions(request, quirks):
        rendered.append({"role": "system", "content": instructions})
    history = fit_history(request.messages, quirks.vendor, quirks.call_ids)
    last_question = max((at for at, m in enumerate(history) if isinstance(m, UserMessage)), default=-1)
    for at, message in enumerate(history):
        in_tool_use = at > last_question
        _add(rendered, _message(message, request.model, quirks, names, in_tool_use=in_tool_use))
    return rendered


def _add(rendered: list[Body], message: Body) -> None:
    """Join questions in a row (a stopped answer leaves one): many chat templates want roles to alternate."""
    if rendered and message["role"] == "user" == rendered[-1]["role"]:
        rendered[-1]["content"] += "\n\n" + message["content"]
    else:
        rendered.append(message)


def _message(message: Message, model: str, quirks: Quirks, names: ToolNames, *, in_tool_use: bool) -> Body:
    match message:
        case UserMessage():
            return {"role": "user", "content": message.text}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case AssistantMessage():
            body = _assistant(message, names)
            if message.vendor == quirks.vendor:
                _give_back(body, message, model, quirks.reasoning_back, in_tool_use=in_tool_use)
            return body
        case _:
            assert_never(message)


def _assistant(message: AssistantMessage, names: ToolNames) -> Body:
    body: Body = {"role": "assistant", "content": message.text}
    if message.calls:
        body["content"] = message.text or None
        body["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": names.wire(call.name), "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return body


def _give_back(
    body: Body, message: AssistantMessage, model: str, how: ReasoningBack, *, in_tool_use: bool
) -> None:
    """Add what the vendor wants to see again of its own reasoning; what another model made is left out."""
    parts = [part for part in message.replay if part.get("model") == model]
    for part in parts:
        if part.get("type") == "call_extra" and 0 <= part["call"] < len(message.calls):
            body["tool_calls"][part["call"]]["extra_content"] = part["extra_content"]
    if how is ReasoningBack.DETAILS:
        if details := [part["detail"] for part in parts if part.get("type") == "reasoning_detail"]:
            body["reasoning_details"] = details
    elif how is not ReasoningBack.NO and in_tool_use and message.thinking:
        if how is ReasoningBack.TEXT:
            body["reasoning_content"] = message.thinking
        else:
            thinking = {"type": "thinking", "thinking": [{"type": "text", "text": message.thinking}]}
            text = [{"type": "text", "text": message.text}] if message.text else []
            body["content"] = [thinking, *text]


def _instructions(request: ModelRequest, quirks: Quirks) -> str:
    if request.response_schema is None or quirks.structured is Structured.SCHEMA:
        return request.instructions
    schema = json.dumps(request.response_schema, ensure_ascii=False)
    return f"{request.instructions}\n\nAnswer with JSON only, of this JSON schema:\n{schema}".lstrip()


# --- Options ------------------------------------------------------------------------------------------------


def _response_format(schema: Mapping[str, Any], structured: Structured) -> Body:
    if structured is Structured.OBJECT:
        return {"type": "json_object"}
    wanted = {"name": "answer", "schema": dict(schema), "strict": is_strict(schema)}
    return {"type": "json_schema", "json_schema": wanted}


_THINKING: dict[ThinkingStyle, Callable[[Thinking], Body]] = {
    ThinkingStyle.NONE: lambda level: {},
    ThinkingStyle.EFFORT: lambda level: {} if level is Thinking.OFF else {"reasoning_effort": str(level)},
    ThinkingStyle.EFFORT_OR_NONE: lambda level: {
        "reasoning_effort": "none" if level is Thinking.OFF else str(level)
    },
    ThinkingStyle.REASONING: lambda level: {
        "reasoning": {"enabled": False} if level is Thinking.OFF else {"effort": str(level)}
    },
    ThinkingStyle.SWITCH: lambda level: {
        "thinking": {"type": "disabled" if level is Thinking.OFF else "enabled"}
    },
    ThinkingStyle.ENABLE: lambda level: {"enable_thinking": level is not Thinking.OFF},
}


def _thinking(request: ModelRequest, quirks: Quirks) -> Body:
    if quirks.thinking_models is not None and not quirks.thinking_models.match(request.model):
        return {}
    return _THINKING[quirks.thinking](request.thinking)


# --- Asking again -------------------------------------------------------------------------------------------


def without_refused(body: Body, complaint: str) -> tuple[Body, Sequence[str]]:
    """Return the body without what a vendor's refusal names, and the names; unchanged if it names nothing.

    A limit under the wrong name is renamed.
    """
    told = complaint.lower()
    refused = [key for key in OPTIONAL if key in body and key in told]
    # `reasoning` and `thinking` are parts of other names.
    refused = [key for key in refused if not any(key != other and key in other for other in refused)]
    kept = {key: value for key, value in body.items() if key not in refused}
    old, new = MAX_TOKENS_KEYS
    for key, other in ((old, new), (new, old)):
        if key in kept and f"'{key}'" in complaint and other in complaint:
            kept[other] = kept.pop(key)
            refused.append(key)
            break
    return kept, refused
