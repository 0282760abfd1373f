"""Tool names as vendors accept them, `^[a-zA-Z0-9_-]{1,64}$`, and back. Pure."""

import re
from collections.abc import Iterable

from agents.conversation import AssistantMessage, ModelRequest

_ACCEPTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


class ToolNames:
    """Names that are fine keep their name; the others give way until every name is unique."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        ordered = list(dict.fromkeys(names))
        self._wire = {name: name for name in ordered if _ACCEPTED.fullmatch(name)}
        self._original = dict(self._wire)
        for name in ordered:
            if name not in self._wire:
                self._wire[name] = wire = self._free(_REFUSED.sub("_", name)[:64] or "_")
                self._original[wire] = name

    def wire(self, name: str) -> str:
        return self._wire[name]

    def original(self, wire: str) -> str:
        """Return our name; one that the model made up stays as it is."""
        return self._original.get(wire, wire)

    def _free(self, name: str) -> str:
        candidate, number = name, 2
        while candidate in self._original:
            ending = f"_{number}"
            candidate, number = name[: 64 - len(ending)] + ending, number + 1
        return candidate


def names_of(request: ModelRequest) -> ToolNames:
    """Return the translation of every name in a request: its tools first, then what history speaks of."""
    history = [
        call.name
        for message in request.messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
    ]
    return ToolNames([*(tool.name for tool in request.tools), *history])
