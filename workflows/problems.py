"""What is wrong with a graph: where, and a sentence that says what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """`path` is the place in the graph (`blocks[1].tools[0].url`), empty for the graph as a whole."""

    path: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


class GraphError(ValueError):
    """A graph that cannot run, with everything that is wrong with it, never empty."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)
