"""The items of one response, by their place: ids rotate between events, `output_index` does not. Pure.

What deltas said is said; what a `done` event repeats in whole completes it, and never says it twice.
"""

from typing import Any

from agents.providers.base import CallDelta, CallStarted, ProviderEvent, ReplayPart
from agents.providers.broken_json import string
from agents.providers.tool_names import ToolNames
from streaming.text import TextStream, clean, clean_json

#: Calls that the client runs, and where their arguments stand.
CALL_ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input"}

#: What a vendor takes back of a reasoning item.
_KEPT = ("type", "id", "summary", "encrypted_content", "content")

Out = list[ProviderEvent]


class _Call:
    def __init__(self, index: int) -> None:
        self.index = index
        #: How many characters of its arguments have come.
        self.sent = 0
        self.stream = TextStream()


class ResponseCalls:
    """The calls of one response. A call is announced when its item comes, name and all."""

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        self._calls: dict[int, _Call] = {}
        self.count = 0

    def open(self, place: int, item: dict[str, Any], out: Out) -> None:
        """An item was added, or is done without having been added."""
        if place not in self._calls:
            self._calls[place] = _Call(self.count)
            id, name = clean(string(item.get("call_id"))), clean(string(item.get("name")))
            out.append(CallStarted(self.count, id, self._names.original(name)))
            self.count += 1
        self.whole(place, string(item.get(CALL_ARGUMENTS[item["type"]])), out)

    def delta(self, place: int, fragment: str, out: Out) -> None:
        call = self._calls.get(place)
        if call is None:
            return
        call.sent += len(fragment)
        if fragment := call.stream.feed(fragment):
            out.append(CallDelta(call.index, fragment))

    def whole(self, place: int, arguments: str, out: Out) -> None:
        """The whole arguments are known: say what deltas have not."""
        call = self._calls.get(place)
        if call is not None and len(arguments) > call.sent:
            self.delta(place, arguments[call.sent :], out)

    def finish(self, out: Out) -> None:
        for call in self._calls.values():
            if half := call.stream.flush():
                out.append(CallDelta(call.index, half))


class ReasoningItems:
    """Reasoning that only its model can read, kept with its place for the next request."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._parts: list[ReplayPart] = []

    def keep(self, item: dict[str, Any], *, calls_before: int, after_text: bool) -> None:
        if not item.get("encrypted_content") and not item.get("content"):
            return
        kept = {key: item[key] for key in _KEPT if item.get(key)}
        self._parts.append(
            ReplayPart(
                {
                    "type": "reasoning",
                    "model": self._model,
                    "calls_before": calls_before,
                    "after_text": after_text,
                    "item": clean_json({"summary": [], **kept}),
                }
            )
        )

    def keep_phase(self, phase: str) -> None:
        """What kind of message it was, which newer models want to be told again."""
        self._parts.append(ReplayPart({"type": "phase", "model": self._model, "phase": clean(phase)}))

    def parts(self) -> list[ReplayPart]:
        return self._parts
