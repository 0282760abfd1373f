"""How we measure: the best of several rounds, so that what else the machine does counts least."""

import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 7
SECONDS_A_ROUND = 0.2


@dataclass(frozen=True)
class Result:
    name: str
    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.name:<64}{self.value:>12,.1f} {self.unit}"


def per_call(function: Callable[[], object]) -> float:
    """Return seconds a call."""
    calls = 1
    while _seconds(function, calls) < SECONDS_A_ROUND:
        calls *= 2
    return min(_seconds(function, calls) for _ in range(ROUNDS)) / calls


def _seconds(function: Callable[[], object], calls: int) -> float:
    begun = time.perf_counter()
    for _ in range(calls):
        function()
    return time.perf_counter() - begun
