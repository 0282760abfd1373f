"""`condition`: which way a run goes: the first case that holds, else `else`. They are its only edges."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from agents.places import BadTemplate
from workflows import conditions
from workflows.blocks.base import Block, Output, Resources, Result, Target, Templated
from workflows.conditions import ConditionError
from workflows.problems import Problem
from workflows.scope import Scope


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    if_: Annotated[str, msgspec.Meta(max_length=10_000)] = msgspec.field(name="if")
    then: str


class Condition(Block, frozen=True, kw_only=True, tag="condition"):
    cases: Annotated[tuple[Case, ...], msgspec.Meta(min_length=1, max_length=100)]
    else_: str | None = msgspec.field(name="else", default=None)

    def problems(self) -> Iterator[Problem]:
        for index, case in enumerate(self.cases):
            try:
                conditions.parse(case.if_)
            except ConditionError as error:
                yield Problem(f"cases[{index}].if", str(error))
            except BadTemplate:
                pass  # said of every text that refers to outputs

    def templated(self) -> Iterator[Templated]:
        return (Templated(f"cases[{index}].if", case.if_) for index, case in enumerate(self.cases))

    def targets(self) -> Sequence[Target]:
        cases = [Target(f"cases[{index}].then", case.then) for index, case in enumerate(self.cases)]
        return cases if self.else_ is None else [*cases, Target("else", self.else_)]

    def outputs(self) -> Sequence[Output]:
        return [Output("branch")]

    def prepare(self, resources: Resources, *, start: str) -> "Choosing":
        ways = tuple((conditions.parse(case.if_), case.then) for case in self.cases)
        return Choosing(ways, self.else_)


@dataclass(frozen=True)
class Choosing:
    ways: Sequence[tuple[conditions.Condition, str]]
    otherwise: str | None

    async def run(self, scope: Scope) -> Result:
        """`branch` is the block that the run goes on with, null if it does not."""
        held = (block for condition, block in self.ways if condition.holds(scope.outputs))
        branch = next(held, self.otherwise)
        return Result({"branch": branch}, taken=frozenset() if branch is None else frozenset({branch}))
