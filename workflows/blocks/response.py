"""`response`: what a caller gets who does not stream: a status and JSON data."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec

from workflows.blocks.base import Block, Output, Resources, Result, Templated
from workflows.scope import Scope
from workflows.templates import strings


class Response(Block, frozen=True, kw_only=True, tag="response"):
    status: Annotated[int, msgspec.Meta(ge=200, le=599)] = 200
    data: Any = None

    def templated(self) -> Iterator[Templated]:
        return (Templated(path, text) for text, path in strings(self.data, "data"))

    def outputs(self) -> Sequence[Output]:
        return [Output("data", opaque=True), Output("status")]

    def prepare(self, resources: Resources, *, start: str) -> "Response":
        return self

    async def run(self, scope: Scope) -> Result:
        scope.input = {"data": self.data}
        return Result({"data": scope.outputs.fill(self.data), "status": self.status})
