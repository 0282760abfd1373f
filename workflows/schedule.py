"""Which blocks run when: a block runs when all its incoming edges are settled and one was taken. Pure.

A block whose incoming edges are all settled and none taken is skipped; its own edges are settled by that.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Sequence

Edge = tuple[str, str]


class Schedule:
    """The state of one run's edges. Each block is settled once, and named as ready at most once."""

    def __init__(self, start: str, blocks: Sequence[str], edges: Iterable[Edge]) -> None:
        self._start = start
        self._blocks = blocks
        self._targets: dict[str, list[str]] = defaultdict(list)
        self._open: dict[str, int] = dict.fromkeys(blocks, 0)
        for source, target in edges:
            self._targets[source].append(target)
            self._open[target] += 1
        self._taken: set[Edge] = set()
        self._wanted: set[str] = set()

    def begin(self) -> list[str]:
        """Return the start; what no edge leads to is skipped."""
        unreached = [block for block in self._blocks if self._open[block] == 0 and block != self._start]
        for block in unreached:
            self._settle(block, ())
        return [self._start]

    def settle(self, block: str, taken: Collection[str] | None = None) -> list[str]:
        """A block is done: its edges to `taken` (None: all of them) are taken. Return what may run now."""
        return self._settle(block, self._targets[block] if taken is None else taken)

    def _settle(self, block: str, taken: Collection[str]) -> list[str]:
        ready: list[str] = []
        settled: deque[tuple[str, Collection[str]]] = deque([(block, taken)])
        while settled:
            source, chosen = settled.popleft()
            for target in self._targets[source]:
                if target in chosen:
                    self._taken.add((source, target))
                    self._wanted.add(target)
                self._open[target] -= 1
                if self._open[target] == 0:
                    if target in self._wanted:
                        ready.append(target)
                    else:
                        settled.append((target, ()))
        return ready

    def is_terminal(self, block: str) -> bool:
        """Whether none of its edges was taken."""
        return not any((block, target) in self._taken for target in self._targets[block])
