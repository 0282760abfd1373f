"""A tool that is an HTTP request: its arguments go where its template says, or where its method says."""

from collections.abc import Mapping
from typing import Any

from agents.conversation import ToolSpec
from agents.http_client import HttpClient, HttpResponse
from agents.http_request import HttpFailure
from agents.http_template import HttpTemplate
from agents.places import BadTemplate
from agents.secrets import Secret
from agents.tools.base import ToolResult

#: Their unplaced arguments go into the query; those of other methods into a JSON body.
_QUERY_METHODS = frozenset({"GET", "HEAD", "DELETE"})


class HttpTool:
    """Raises BadTemplate when made if an argument would have no place in the request.

    `template.singles` should name the properties of the tool's parameters.
    """

    def __init__(
        self,
        spec: ToolSpec,
        template: HttpTemplate,
        *,
        client: HttpClient,
        secrets: Mapping[str, Secret],
        timeout: float = 20.0,
        idempotent: bool = False,
    ) -> None:
        self.spec = spec
        self.idempotent = idempotent
        self._template = template
        self._client = client
        self._secrets = secrets
        self._timeout = timeout
        self._placed = {place.name.partition(".")[0] for place in template.places() if not place.secret}
        unplaced = set(spec.parameters.get("properties", {})) - self._placed
        self._in_query = template.method in _QUERY_METHODS
        if unplaced and template.body is not None and not self._in_query:
            raise BadTemplate(f"the body has no place for {', '.join(sorted(unplaced))}")
        self._in_body = bool(unplaced) and not self._in_query

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        rest = {name: value for name, value in arguments.items() if name not in self._placed}
        try:
            request = self._template.fill(
                lambda name: look_up(arguments, name),
                self._secrets,
                query=rest if self._in_query else None,
                body=rest if self._in_body else None,
            )
            response = await self._client.send(request, timeout=self._timeout)
        except HttpFailure as failure:
            return ToolResult(f"The request was not answered: {failure}.", is_error=True)
        return _result(response)


def look_up(arguments: Mapping[str, Any], name: str) -> Any:
    """`name`, or a dotted path into objects. Raises KeyError."""
    if name in arguments:
        return arguments[name]
    value: Any = arguments
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise KeyError(name)
        value = value[step]
    return value


def _result(response: HttpResponse) -> ToolResult:
    status = f"HTTP {response.status} {response.reason}".rstrip()
    if response.status >= 400:
        return ToolResult(f"{status}\n{response.text}".rstrip(), is_error=True)
    return ToolResult(response.text or f"[{status}, with no body]")
