"""What a Responses event looks like: typed for speed, read by hand where types differ. Pure."""

from typing import Any

import msgspec

from agents.providers.broken_json import mapping, number, text
from streaming.events import Usage


class Wire(msgspec.Struct, gc=False):
    """Decoded in bulk and dropped at once: the garbage collector need not look."""


class InputDetails(Wire, gc=False):
    cached_tokens: int | None = None


class OutputDetails(Wire, gc=False):
    reasoning_tokens: int | None = None


class ResponseUsage(Wire, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_tokens_details: InputDetails | None = None
    output_tokens_details: OutputDetails | None = None


class IncompleteDetails(Wire, gc=False):
    reason: str | None = None


class Response(Wire, gc=False):
    """The response object that some events carry; `output` are its items as they are."""

    status: str | None = None
    model: str | None = None
    error: Any = None
    incomplete_details: IncompleteDetails | None = None
    usage: ResponseUsage | None = None
    output: list[dict[str, Any]] | None = None


class StreamEvent(Wire, gc=False):
    type: str = ""
    delta: str | None = None
    output_index: int | None = None
    #: The place inside an item: of a summary, or of content.
    summary_index: int | None = None
    content_index: int | None = None
    item: dict[str, Any] | None = None
    response: Response | None = None
    #: What a `done` event repeats in whole.
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    input: str | None = None


#: Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError for what `event_from` may still read.
parse_event = msgspec.json.Decoder(StreamEvent).decode


def event_from(value: object) -> StreamEvent:
    """Take from a document what has the right type. A bare response object is its own last event."""
    event = mapping(value)
    if event.get("object") == "response":
        return StreamEvent(type="response", response=_response(event))
    item, response = event.get("item"), event.get("response")
    return StreamEvent(
        type=text(event.get("type")) or "",
        delta=text(event.get("delta")),
        output_index=number(event.get("output_index")),
        summary_index=number(event.get("summary_index")),
        content_index=number(event.get("content_index")),
        item=item if isinstance(item, dict) else None,
        response=_response(response) if isinstance(response, dict) else None,
        text=text(event.get("text")),
        refusal=text(event.get("refusal")),
        arguments=text(event.get("arguments")),
        input=text(event.get("input")),
    )


def usage_from(usage: ResponseUsage) -> Usage:
    given, made = usage.input_tokens_details, usage.output_tokens_details
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        cached_tokens=given.cached_tokens if given else None,
        reasoning_tokens=made.reasoning_tokens if made else None,
    )


def _response(value: dict[str, Any]) -> Response:
    output = value.get("output")
    return Response(
        status=text(value.get("status")),
        model=text(value.get("model")),
        error=value.get("error"),
        incomplete_details=IncompleteDetails(text(mapping(value.get("incomplete_details")).get("reason"))),
        usage=_usage(value.get("usage")),
        output=[item for item in output if isinstance(item, dict)] if isinstance(output, list) else None,
    )


def _usage(value: object) -> ResponseUsage | None:
    if not isinstance(value, dict):
        return None
    given = mapping(value.get("input_tokens_details"))
    made = mapping(value.get("output_tokens_details"))
    return ResponseUsage(
        input_tokens=number(value.get("input_tokens")),
        output_tokens=number(value.get("output_tokens")),
        total_tokens=number(value.get("total_tokens")),
        input_tokens_details=InputDetails(number(given.get("cached_tokens"))),
        output_tokens_details=OutputDetails(number(made.get("reasoning_tokens"))),
    )
