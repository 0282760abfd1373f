"""`template`: a text, filled in with outputs of blocks before it."""

from collections.abc import Iterator, Sequence

from workflows.blocks.base import Block, LongText, Output, Resources, Result, Templated
from workflows.scope import Scope


class Template(Block, frozen=True, kw_only=True, tag="template"):
    template: LongText

    def templated(self) -> Iterator[Templated]:
        yield Templated("template", self.template)

    def outputs(self) -> Sequence[Output]:
        return [Output("text")]

    def prepare(self, resources: Resources, *, start: str) -> "Template":
        return self

    async def run(self, scope: Scope) -> Result:
        scope.input = {"template": self.template}
        return Result({"text": scope.outputs.text(self.template)})
