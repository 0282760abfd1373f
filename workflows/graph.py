"""A graph of blocks, read and checked: what is stored or sent is either a Graph or a list of problems. Pure.

The value has the shape of the studio file: `{"blocks": […], "edges": [[from, to], …]}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from streaming.selection import collisions
from workflows import references, shapes, topology
from workflows.blocks import KINDS
from workflows.blocks.agent import Agent
from workflows.blocks.base import Block
from workflows.blocks.start import Start
from workflows.problems import GraphError, Problem
from workflows.schedule import Edge
from workflows.topology import Listed

MAX_BLOCKS = 200
_KEYS = ("blocks", "edges")


@dataclass(frozen=True)
class Graph:
    """A graph that can run. `edges` holds also those that blocks state themselves."""

    blocks: Mapping[str, Block]
    edges: tuple[Edge, ...]

    @property
    def start(self) -> Start:
        return next(block for block in self.blocks.values() if isinstance(block, Start))

    @property
    def recall(self) -> int | None:
        """How many messages of a conversation any block reads; None: all."""
        wanted = [block.recall for block in self.blocks.values() if isinstance(block, Agent)]
        return None if None in wanted else max((last for last in wanted if last is not None), default=0)


def read(value: object) -> Graph:
    """Return the graph; raises GraphError with everything that is wrong with it."""
    if problem := shapes.unsafe(value):
        raise GraphError([problem])
    return _read(msgspec.json.encode(value))


def problems(value: object) -> Sequence[Problem]:
    """Return what is wrong with a graph; empty if it can run."""
    try:
        read(value)
    except GraphError as error:
        return error.problems
    return ()


def in_order(value: Mapping[str, Any]) -> dict[str, Any]:
    """The same graph with its keys in the order in which people read them, which databases lose."""
    found = {key: value[key] for key in dict.fromkeys([*_KEYS, *value]) if key in value}
    if isinstance(blocks := found.get("blocks"), list):
        found["blocks"] = [_block_in_order(block) if isinstance(block, dict) else block for block in blocks]
    return found


# A version is read for every run of it and never changes; reading is a function of the value alone.
@lru_cache(maxsize=64)
def _read(encoded: bytes) -> Graph:
    value = msgspec.json.decode(encoded)
    if not isinstance(value, dict):
        raise GraphError([Problem("", "A graph must be a mapping with blocks and edges.")])
    unknown = [key for key in value if key not in _KEYS]
    found = [Problem("", f"unknown key {key!r}; known are {', '.join(_KEYS)}.") for key in unknown]
    blocks = _read_blocks(value.get("blocks"), found)
    arrows, bad = topology.read_arrows(value.get("edges", []))
    arrows += topology.stated_arrows(blocks)
    edges = topology.edges_of(arrows)
    found += [*bad, *topology.problems(blocks, arrows)]
    found += references.problems(blocks, topology.upstream(edges))
    if found:
        raise GraphError(found)
    return Graph({name: listed.block for name, listed in blocks.items() if listed.block}, edges)


def _read_blocks(value: Any, found: list[Problem]) -> dict[str, Listed]:
    """Read what can be read, by id; add what is wrong to `found`."""
    if not isinstance(value, list):
        raise GraphError([*found, Problem("blocks", "must be a list.")])
    if len(value) > MAX_BLOCKS:
        raise GraphError([*found, Problem("blocks", f"must have at most {MAX_BLOCKS} entries.")])
    blocks: dict[str, Listed] = {}
    named: list[tuple[str, str]] = []
    for index, entry in enumerate(value):
        path = f"blocks[{index}]"
        block, problems = _read_block(entry, path)
        found += problems
        name = _text(entry, "id")
        named.append((name, _text(entry, "name")))
        if name:
            blocks.setdefault(name, Listed(path, block))
    for first, second in collisions(named):
        found.append(
            Problem(f"blocks[{second}]", f"its id and name are too much like those of blocks[{first}].")
        )
    return blocks


def _read_block(entry: Any, path: str) -> tuple[Block | None, list[Problem]]:
    if not isinstance(entry, dict):
        return None, [Problem(path, "must be a mapping.")]
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        return None, [Problem(f"{path}.type", f"must be one of {', '.join(KINDS)}.")]
    block, problems = shapes.read(entry, KINDS[kind], path)
    if block is not None:
        problems = [Problem(f"{path}.{problem.path}", problem.sentence) for problem in block.problems()]
    return block, problems


def _block_in_order(entry: Mapping[str, Any]) -> dict[str, Any]:
    kind = KINDS.get(_text(entry, "type"))
    order = ["id", "type", *(kind.__struct_encode_fields__ if kind else ())]
    return {key: entry[key] for key in dict.fromkeys([*order, *entry]) if key in entry}


def _text(entry: Any, key: str) -> str:
    """What a block calls itself, also one that cannot be read."""
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, str) else ""
