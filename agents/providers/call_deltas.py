"""Tool calls put together from deltas whose index, id or name may be missing or repeated. Pure.

Whose call is a delta? An id that is new opens a call, whatever the index says; without an id the index
decides, and without both the last call goes on. A complete JSON object cannot go on: what follows it is the
next call if it begins another object, and a repetition if it repeats the end of what came.
"""

import json

from agents.providers.base import CallDelta, CallStarted
from agents.providers.tool_names import ToolNames
from streaming.text import TextStream

CallEvent = CallStarted | CallDelta

#: A shorter repetition could as well be what the model wrote.
_SHORTEST_REPETITION = 3


class _Call:
    __slots__ = ("id", "index", "name", "pieces", "place", "text", "unsent")

    def __init__(self, index: int | None, id: str, name: str) -> None:
        self.index = index
        self.id = id
        self.name = name
        #: Its dense index, once it has been announced.
        self.place: int | None = None
        self.pieces: list[str] = []
        self.unsent: list[str] = []
        self.text = TextStream()

    @property
    def is_complete(self) -> bool:
        if not self.pieces:
            return False
        text = "".join(self.pieces)
        if not text.rstrip().endswith("}"):
            return False
        try:
            return isinstance(json.loads(text), dict)
        except (ValueError, RecursionError):
            return False

    def name_grows(self, name: str) -> None:
        """Take a piece of a name; some repeat the whole name in each delta, and some send it growing."""
        if name.startswith(self.name):
            self.name = name
        else:
            self.name += name


class CallDeltas:
    """The calls of one turn. `add` and `finish` return what can be announced."""

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        self._calls: list[_Call] = []
        self._started = 0
        #: Where in the vendor's order the call of the last delta stands; -1 before the first.
        self.touched = -1

    def add(self, index: int | None, id: str, name: str, fragment: str) -> list[CallEvent]:
        if not (id or name or fragment):
            return []
        events: list[CallEvent] = []
        call = self._find(index, id)
        if call is None or self._begins_another(call, index, id, name, fragment):
            for earlier in self._calls:
                self._start(earlier, events)
            call = _Call(index, id, name or (call.name if call else ""))
            self._calls.append(call)
            self.touched = len(self._calls) - 1
        else:
            self.touched = self._calls.index(call)
            call.id = call.id or id
            if name and call.place is None:
                call.name_grows(name)
            if self._repeats(call, fragment):
                return events
        if fragment := call.text.feed(fragment):
            call.pieces.append(fragment)
            call.unsent.append(fragment)
            if call.name:
                self._start(call, events)
        return events

    def finish(self) -> list[CallEvent]:
        """The turn has ended: announce calls without arguments, and those whose name never came."""
        events: list[CallEvent] = []
        for call in self._calls:
            if half := call.text.flush():
                call.unsent.append(half)
            self._start(call, events, nameless=True)
        return events

    def place_of(self, position: int) -> int:
        """Return the dense index of the call at `position` of the vendor's order, or -1."""
        place = self._calls[position].place
        return -1 if place is None else place

    def _find(self, index: int | None, id: str) -> _Call | None:
        candidates = [call for call in self._calls if index is None or call.index == index]
        if not candidates:
            return None
        if not id:
            return candidates[-1]
        for call in reversed(candidates):
            if call.id == id:
                return call
        # The id may come after the first delta of its call.
        return candidates[-1] if not candidates[-1].id and index is not None else None

    def _begins_another(self, call: _Call, index: int | None, id: str, name: str, fragment: str) -> bool:
        if name and not call.pieces:
            # A piece of its name; but a whole call where nothing else tells calls apart.
            return index is None and not id
        if name and call.name and name != call.name:
            return True
        if not fragment.lstrip().startswith("{") or not call.is_complete:
            return False
        repeated = fragment == "".join(call.pieces)
        return not repeated or (index is None and not id)

    def _repeats(self, call: _Call, fragment: str) -> bool:
        if len(fragment) < _SHORTEST_REPETITION or not fragment.endswith("}") or not call.pieces:
            return False
        return "".join(call.pieces).endswith(fragment) and call.is_complete

    def _start(self, call: _Call, events: list[CallEvent], *, nameless: bool = False) -> None:
        if call.place is None:
            if not call.name and not nameless:
                return
            call.place, self._started = self._started, self._started + 1
            events.append(CallStarted(call.place, call.id, self._names.original(call.name)))
        place = call.place
        events.extend(CallDelta(place, fragment) for fragment in call.unsent)
        call.unsent.clear()
