"""Texts with `{{block.path}}` in them, filled in with what blocks have said. Pure.

A value is put in as data and never read as a template again. What has no value (a skipped block's outputs) is
empty. How places are written is `agents.places`, how they are escaped in requests `agents.http_template`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agents.places import BadTemplate, Place, as_text, pieces
from streaming import selection


@dataclass(frozen=True)
class Reference:
    """`block.path` as written: an output of a block, by its id. An empty path is all of its outputs."""

    block: str
    path: str

    def __str__(self) -> str:
        return f"{self.block}.{self.path}" if self.path else self.block


def reference(name: str) -> Reference:
    """Read what stands in a place; raises BadTemplate."""
    block, _, path = name.partition(".")
    if selection.steps(name) is None or "[" in block:
        raise BadTemplate(f"'{name[:60]}' names no output; write {{{{block.output}}}}")
    return Reference(block, path)


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
        outputs = self._of_blocks[wanted.block]
        return selection.look_up(outputs, wanted.path) if wanted.path else outputs

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
