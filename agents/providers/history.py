"""A conversation made fit for vendors that check it: every call has one id and one result. Pure.

What a model or a broken stream left behind must not make every later request fail: repeated or foreign ids
are replaced, calls without a result get one, results without a call go, arguments are JSON objects.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from agents.conversation import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage

#: Ids that every vendor of these wires takes.
COMMON_IDS = re.compile(r"[a-zA-Z0-9_-]{1,40}")

_NO_RESULT = "This call was not run."


def fit_history(messages: Sequence[Message], vendor: str, ids: re.Pattern[str] = COMMON_IDS) -> list[Message]:
    """Return the messages as `vendor` can take them; its own ids stay as they are if they are unique."""
    fitted: list[Message] = []
    taken = _Ids(ids)
    for turn in _turns(messages):
        fitted.extend(_fit_turn(turn, taken, vendor))
    return fitted


def object_arguments(arguments: str) -> str:
    """Return arguments that are a JSON object: what is none is handed back inside one."""
    if not arguments.strip():
        return "{}"
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"invalid_json": arguments}, ensure_ascii=False)


class _Ids:
    """Ids given out so far. A made one has nine letters and digits: what the strictest vendor wants."""

    def __init__(self, accepted: re.Pattern[str]) -> None:
        self._accepted = accepted
        self._taken: set[str] = set()

    def take(self, id: str, *, own: bool) -> str:
        candidate, number = id, 0
        while not candidate or candidate in self._taken or not (own or self._accepted.fullmatch(candidate)):
            candidate = hashlib.sha256(f"{number} {id}".encode()).hexdigest()[:9]
            own, number = True, number + 1
        self._taken.add(candidate)
        return candidate


def _turns(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Cut the conversation into turns: a message and the tool results that follow it."""
    turn: list[Message] = []
    for message in messages:
        if turn and not isinstance(message, ToolMessage):
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def _fit_turn(turn: list[Message], ids: _Ids, vendor: str) -> Iterator[Message]:
    first = turn[0]
    if isinstance(first, UserMessage):
        yield first
    elif isinstance(first, AssistantMessage):
        results: dict[str, list[ToolMessage]] = defaultdict(list)
        for message in turn[1:]:
            if isinstance(message, ToolMessage):
                results[message.call_id].append(message)
        calls = [
            ToolCall(
                ids.take(call.id, own=first.vendor == vendor), call.name, object_arguments(call.arguments)
            )
            for call in first.calls
        ]
        yield msgspec.structs.replace(first, calls=calls)
        for before, call in zip(first.calls, calls, strict=True):
            given = results[before.id]
            yield _result(given.pop(0) if given else None, call)


def _result(message: ToolMessage | None, call: ToolCall) -> ToolMessage:
    if message is None:
        return ToolMessage(call.id, call.name, _NO_RESULT, is_error=True)
    return msgspec.structs.replace(message, call_id=call.id, name=call.name)
