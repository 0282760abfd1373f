"""What a Chat Completions chunk looks like: typed for speed, read by hand where types differ. Pure."""

import json
from typing import Any

import msgspec

from agents.providers.broken_json import mapping, number, text


class Wire(msgspec.Struct, gc=False):
    """Decoded in bulk and dropped at once: the garbage collector need not look."""


class Function(Wire, gc=False):
    name: str | None = None
    arguments: str | None = None


class ToolDelta(Wire, gc=False):
    index: int | None = None
    id: str | None = None
    function: Function | None = None
    extra_content: dict[str, Any] | None = None


class Part(Wire, gc=False):
    """A part of a content list; a thinking part holds text parts."""

    type: str = ""
    text: str | None = None
    thinking: "str | list[Part] | None" = None
    refusal: str | None = None


class Delta(Wire, gc=False):
    content: str | list[Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[ToolDelta] | None = None
    function_call: Function | None = None


class PromptDetails(Wire, gc=False):
    cached_tokens: int | None = None


class CompletionDetails(Wire, gc=False):
    reasoning_tokens: int | None = None


class ChunkUsage(Wire, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    prompt_cache_hit_tokens: int | None = None
    reasoning_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    completion_tokens_details: CompletionDetails | None = None


class Groq(Wire, gc=False):
    usage: ChunkUsage | None = None
    error: Any = None


class Choice(Wire, gc=False):
    index: int | None = None
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    usage: ChunkUsage | None = None
    error: Any = None


class Chunk(Wire, gc=False):
    choices: list[Choice] | None = None
    usage: ChunkUsage | None = None
    model: str | None = None
    x_groq: Groq | None = None
    error: Any = None


#: Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError for what `chunk_from` may still read.
parse_chunk = msgspec.json.Decoder(Chunk).decode


def chunk_from(value: object) -> Chunk:
    """Take from a document what has the right type; the rest is as if absent."""
    chunk = mapping(value)
    choices = chunk.get("choices")
    return Chunk(
        choices=[_choice(item) for item in choices if isinstance(item, dict)]
        if isinstance(choices, list)
        else None,
        usage=_usage(chunk.get("usage")),
        model=text(chunk.get("model")),
        x_groq=_groq(chunk.get("x_groq")),
        error=chunk.get("error"),
    )


def _choice(value: dict[str, Any]) -> Choice:
    return Choice(
        index=number(value.get("index")),
        delta=_delta(value.get("delta")),
        message=_delta(value.get("message")),
        finish_reason=text(value.get("finish_reason")),
        usage=_usage(value.get("usage")),
        error=value.get("error"),
    )


def _delta(value: object) -> Delta | None:
    if not isinstance(value, dict):
        return None
    content, calls, details = value.get("content"), value.get("tool_calls"), value.get("reasoning_details")
    return Delta(
        content=_parts(content) if isinstance(content, list) else text(content),
        reasoning_content=text(value.get("reasoning_content")),
        reasoning=text(value.get("reasoning")),
        reasoning_details=[d for d in details if isinstance(d, dict)] if isinstance(details, list) else None,
        refusal=text(value.get("refusal")),
        tool_calls=[_call(item) for item in calls if isinstance(item, dict)]
        if isinstance(calls, list)
        else None,
        function_call=_function(value.get("function_call")),
    )


def _parts(values: list[Any]) -> list[Part]:
    return [
        Part(type="text", text=item) if isinstance(item, str) else _part(mapping(item)) for item in values
    ]


def _part(value: dict[str, Any]) -> Part:
    thinking = value.get("thinking")
    return Part(
        type=text(value.get("type")) or "",
        text=text(value.get("text")),
        thinking=_parts(thinking) if isinstance(thinking, list) else text(thinking),
        refusal=text(value.get("refusal")),
    )


def _call(value: dict[str, Any]) -> ToolDelta:
    extra = value.get("extra_content")
    return ToolDelta(
        index=number(value.get("index")),
        id=text(value.get("id")),
        function=_function(value.get("function")),
        extra_content=extra if isinstance(extra, dict) else None,
    )


def _function(value: object) -> Function | None:
    if not isinstance(value, dict):
        return None
    arguments = value.get("arguments")
    if isinstance(arguments, (dict, list)):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return Function(name=text(value.get("name")), arguments=text(arguments))


def _usage(value: object) -> ChunkUsage | None:
    if not isinstance(value, dict):
        return None
    prompt, completion = (
        mapping(value.get("prompt_tokens_details")),
        mapping(value.get("completion_tokens_details")),
    )
    return ChunkUsage(
        prompt_tokens=number(value.get("prompt_tokens")),
        completion_tokens=number(value.get("completion_tokens")),
        total_tokens=number(value.get("total_tokens")),
        cached_tokens=number(value.get("cached_tokens")),
        prompt_cache_hit_tokens=number(value.get("prompt_cache_hit_tokens")),
        reasoning_tokens=number(value.get("reasoning_tokens")),
        prompt_tokens_details=PromptDetails(number(prompt.get("cached_tokens"))),
        completion_tokens_details=CompletionDetails(number(completion.get("reasoning_tokens"))),
    )


def _groq(value: object) -> Groq | None:
    if not isinstance(value, dict):
        return None
    return Groq(usage=_usage(value.get("usage")), error=value.get("error"))
