"""The tools of an agent block as the studio file writes them, and how they become tools of the loop."""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from agents.addresses import AddressPolicy
from agents.conversation import ToolSpec
from agents.http_client import HttpClient
from agents.http_template import HttpTemplate
from agents.places import BadTemplate
from agents.tools.arguments import schema_mistake
from agents.tools.base import Tool
from agents.tools.builtin import BUILTINS
from agents.tools.http import HttpTool
from streaming.chips import UNKNOWN_TOOL
from workflows.blocks.base import Resources
from workflows.problems import Problem

ToolName = Annotated[
    str,
    msgspec.Meta(pattern=r"^[A-Za-z0-9_\-]{1,64}$", description="1 to 64 letters, digits, _ and -"),
]
Url = Annotated[str, msgspec.Meta(min_length=1, max_length=8192)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=600)]

#: For trying a template out; it is never asked to send anything.
_NO_CLIENT = HttpClient(AddressPolicy())


class Definition(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """One entry of `tools`."""


class HttpToolDefinition(Definition, frozen=True, kw_only=True, tag="http"):
    """`{{argument}}`, `{argument}` and `{{secret:NAME}}` may stand in address, headers and body.

    Arguments that stand nowhere go into the query (GET, HEAD, DELETE) or into a JSON body.
    """

    name: ToolName
    url: Url
    description: Annotated[str, msgspec.Meta(max_length=4000)] = ""
    method: str = "GET"
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    body: Any = None
    parameters: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object"})
    timeout: Seconds = 20.0
    idempotent: bool = False

    def problems(self) -> Iterator[Problem]:
        if mistake := schema_mistake(self.parameters):
            yield Problem("parameters", f"is no JSON schema for a tool: {mistake}.")
            return
        try:
            template = self._template()
            HttpTool(self._spec(), template, client=_NO_CLIENT, secrets={})
        except BadTemplate as error:
            yield Problem("url", f"{error}.")
            return
        known = self.parameters.get("properties", {})
        for place in template.places():
            if not place.secret and place.name.partition(".")[0] not in known:
                yield Problem("url", f"'{place.name}' is no parameter of this tool.")

    def tool(self, resources: Resources) -> Tool:
        template = self._template()
        return HttpTool(
            self._spec(),
            template,
            client=resources.http,
            secrets=resources.secrets([place.name for place in template.places() if place.secret]),
            timeout=self.timeout,
            idempotent=self.idempotent,
        )

    def _spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    def _template(self) -> HttpTemplate:
        """Raises BadTemplate."""
        singles = frozenset(self.parameters.get("properties", {}))
        return HttpTemplate(self.method, self.url, headers=self.headers, body=self.body, singles=singles)


class BuiltinToolDefinition(Definition, frozen=True, kw_only=True, tag="builtin"):
    name: str

    def problems(self) -> Iterator[Problem]:
        if self.name not in BUILTINS:
            yield Problem(
                "name", f"there is no built-in tool '{self.name}'; there are {', '.join(BUILTINS)}."
            )

    def tool(self, resources: Resources) -> Tool:
        return BUILTINS[self.name]


class McpToolDefinition(Definition, frozen=True, kw_only=True, tag="mcp"):
    """Known, so that its keys are checked and the sentence is about the right thing; not built yet."""

    name: ToolName
    url: Url
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    allow: tuple[str, ...] = ()

    def problems(self) -> Iterator[Problem]:
        yield Problem("type", "MCP servers are not supported yet; use tools of type http or builtin.")

    def tool(self, resources: Resources) -> Tool:
        raise NotImplementedError("a graph with an MCP tool does not validate")


ToolDefinition = HttpToolDefinition | BuiltinToolDefinition | McpToolDefinition


def problems(tools: tuple[ToolDefinition, ...]) -> Iterator[Problem]:
    """What is wrong with the tools of one block; paths begin with `tools[0]`."""
    seen = {UNKNOWN_TOOL}
    for index, tool in enumerate(tools):
        at = f"tools[{index}]"
        for problem in tool.problems():
            yield Problem(f"{at}.{problem.path}", problem.sentence)
        if tool.name == UNKNOWN_TOOL:
            yield Problem(f"{at}.name", f"'{UNKNOWN_TOOL}' stands for names that a model made up.")
        elif tool.name in seen:
            yield Problem(f"{at}.name", f"the block has a tool '{tool.name}' already.")
        seen.add(tool.name)
