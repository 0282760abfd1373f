"""One Chat Completions body, read as it comes. Pure.

Every vendor's way of saying the same is known here: the tests replay what they really sent. Only choice 0
counts. The turn is closed by a finish reason or by `[DONE]`, which is a whole payload, never a part of one.
"""

from typing import Any

import msgspec

from agents.providers.answer_text import AnswerText
from agents.providers.base import ProviderEvent, ReplayPart, ResponseEnded, ResponseFailed, TurnStop
from agents.providers.call_deltas import CallDeltas
from agents.providers.chat_completions.chunks import (
    Choice,
    Chunk,
    Delta,
    Function,
    Part,
    ToolDelta,
    Unreadable,
    chunk_from,
    parse_chunk,
    parse_json,
)
from agents.providers.chat_completions.reasoning import ReasoningDetails, reasoning_text, thinking_text
from agents.providers.chat_completions.usage import add_usage, usage_of
from agents.providers.failures import Failure, classify, parse_error_fields, parse_failure
from agents.providers.sse_reader import EventTooLarge, SseReader
from agents.providers.tool_names import ToolNames
from streaming.codes import RunCode
from streaming.events import Usage
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

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

#: The deprecated single call has no index; none of the others has this one.
_FUNCTION_CALL = -1


class ChatCompletionsReader:
    """`names` translates tool names back; `model` is what was asked, to mark what only it can read again."""

    def __init__(self, names: ToolNames | None = None, model: str = "") -> None:
        #: The answer and its reason to end are known; only numbers and the end marker can follow.
        self.turn_over = False
        #: Everything has been said.
        self.ended = False
        self._asked_model = model
        self._sse = SseReader()
        self._calls = CallDeltas(names or ToolNames())
        self._answer = AnswerText()
        self._details = ReasoningDetails()
        self._extras: dict[int, Any] = {}
        self._usage = Usage()
        self._model = ""
        self._raw_stop: str | None = None
        self._said = False

    # --- The port -------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> list[ProviderEvent]:
        out: list[ProviderEvent] = []
        if self.ended:
            return out
        try:
            events = self._sse.feed(data)
        except EventTooLarge as error:
            return self.fail(RunCode.PROVIDER_STREAM_BROKEN, str(error))
        for name, payload in events:
            self._read(name, payload, out)
            if self.ended:
                break
        return out

    def finish(self) -> list[ProviderEvent]:
        out: list[ProviderEvent] = []
        if self.ended:
            return out
        for name, payload in self._sse.finish():
            self._read(name, payload, out, last=True)
            if self.ended:
                return out
        if not self._said and self._sse.stray:
            self._read_stray(out)
        if not self.ended:
            self._end(out, closed=self._raw_stop is not None)
        return out

    def fail(self, code: RunCode, detail: str) -> list[ProviderEvent]:
        """The connection or the vendor failed. A turn that was over stays what it was."""
        out: list[ProviderEvent] = []
        if self.ended:
            return out
        if self.turn_over:
            self._end(out, closed=True)
        else:
            self._fail(code, detail, out)
        return out

    # --- Payloads -------------------------------------------------------------------------------------------

    def _read(self, name: bytes, payload: bytes, out: list[ProviderEvent], *, last: bool = False) -> None:
        if payload == b"[DONE]":
            self._end(out, closed=True)
            return
        try:
            chunk = parse_chunk(payload)
        except _UNREADABLE:
            self._read_odd(name, payload, out, last=last)
            return
        if chunk.choices and not name and not chunk.error:
            self._chunk(chunk, chunk.choices, out)
        else:
            self._read_unusual(name, payload, chunk, out)

    def _read_odd(self, name: bytes, payload: bytes, out: list[ProviderEvent], *, last: bool) -> None:
        """Read what does not fit the types: broken characters, other types, events run together."""
        bare = payload.strip()
        if bare in (b"[DONE]", b'"[DONE]"'):
            self._end(out, closed=True)
            return
        try:
            document = parse_json(payload)
        except Unreadable as error:
            self._read_unreadable(name, bare, out, str(error), last=last)
            return
        self._read_unusual(name, payload, chunk_from(document), out)

    def _read_unreadable(
        self, name: bytes, payload: bytes, out: list[ProviderEvent], why: str, *, last: bool
    ) -> None:
        if b"\n" in payload:
            *earlier, final = payload.split(b"\n")
            for line in earlier:
                if not self.ended:
                    self._read(name, line, out)
            if not self.ended:
                self._read(name, final, out, last=last)
        elif name == b"error":
            self._fail_with(Failure(payload.decode("utf-8", "replace")), out)
        elif payload.startswith(b"{") and not last and not self.turn_over:
            # Its text is lost: an answer with a hole must not pass as whole. At a body's end it was cut.
            self._fail(RunCode.PROVIDER_STREAM_BROKEN, f"an event could not be read: {why}", out)

    def _read_unusual(self, name: bytes, payload: bytes, chunk: Chunk, out: list[ProviderEvent]) -> None:
        """Read a chunk that may have no choices: numbers, an error, or nothing of interest."""
        if chunk.choices:
            self._chunk(chunk, chunk.choices, out)
        else:
            self._count(chunk, None)
        if self.ended:
            return
        if name == b"error" or chunk.error:
            self._fail_with(parse_error_fields(parse_json(payload)), out)
        elif chunk.choices is None:
            failure = parse_failure(parse_json(payload))
            if failure is not None:
                self._fail_with(failure, out)

    def _read_stray(self, out: list[ProviderEvent]) -> None:
        """Read a body that is no event stream: a whole completion, an error document, or a page."""
        stray = self._sse.stray
        try:
            document = parse_json(stray)
        except Unreadable:
            told = stray.decode("utf-8", "replace").strip()[:300]
            self._fail(RunCode.PROVIDER_STREAM_BROKEN, f"the answer is no event stream: {told}", out)
            return
        failure = parse_failure(document)
        if failure is not None:
            self._fail_with(failure, out)
            return
        chunk = chunk_from(document)
        if chunk.choices:
            self._chunk(chunk, chunk.choices, out)

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

    def _fail_with(self, failure: Failure, out: list[ProviderEvent]) -> None:
        self._fail(classify(failure), failure.detail, out)

    def _fail(self, code: RunCode, detail: str, out: list[ProviderEvent]) -> None:
        self._answer.flush(out)
        out.append(ResponseFailed(code, clean(detail), self._usage))
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
