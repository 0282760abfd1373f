"""What readers of event-stream wires do alike: split, decode, survive what is broken, end once. Pure.

A wire says how its events are decoded and what they mean; see `ChatCompletionsReader`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from agents.providers.answer_text import AnswerText
from agents.providers.base import ProviderEvent, ResponseFailed
from agents.providers.broken_json import Unreadable, parse_json
from agents.providers.failures import Failure, classify, parse_failure
from agents.providers.sse_reader import EventTooLarge, SseReader
from streaming.codes import RunCode
from streaming.events import Usage
from streaming.text import clean

Event = TypeVar("Event")
Out = list[ProviderEvent]

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class WireReader(ABC, Generic[Event]):
    """One response body. A subclass sets `turn_over` and calls `_end` or `_fail_with`.

    `parse` decodes an event fast, and raises msgspec.DecodeError if its types are not the documented ones.
    `convert` takes from a JSON document what has the right type; the rest is as if absent.
    """

    def __init__(self, parse: Callable[[bytes], Event], convert: Callable[[Any], Event]) -> None:
        self._parse = parse
        self._convert = convert
        #: The answer and its reason to end are known; only numbers and the end marker can follow.
        self.turn_over = False
        #: Everything has been said.
        self.ended = False
        self._answer = AnswerText()
        self._usage = Usage()
        self._model = ""
        #: The vendor has said something that counts.
        self._said = False
        self._sse = SseReader()

    # --- The port -------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> Out:
        out: Out = []
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

    def finish(self) -> Out:
        out: Out = []
        if self.ended:
            return out
        for name, payload in self._sse.finish():
            self._read(name, payload, out, last=True)
            if self.ended:
                return out
        if not self._said and self._sse.stray:
            self._read_stray(out)
        if not self.ended:
            self._end(out, closed=self.turn_over)
        return out

    def fail(self, code: RunCode, detail: str) -> Out:
        """The connection broke. A turn that was over stays what it was."""
        out: Out = []
        if self.ended:
            return out
        if self.turn_over:
            self._end(out, closed=True)
        else:
            self._fail(code, detail, out)
        return out

    # --- What a wire says -----------------------------------------------------------------------------------

    @abstractmethod
    def _event(self, name: bytes, payload: bytes, event: Event, out: Out) -> None:
        """Say what an event means."""

    @abstractmethod
    def _end(self, out: Out, *, closed: bool) -> None:
        """Say the end of the turn."""

    # --- Payloads -------------------------------------------------------------------------------------------

    def _read(self, name: bytes, payload: bytes, out: Out, *, last: bool = False) -> None:
        if payload == b"[DONE]":
            self._end(out, closed=True)
            return
        try:
            event = self._parse(payload)
        except _UNREADABLE:
            self._read_odd(name, payload, out, last=last)
        else:
            self._event(name, payload, event, out)

    def _read_odd(self, name: bytes, payload: bytes, out: Out, *, last: bool) -> None:
        """Read what does not fit the types: broken characters, other types, events run together."""
        bare = payload.strip()
        if bare in (b"[DONE]", b'"[DONE]"'):
            self._end(out, closed=True)
            return
        try:
            document = parse_json(payload)
        except Unreadable as error:
            self._read_unreadable(name, bare, out, str(error), last=last)
        else:
            self._event(name, payload, self._convert(document), out)

    def _read_unreadable(self, name: bytes, payload: bytes, out: Out, why: str, *, last: bool) -> None:
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

    def _read_stray(self, out: Out) -> None:
        """Read a body that is no event stream: a whole answer, an error document, or a page."""
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
        else:
            self._event(b"", stray, self._convert(document), out)

    @staticmethod
    def _document(payload: bytes) -> Any:
        """Return all of an event whose types have been read; None if the rest of it cannot be."""
        try:
            return parse_json(payload)
        except Unreadable:
            return None

    # --- Failures -------------------------------------------------------------------------------------------

    def _fail_with(self, failure: Failure, out: Out) -> None:
        self._fail(classify(failure), failure.detail, out)

    def _fail(self, code: RunCode, detail: str, out: Out) -> None:
        self._answer.flush(out)
        out.append(ResponseFailed(code, clean(detail), self._usage))
        self.ended = True
