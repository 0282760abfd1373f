"""`http`: one request to an address that the author wrote; its answer is the block's output."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from agents.errors import AgentError
from agents.http_client import HttpClient, HttpResponse
from agents.http_request import HttpFailure, HttpRequest
from agents.http_template import HttpTemplate
from agents.places import BadTemplate
from agents.secrets import Mask, Secret
from streaming.codes import RunCode
from streaming.text import clean_json
from workflows import strict_json
from workflows.blocks.agent_tools import Seconds, Url
from workflows.blocks.base import Block, Output, Resources, Result, Templated
from workflows.problems import Problem
from workflows.scope import Scope
from workflows.templates import strings

#: Characters of an answer that failed, for the owner.
_SHOWN = 500


class Http(Block, frozen=True, kw_only=True, tag="http"):
    """`{{block.path}}` and `{{secret:NAME}}` may stand in address, headers and body, but not in the host."""

    url: Url
    method: str = "GET"
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    body: Any = None
    timeout: Seconds = 20.0

    def problems(self) -> Iterator[Problem]:
        try:
            self._template()
        except BadTemplate as error:
            yield Problem("url", f"{error}.")

    def templated(self) -> Iterator[Templated]:
        yield Templated("url", self.url, secrets=True)
        for value, path in ((self.headers, "headers"), (self.body, "body")):
            yield from (Templated(at, text, secrets=True) for text, at in strings(value, path))

    def outputs(self) -> Sequence[Output]:
        return [Output("body", opaque=True), Output("status"), Output("headers", opaque=True)]

    def prepare(self, resources: Resources, *, start: str) -> "Requesting":
        template = self._template()
        names = [place.name for place in template.places() if place.secret]
        return Requesting(template, resources.http, resources.secrets(names), self.timeout)

    def _template(self) -> HttpTemplate:
        """Raises BadTemplate."""
        return HttpTemplate(self.method, self.url, headers=self.headers, body=self.body)


@dataclass(frozen=True)
class Requesting:
    template: HttpTemplate
    client: HttpClient
    secrets: Mapping[str, Secret]
    timeout: float

    async def run(self, scope: Scope) -> Result:
        """Raises AgentError if no answer came, or one that says that the request failed (400 and above)."""
        try:
            request = self.template.fill(scope.outputs.look_up, self.secrets)
            scope.input = _shown(request)
            response = await self.client.send(request, timeout=self.timeout)
        except HttpFailure as failure:
            raise AgentError(RunCode.BLOCK_FAILED, f"The request was not answered: {failure}.") from failure
        if response.status >= 400:
            status = f"HTTP {response.status} {response.reason}".rstrip()
            raise AgentError(RunCode.BLOCK_FAILED, f"{status}: {response.text[:_SHOWN]}")
        return Result({"body": _body(response), "status": response.status, "headers": dict(response.headers)})


def _shown(request: HttpRequest) -> dict[str, Any]:
    """What was sent, secrets as their names."""
    mask = Mask(request.secrets)
    return {
        "method": request.method,
        "url": mask.text(str(request.url)),
        "headers": {name: mask.text(part.text) for name, part in request.headers.items()},
        "body": None if request.body is None else mask.text(request.body.text),
    }


def _body(response: HttpResponse) -> Any:
    """JSON as its value, anything else as text."""
    if response.is_text and response.content_type.endswith("json") and not response.cut:
        try:
            return clean_json(strict_json.loads(response.text))
        except ValueError:
            pass
    return response.text
