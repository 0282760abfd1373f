"""Texts with `{{block.path}}` in them, filled in with what blocks have said. Pure.

A value is put in as data and never read as a template again. What has no value (a skipped block's outputs) is
empty. How places are written is `agents.places`, how they are escaped in requests `agents.http_template`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agents.places import BadTemplate, Place, as_text, pieces

_REFERENCE = re.compile(r"(?P<block>[\w\-]+)(?P<path>(?:\.[\w\-]+|\[\d+\])*)\Z")
_STEP = re.compile(r"\.(?P<key>[\w\-]+)|\[(?P<index>\d+)\]")


@dataclass(frozen=True)
class Reference:
    """An output of a block: `block` is its id, `steps` the way into its outputs."""

    block: str
    steps: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        ways = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps)
        return "".join([self.block, *ways])


def reference(name: str) -> Reference:
    """Read `block.path`; raises BadTemplate."""
    found = _REFERENCE.match(name)
    if found is None:
        raise BadTemplate(f"'{name[:60]}' names no output; write {{{{block.output}}}}")
    steps = (int(index) if index else key for key, index in _STEP.findall(found["path"]))
    return Reference(found["block"], tuple(steps))


def places(text: str) -> Iterator[Place]:
    """Every place of a text; raises BadTemplate."""
    return (piece for piece in pieces(text) if isinstance(piece, Place))


class Outputs:
    """What the blocks of a run have said so far, by their ids. A skipped block has said nothing."""

    def __init__(self, of_blocks: Mapping[str, Mapping[str, Any]]) -> None:
        self._of_blocks = of_blocks

    def look_up(self, name: str) -> Any:
        """The value of `block.path`. Raises LookupError if there is none."""
        wanted = reference(name)
        value: Any = self._of_blocks[wanted.block]
        for step in wanted.steps:
            value = _enter(value, step)
        return value

    def text(self, template: str) -> str:
        """Fill in a text that people or models read."""
        return "".join(piece if isinstance(piece, str) else self._shown(piece) for piece in pieces(template))

    def fill(self, value: Any) -> Any:
        """Fill in the strings of a JSON value. One that is a place alone becomes its value, or null."""
        match value:
            case str():
                return self._fill_string(value)
            case list():
                return [self.fill(item) for item in value]
            case dict():
                return {key: self.fill(item) for key, item in value.items()}
            case _:
                return value

    def _fill_string(self, template: str) -> Any:
        match pieces(template):
            case [Place(secret=False) as place]:
                return self._value(place)
            case _:
                return self.text(template)

    def _shown(self, place: Place) -> str:
        # Only who sends a request knows secrets.
        return f"{{{{secret:{place.name}}}}}" if place.secret else as_text(self._value(place))

    def _value(self, place: Place) -> Any:
        try:
            return self.look_up(place.name)
        except LookupError:
            return None


def _enter(value: Any, step: str | int) -> Any:
    """Go one step into a value; a number names an entry of a list, `[0]` or `.0`. Raises LookupError."""
    match value:
        case Mapping():
            return value[str(step)]
        case list() | tuple() if str(step).isdigit():
            return value[int(step)]
        case _:
            raise LookupError(step)


def strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Each string in a JSON value that may hold templates, with its path."""
    match value:
        case str():
            yield value, path
        case list():
            for index, item in enumerate(value):
                yield from strings(item, f"{path}[{index}]")
        case dict():
            for key, item in value.items():
                yield from strings(item, f"{path}.{key}")
