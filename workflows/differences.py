"""What differs between two graphs, by block and field, in the order of the newer one. Pure.

The values may be unfinished drafts: what has no shape is compared as it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class Difference:
    """`block` empty: of the graph as a whole. `field` empty: the whole block, or edge, came or went."""

    kind: Kind
    block: str
    field: str = ""
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        return f"{' '.join(filter(None, (self.block or 'Edges', self.field)))} {self.kind}"


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return what one has to do to `before` to get `after`."""
    old, new = _blocks(before), _blocks(after)
    found = [
        difference for name, block in new.items() for difference in _of_block(name, old.get(name), block)
    ]
    found += [Difference(Kind.REMOVED, name, before=block) for name, block in old.items() if name not in new]
    return [*found, *_of_edges(before.get("edges", []), after.get("edges", []))]


def _blocks(graph: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    listed = graph.get("blocks", [])
    blocks = listed if isinstance(listed, list) else []
    return {str(block["id"]): block for block in blocks if isinstance(block, dict) and "id" in block}


def _of_block(name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> Iterator[Difference]:
    if old is None:
        yield Difference(Kind.ADDED, name, after=new)
        return
    for field in dict.fromkeys([*new, *old]):
        if field not in old:
            yield Difference(Kind.ADDED, name, field, after=new[field])
        elif field not in new:
            yield Difference(Kind.REMOVED, name, field, before=old[field])
        elif old[field] != new[field]:
            yield Difference(Kind.CHANGED, name, field, old[field], new[field])


def _of_edges(old: Any, new: Any) -> Iterator[Difference]:
    """The order of edges says nothing."""
    before, after = _edges(old), _edges(new)
    yield from (
        Difference(Kind.ADDED, "", "→".join(edge), after=edge) for edge in after if edge not in before
    )
    yield from (
        Difference(Kind.REMOVED, "", "→".join(edge), before=edge) for edge in before if edge not in after
    )


def _edges(value: Any) -> Sequence[tuple[str, ...]]:
    edges = value if isinstance(value, list) else []
    return [tuple(map(str, edge)) for edge in edges if isinstance(edge, list)]
