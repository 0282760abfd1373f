"""`start`: where a run begins, with what it was given: `input`, `conversationId` and typed fields."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from agents.errors import AgentError
from streaming.codes import RunCode
from workflows.blocks.base import Block, Output, Resources, Result
from workflows.problems import Problem
from workflows.scope import Scope

GIVEN = ("input", "conversationId")

_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "string": (str, "text"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "true or false"),
    "object": (dict, "an object"),
    "array": (list, "a list"),
}


class Field(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One typed value that the caller of a run may give beside its input."""

    name: Annotated[
        str,
        msgspec.Meta(
            pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
            max_length=64,
            description="letters, digits and _, not beginning with a digit",
        ),
    ]
    type: Literal["string", "number", "boolean", "object", "array"] = "string"
    required: bool = False

    def problem(self, given: Mapping[str, Any]) -> str | None:
        """Say what is wrong with what was given for this field."""
        value = given.get(self.name)
        if value is None:
            return f"The field '{self.name}' is missing." if self.required else None
        wanted, words = _TYPES[self.type]
        if not isinstance(value, wanted) or (isinstance(value, bool) and self.type != "boolean"):
            return f"The field '{self.name}' must be {words}."
        return None


class Start(Block, frozen=True, kw_only=True, tag="start"):
    fields: tuple[Field, ...] = ()

    def problems(self) -> Iterator[Problem]:
        seen = set(GIVEN)
        for index, field in enumerate(self.fields):
            if field.name in seen:
                yield Problem(f"fields[{index}].name", f"'{field.name}' is there already.")
            seen.add(field.name)

    def outputs(self) -> Sequence[Output]:
        fields = (Output(field.name, opaque=field.type in ("object", "array")) for field in self.fields)
        return [*(Output(name) for name in GIVEN), *fields]

    def check(self, fields: Mapping[str, Any]) -> list[str]:
        """Say what is wrong with the fields that were given."""
        known = {field.name for field in self.fields}
        unknown = [f"There is no field '{name[:64]}'." for name in fields if name not in known]
        problems = (field.problem(fields) for field in self.fields)
        return [*unknown, *(problem for problem in problems if problem)]

    def prepare(self, resources: Resources, *, start: str) -> "Begin":
        return Begin(self)


class Begin:
    def __init__(self, block: Start) -> None:
        self._block = block

    async def run(self, scope: Scope) -> Result:
        given = dict(scope.given)
        scope.input = given
        if problems := self._block.check({name: given[name] for name in given if name not in GIVEN}):
            raise AgentError(RunCode.BLOCK_FAILED, " ".join(problems))
        return Result(given)
