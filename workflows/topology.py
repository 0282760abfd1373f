"""How blocks hang together: edges that lead somewhere, no cycle, one start that reaches every agent. Pure.

Everything that can be said is said: a block that could not be read (None) still has its id and its edges.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from workflows.blocks.agent import Agent
from workflows.blocks.base import Block
from workflows.blocks.start import Start
from workflows.problems import Problem
from workflows.schedule import Edge

MAX_EDGES = 1000


@dataclass(frozen=True)
class Listed:
    """A block of a graph at `path` (`blocks[1]`), and what it is, if it could be read."""

    path: str
    block: Block | None


@dataclass(frozen=True)
class Arrow:
    """An edge at `path`; `stated` by the block it starts from."""

    path: str
    edge: Edge
    stated: bool = False


def read_arrows(value: object) -> tuple[list[Arrow], list[Problem]]:
    """Read `[[from, to], …]`; entries that are no edges are problems."""
    if not isinstance(value, list):
        return [], [Problem("edges", "must be a list.")]
    if len(value) > MAX_EDGES:
        return [], [Problem("edges", f"must have at most {MAX_EDGES} entries.")]
    arrows: list[Arrow] = []
    problems: list[Problem] = []
    for index, entry in enumerate(value):
        match entry:
            case [str(source), str(target)]:
                arrows.append(Arrow(f"edges[{index}]", (source, target)))
            case _:
                problems.append(Problem(f"edges[{index}]", "must be two ids of blocks: [from, to]."))
    return arrows, problems


def stated_arrows(blocks: Mapping[str, Listed]) -> Iterator[Arrow]:
    """The edges that blocks state themselves."""
    for name, listed in blocks.items():
        for target in (listed.block.targets() if listed.block else None) or ():
            yield Arrow(f"{listed.path}.{target.path}", (name, target.block), stated=True)


def edges_of(arrows: Sequence[Arrow]) -> tuple[Edge, ...]:
    """Each edge once, in order: two cases of a condition may lead to the same block."""
    return tuple(dict.fromkeys(arrow.edge for arrow in arrows))


def problems(blocks: Mapping[str, Listed], arrows: Sequence[Arrow]) -> Iterator[Problem]:
    known = [arrow for arrow in arrows if arrow.edge[0] in blocks and arrow.edge[1] in blocks]
    yield from _start_problems(blocks)
    yield from _arrow_problems(blocks, arrows)
    yield from _cycle_problems(edges_of(known))
    yield from _unreachable(blocks, edges_of(known))


def upstream(edges: Sequence[Edge]) -> dict[str, set[str]]:
    """For each block those from which some way leads to it."""
    sources = _neighbours((target, source) for source, target in edges)
    return {block: _reached(block, sources) - {block} for block in list(sources)}


def _start_problems(blocks: Mapping[str, Listed]) -> Iterator[Problem]:
    starts = [listed for listed in blocks.values() if isinstance(listed.block, Start)]
    if not starts and all(listed.block for listed in blocks.values()):
        yield Problem("blocks", "a block of type start is missing.")
    for listed in starts[1:]:
        yield Problem(f"{listed.path}.type", f"there is a start already, at {starts[0].path}.")


def _arrow_problems(blocks: Mapping[str, Listed], arrows: Sequence[Arrow]) -> Iterator[Problem]:
    seen: set[Edge] = set()
    for arrow in arrows:
        source, target = arrow.edge
        for end in dict.fromkeys(arrow.edge):
            if end not in blocks:
                yield Problem(arrow.path, f"there is no block '{end}'.")
        if target in blocks and isinstance(blocks[target].block, Start):
            yield Problem(arrow.path, f"nothing can lead to the start, '{target}'.")
        if arrow.stated:
            continue
        if arrow.edge in seen:
            yield Problem(arrow.path, f"there is an edge from '{source}' to '{target}' already.")
        seen.add(arrow.edge)
        block = blocks[source].block if source in blocks else None
        if block is not None and block.targets() is not None:
            yield Problem(arrow.path, f"'{source}' is a {block.type} and states itself where it leads.")


def _cycle_problems(edges: Sequence[Edge]) -> Iterator[Problem]:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for source, target in edges:
        sorter.add(target, source)
    try:
        sorter.prepare()
    except CycleError as error:
        yield Problem("edges", f"the blocks run in a circle: {' → '.join(error.args[1])}.")


def _unreachable(blocks: Mapping[str, Listed], edges: Sequence[Edge]) -> Iterator[Problem]:
    starts = [name for name, listed in blocks.items() if isinstance(listed.block, Start)]
    if len(starts) != 1:
        return
    reached = _reached(starts[0], _neighbours(edges))
    for name, listed in blocks.items():
        if isinstance(listed.block, Agent) and name not in reached:
            yield Problem(listed.path, f"no edges lead from the start to '{name}', so it would never run.")


def _neighbours(edges: Iterator[Edge] | Sequence[Edge]) -> dict[str, list[str]]:
    neighbours: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        neighbours[source].append(target)
    return neighbours


def _reached(begin: str, neighbours: Mapping[str, Sequence[str]]) -> set[str]:
    reached, waiting = {begin}, [begin]
    while waiting:
        new = set(neighbours.get(waiting.pop(), ())) - reached
        reached |= new
        waiting += new
    return reached
