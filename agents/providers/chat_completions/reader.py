"""One Chat Completions body, read as it comes. Pure.

Every vendor's way of saying the same is known here: the tests replay what they really sent. Only choice 0
counts. The turn is closed by a finish reason or by `[DONE]`, which is a whole payload, never a part of one.
"""

from typing import Any

from agents.providers.base import ProviderEvent, ReplayPart, ResponseEnded, TurnStop
from agents.providers.call_deltas import CallDeltas
from agents.providers.chat_completions.chunks import (
    Choice,
    Chunk,
    Delta,
    Function,
    Part,
    ToolDelta,
    chunk_from,
    parse_chunk,
)
from agents.providers.chat_completions.reasoning import ReasoningDetails, reasoning_text, thinking_text
from agents.providers.chat_completions.usage import add_usage, usage_of
from agents.providers.failures import parse_error_fields, parse_failure
from agents.providers.tool_names import ToolNames
from agents.providers.wire_reader import WireReader
from streaming.codes import RunCode
from streaming.text import clean, clean_json

_STOPS = {
    "tool_calls": TurnStop.TOOL_CALLS,
    "tool_call": TurnStop.TOOL_CALLS,
    "tool_use": TurnStop.TOOL_CALLS,
    "function_call": TurnStop.TOOL_CALLS,
    "length": TurnStop.LENGTH,
    "max_tokens": TurnStop.LENGTH,
    "max_output_tokens": TurnStop.LENGTH,
    "model_length": TurnStop.LENGTH,
    "content_filter": TurnStop.CONTENT_FILTER,
    "content-filter": TurnStop.CONTENT_FILTER,
    "safety": TurnStop.CONTENT_FILTER,
    "sensitive": TurnStop.CONTENT_FILTER,
    "recitation": TurnStop.CONTENT_FILTER,
}

#: Finish reasons that say the vendor failed.
_FAILED_STOPS = {
    "error": RunCode.PROVIDER_UNAVAILABLE,
    "network_error": RunCode.PROVIDER_UNAVAILABLE,
    "abort": RunCode.PROVIDER_STREAM_BROKEN,
    "insufficient_system_resource": RunCode.PROVIDER_OVERLOADED,
}

#: The deprecated single call has no index; none of the others has this one.
_FUNCTION_CALL = -1


class ChatCompletionsReader(WireReader[Chunk]):
    """`names` translates tool names back; `model` is what was asked, to mark what only it can read again."""

    def __init__(self, names: ToolNames | None = None, model: str = "") -> None:
        super().__init__(parse_chunk, chunk_from)
        self._asked_model = model
        self._calls = CallDeltas(names or ToolNames())
        self._details = ReasoningDetails()
        self._extras: dict[int, Any] = {}
        self._raw_stop: str | None = None

    def _event(self, name: bytes, payload: bytes, event: Chunk, out: list[ProviderEvent]) -> None:
        if event.choices:
            self._chunk(event, event.choices, out)
            if not name and not event.error:
                return
        else:
            self._count(event, None)
        if self.ended:
            return
        if name == b"error" or event.error:
            self._fail_with(parse_error_fields(self._document(payload)), out)
        elif event.choices is None:
            failure = parse_failure(self._document(payload))
            if failure is not None:
                self._fail_with(failure, out)

    # --- Chunks ---------------------------------------------------------------------------------------------

    def _chunk(self, chunk: Chunk, choices: list[Choice], out: list[ProviderEvent]) -> None:
        choice = choices[0]
        if choice.index:
            first = next((other for other in choices if not other.index), None)
            if first is None:
                self._count(chunk, None)
                return
            choice = first
        if chunk.usage is not None or chunk.x_groq is not None or choice.usage is not None:
            self._count(chunk, choice)
        elif chunk.model:
            self._model = chunk.model
        self._choice(choice, out)

    def _choice(self, choice: Choice, out: list[ProviderEvent]) -> None:
        delta = choice.delta
        if delta is None and not self._said:
            # A whole answer in one piece. After deltas a message only repeats them.
            delta = choice.message
        if delta is not None:
            self._delta(delta, out)
        if choice.finish_reason:
            self._raw_stop = choice.finish_reason
            self.turn_over = choice.finish_reason not in _FAILED_STOPS
        if choice.error:
            self._fail_with(parse_error_fields({"error": choice.error}), out)

    def _count(self, chunk: Chunk, choice: Choice | None) -> None:
        if chunk.model:
            self._model = chunk.model
        usage = usage_of(chunk, choice)
        if usage is not None:
            self._usage = add_usage(self._usage, usage)

    def _delta(self, delta: Delta, out: list[ProviderEvent]) -> None:
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            self._reasoning(delta, out)
        content = delta.content
        if content:
            self._said = True
            if isinstance(content, str):
                self._answer.say(content, out)
            else:
                self._parts(content, out)
        if delta.refusal:
            self._said = True
            self._answer.refuse(delta.refusal, out)
        if delta.tool_calls:
            for call in delta.tool_calls:
                self._call(call, out)
        if delta.function_call is not None:
            self._call(ToolDelta(index=_FUNCTION_CALL, function=delta.function_call), out)

    def _reasoning(self, delta: Delta, out: list[ProviderEvent]) -> None:
        self._said = True
        if delta.reasoning_details:
            self._details.add(delta.reasoning_details)
        self._answer.think(reasoning_text(delta), out)

    def _parts(self, parts: list[Part], out: list[ProviderEvent]) -> None:
        for part in parts:
            if part.type == "thinking" or part.thinking:
                self._answer.think(thinking_text(part), out)
            elif part.refusal:
                self._answer.refuse(part.refusal, out)
            elif part.text:
                self._answer.say(part.text, out)

    def _call(self, call: ToolDelta, out: list[ProviderEvent]) -> None:
        function = call.function or Function()
        name, fragment = function.name or "", function.arguments or ""
        events = self._calls.add(call.index, clean(call.id or ""), clean(name), fragment)
        if self._calls.touched < 0:
            return
        self._said = True
        self._answer.call_came(out)
        out.extend(events)
        if call.extra_content:
            self._extras[self._calls.touched] = call.extra_content

    # --- The end --------------------------------------------------------------------------------------------

    def _end(self, out: list[ProviderEvent], *, closed: bool) -> None:
        raw = self._raw_stop
        if raw in _FAILED_STOPS:
            self._fail(_FAILED_STOPS[raw], f"the model's turn ended with {raw}", out)
            return
        self._answer.flush(out)
        out.extend(self._calls.finish())
        out.extend(self._replay())
        stop = _STOPS.get((raw or "").lower(), TurnStop.STOP)
        out.append(ResponseEnded(closed, stop, self._usage, clean(self._model), raw and clean(raw)))
        self.ended = True

    def _replay(self) -> list[ReplayPart]:
        extras = [
            ReplayPart(
                {
                    "type": "call_extra",
                    "model": self._asked_model,
                    "call": self._calls.place_of(position),
                    "extra_content": clean_json(extra),
                }
            )
            for position, extra in self._extras.items()
        ]
        return [*self._details.parts(self._asked_model), *extras]
