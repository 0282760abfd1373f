"""One Responses body, read as it comes. Pure.

Text, refusals and calls come as deltas; summaries come in parts, which two line breaks keep apart. Tools that
the vendor runs itself say nothing here. `response.completed` or `response.incomplete` closes the turn.
"""

from collections.abc import Callable
from typing import Any

from agents.providers.base import ProviderEvent, ResponseEnded, TurnStop
from agents.providers.broken_json import mapping, string
from agents.providers.failures import Failure, parse_error_fields, parse_failure
from agents.providers.openai_responses.items import CALL_ARGUMENTS, ReasoningItems, ResponseCalls
from agents.providers.openai_responses.stream_events import (
    Response,
    StreamEvent,
    event_from,
    parse_event,
    usage_from,
)
from agents.providers.tool_names import ToolNames
from agents.providers.wire_reader import WireReader
from streaming.text import clean

Out = list[ProviderEvent]
#: (kind, output_index, index inside the item)
Place = tuple[str, int, int]

_PARTS_APART = "\n\n"


class ResponsesReader(WireReader[StreamEvent]):
    """`names` translates tool names back; `model` is what was asked, to mark what only it can read again."""

    def __init__(self, names: ToolNames | None = None, model: str = "") -> None:
        super().__init__(parse_event, event_from)
        self._calls = ResponseCalls(names or ToolNames())
        self._reasoning = ReasoningItems(model)
        self._thought: Place | None = None
        #: Places whose text came as deltas.
        self._told: set[Place] = set()
        self._has_text = False
        self._status: str | None = None
        self._why_incomplete = ""

    def _event(self, name: bytes, payload: bytes, event: StreamEvent, out: Out) -> None:
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event, out)
        elif event.response is not None:
            self._response(event.response, out)
        elif event.type == "error" or name == b"error":
            self._fail_with(parse_error_fields(self._document(payload)), out)
        elif not event.type:
            failure = parse_failure(self._document(payload))
            if failure is not None:
                self._fail_with(failure, out)

    # --- Text and thinking ----------------------------------------------------------------------------------

    def _text(self, event: StreamEvent, out: Out) -> None:
        if event.delta:
            place = ("text", event.output_index or 0, event.content_index or 0)
            if place not in self._told:
                self._told.add(place)
                self._said = self._has_text = True
            self._answer.say(event.delta, out)

    def _refusal(self, event: StreamEvent, out: Out) -> None:
        if event.delta:
            self._told.add(("text", event.output_index or 0, event.content_index or 0))
            self._said = self._has_text = True
            self._answer.refuse(event.delta, out)

    def _summary(self, event: StreamEvent, out: Out) -> None:
        self._think(("summary", event.output_index or 0, event.summary_index or 0), event.delta, out)

    def _reasoning_text(self, event: StreamEvent, out: Out) -> None:
        self._think(("reasoning", event.output_index or 0, event.content_index or 0), event.delta, out)

    def _think(self, place: Place, text: str | None, out: Out) -> None:
        if not text:
            return
        if place != self._thought:
            if self._thought is not None:
                text = _PARTS_APART + text
            self._thought = place
            self._told.add(place)
            self._said = True
        self._answer.think(text, out)

    # --- What comes in whole --------------------------------------------------------------------------------

    def _text_done(self, event: StreamEvent, out: Out) -> None:
        whole = StreamEvent(
            delta=event.text, output_index=event.output_index, content_index=event.content_index
        )
        if ("text", event.output_index or 0, event.content_index or 0) not in self._told:
            self._text(whole, out)

    def _refusal_done(self, event: StreamEvent, out: Out) -> None:
        if ("text", event.output_index or 0, event.content_index or 0) not in self._told:
            self._refusal(
                StreamEvent(
                    delta=event.refusal, output_index=event.output_index, content_index=event.content_index
                ),
                out,
            )

    def _summary_done(self, event: StreamEvent, out: Out) -> None:
        place = ("summary", event.output_index or 0, event.summary_index or 0)
        if place not in self._told:
            self._think(place, event.text, out)

    def _reasoning_text_done(self, event: StreamEvent, out: Out) -> None:
        place = ("reasoning", event.output_index or 0, event.content_index or 0)
        if place not in self._told:
            self._think(place, event.text, out)

    # --- Items ----------------------------------------------------------------------------------------------

    def _item_added(self, event: StreamEvent, out: Out) -> None:
        item = event.item or {}
        if string(item.get("type")) in CALL_ARGUMENTS:
            self._call(event.output_index or 0, item, out)

    def _item_done(self, event: StreamEvent, out: Out) -> None:
        self._whole_item(event.output_index or 0, event.item or {}, out)

    def _whole_item(self, place: int, item: dict[str, Any], out: Out) -> None:
        kind = string(item.get("type"))
        if kind in CALL_ARGUMENTS:
            self._call(place, item, out)
        elif kind == "reasoning":
            self._whole_reasoning(place, item, out)
        elif kind == "message":
            self._whole_message(place, item, out)

    def _call(self, place: int, item: dict[str, Any], out: Out) -> None:
        self._said = True
        self._answer.call_came(out)
        self._calls.open(place, item, out)

    def _arguments(self, event: StreamEvent, out: Out) -> None:
        if event.delta:
            self._calls.delta(event.output_index or 0, event.delta, out)

    def _arguments_done(self, event: StreamEvent, out: Out) -> None:
        self._calls.whole(event.output_index or 0, event.arguments or event.input or "", out)

    def _whole_reasoning(self, place: int, item: dict[str, Any], out: Out) -> None:
        for kind, parts in (("summary", item.get("summary")), ("reasoning", item.get("content"))):
            for at, part in enumerate(parts if isinstance(parts, list) else ()):
                if (kind, place, at) not in self._told:
                    self._think((kind, place, at), string(mapping(part).get("text")), out)
        self._reasoning.keep(item, calls_before=self._calls.count, after_text=self._has_text)

    def _whole_message(self, place: int, item: dict[str, Any], out: Out) -> None:
        if not any(kind == "text" and told == place for kind, told, _ in self._told):
            content = item.get("content")
            for at, part in enumerate(content if isinstance(content, list) else ()):
                part = mapping(part)
                event = StreamEvent(output_index=place, content_index=at)
                event.delta = string(part.get("text"))
                self._text(event, out)
                event.delta = string(part.get("refusal"))
                self._refusal(event, out)
        if phase := string(item.get("phase")):
            self._reasoning.keep_phase(phase)

    # --- The response ---------------------------------------------------------------------------------------

    def _response(self, response: Response, out: Out) -> None:
        if response.model:
            self._model = response.model
        if response.usage is not None:
            self._usage = usage_from(response.usage)
        match response.status:
            case "completed" | "incomplete":
                self._status = response.status
                details = response.incomplete_details
                self._why_incomplete = (details.reason if details else None) or ""
                if not self._said:
                    for place, item in enumerate(response.output or ()):
                        self._whole_item(place, item, out)
                self.turn_over = True
                self._end(out, closed=True)
            case "failed" | "cancelled":
                error = {"error": response.error} if response.error else None
                failure = parse_failure(error) or Failure(f"the response was {response.status}")
                self._fail_with(failure, out)

    def _end(self, out: Out, *, closed: bool) -> None:
        self._answer.flush(out)
        self._calls.finish(out)
        out.extend(self._reasoning.parts())
        status = self._status and clean(self._status)
        out.append(ResponseEnded(closed, self._stop(), self._usage, clean(self._model), status))
        self.ended = True

    def _stop(self) -> TurnStop:
        if self._status == "incomplete":
            filtered = self._why_incomplete == "content_filter"
            return TurnStop.CONTENT_FILTER if filtered else TurnStop.LENGTH
        return TurnStop.TOOL_CALLS if self._calls.count else TurnStop.STOP


_HANDLERS: dict[str, Callable[[ResponsesReader, StreamEvent, Out], None]] = {
    "response.output_text.delta": ResponsesReader._text,
    "response.output_text.done": ResponsesReader._text_done,
    "response.refusal.delta": ResponsesReader._refusal,
    "response.refusal.done": ResponsesReader._refusal_done,
    "response.reasoning_summary_text.delta": ResponsesReader._summary,
    "response.reasoning_summary_text.done": ResponsesReader._summary_done,
    "response.reasoning_text.delta": ResponsesReader._reasoning_text,
    "response.reasoning_text.done": ResponsesReader._reasoning_text_done,
    "response.output_item.added": ResponsesReader._item_added,
    "response.output_item.done": ResponsesReader._item_done,
    "response.function_call_arguments.delta": ResponsesReader._arguments,
    "response.function_call_arguments.done": ResponsesReader._arguments_done,
    "response.custom_tool_call_input.delta": ResponsesReader._arguments,
    "response.custom_tool_call_input.done": ResponsesReader._arguments_done,
}
