"""The HTTP tool: arguments in their places, answers as the model reads them."""

import json
from typing import Any

import pytest

from agents.conversation import ToolSpec
from agents.http_client import HttpClient, HttpResponse
from agents.http_request import HttpFailure, HttpRequest
from agents.http_template import HttpTemplate
from agents.places import BadTemplate
from agents.secrets import Secret
from agents.tools.base import ToolResult
from agents.tools.http import HttpTool

URL = "https://orders.example.com/find"
KEY = Secret("ORDER_KEY", "s3cret", ("orders.example.com",))


class Answering(HttpClient):
    """Answers every request with the same, without a network."""

    def __init__(self, status: int = 200, text: str = "found", failure: HttpFailure | None = None) -> None:
        self.sent: list[tuple[HttpRequest, float]] = []
        self._response = HttpResponse(status, "Reason", {}, "text/plain", text, True, False)
        self._failure = failure

    async def send(self, request: HttpRequest, *, timeout: float = 30, limit: int = 0) -> HttpResponse:
        self.sent.append((request, timeout))
        if self._failure:
            raise self._failure
        return self._response


def tool(client: HttpClient, method: str = "POST", url: str = URL, **more: Any) -> HttpTool:
    properties = {name: {"type": "string"} for name in ("id", "note")}
    spec = ToolSpec("lookup", "Find an order", {"type": "object", "properties": properties})
    template = HttpTemplate(method, url, singles=frozenset(properties), **more)
    return HttpTool(spec, template, client=client, secrets={"ORDER_KEY": KEY}, timeout=7, idempotent=True)


async def sent(arguments: dict[str, Any], **more: Any) -> HttpRequest:
    client = Answering()
    await tool(client, **more).call(arguments)
    ((request, timeout),) = client.sent
    assert timeout == 7
    return request


async def test_arguments_of_a_post_are_its_json_body() -> None:
    request = await sent({"id": "7", "note": "ü"}, headers={"Authorization": "Bearer {{secret:ORDER_KEY}}"})

    assert request.body is not None
    assert json.loads(request.body.text) == {"id": "7", "note": "ü"}
    assert request.headers["Content-Type"].text == "application/json"
    assert request.headers["Authorization"].text == "Bearer s3cret"


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
async def test_arguments_of_a_request_without_a_body_are_its_query(method: str) -> None:
    request = await sent({"id": "a&b", "note": ["x", "y"]}, method=method, url=URL + "?fixed=1")

    assert list(request.url.query.items()) == [("fixed", "1"), ("id", "a&b"), ("note", "x"), ("note", "y")]
    assert request.body is None


async def test_an_argument_with_a_place_is_put_there_and_nowhere_else() -> None:
    request = await sent({"id": "7", "note": "hi"}, url=URL + "/{id}")

    assert str(request.url) == URL + "/7"
    assert request.body is not None
    assert json.loads(request.body.text) == {"note": "hi"}


async def test_a_post_whose_arguments_are_all_placed_has_no_body() -> None:
    request = await sent({"id": "7", "note": "hi"}, url=URL + "/{id}?note={{note}}")

    assert request.body is None


async def test_a_body_of_its_own_takes_the_arguments() -> None:
    request = await sent({"id": "7", "note": "hi"}, body={"order": {"id": "{{id}}"}, "text": "say {{note}}"})

    assert request.body is not None
    assert json.loads(request.body.text) == {"order": {"id": "7"}, "text": "say hi"}


def test_it_refuses_a_body_that_has_no_place_for_an_argument() -> None:
    with pytest.raises(BadTemplate, match="note"):
        tool(Answering(), body={"id": "{{id}}"})


async def test_its_answer_is_the_result() -> None:
    assert await tool(Answering()).call({}) == ToolResult("found")
    assert await tool(Answering(204, "")).call({}) == ToolResult("[HTTP 204 Reason, with no body]")


@pytest.mark.parametrize("status", [400, 404, 500, 503])
async def test_an_error_status_is_a_failure_with_the_endpoints_own_words(status: int) -> None:
    result = await tool(Answering(status, '{"error":"no such order"}')).call({})

    assert result == ToolResult(f'HTTP {status} Reason\n{{"error":"no such order"}}', is_error=True)


async def test_no_answer_is_a_failure_that_says_why() -> None:
    result = await tool(Answering(failure=HttpFailure("no answer within 7 seconds"))).call({})

    assert result == ToolResult("The request was not answered: no answer within 7 seconds.", is_error=True)


async def test_a_value_that_cannot_be_placed_is_a_failure_and_nothing_is_sent() -> None:
    client = Answering()

    result = await tool(client, url=URL + "/{id}").call({"id": "../admin"})

    assert result.is_error
    assert client.sent == []


async def test_a_secret_for_another_host_is_never_sent() -> None:
    client = Answering()

    result = await tool(client, url="https://evil.example.com/", headers={"K": "{{secret:ORDER_KEY}}"}).call(
        {}
    )

    assert result.is_error
    assert "ORDER_KEY may not be sent to evil.example.com" in result.text
    assert "s3cret" not in result.text
    assert client.sent == []


async def test_a_dotted_name_looks_into_objects() -> None:
    request = await sent({"id": {"number": 7}, "note": "x"}, url=URL + "/{{id.number}}?n={{note}}")

    assert request.url.path == "/find/7"
    assert request.body is None
