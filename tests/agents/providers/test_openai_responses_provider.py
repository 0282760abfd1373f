"""The Responses provider against a real socket; what it shares with the other wire is tested there."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from agents.conversation import ModelRequest, Thinking, UserMessage
from agents.errors import ProviderError
from agents.providers.base import ProviderEvent, ResponseEnded, TurnStop
from agents.providers.openai_responses.provider import ResponsesProvider
from streaming.codes import RunCode
from streaming.events import TextDelta, Usage
from tests.providers_server import ProviderServer, Reply, error_reply, sse

pytestmark = pytest.mark.socket

ASK = ModelRequest("gpt-5", [UserMessage("hi")], thinking=Thinking.LOW, summaries=True)

ANSWER = Reply(
    [
        sse(
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"},
            {"type": "response.completed", "response": {"status": "completed", "model": "gpt-5-2025"}},
            done=False,
        )
    ]
)


@pytest.fixture
async def server() -> AsyncIterator[ProviderServer]:
    async with ProviderServer() as running:
        yield running


async def events(server: ProviderServer, request: ModelRequest = ASK) -> list[ProviderEvent]:
    provider = ResponsesProvider("openai", server.base_url, "sk-test")
    async with aclosing(provider.stream(request)) as batches:
        return [event async for batch in batches for event in batch]


async def test_it_streams_an_answer(server: ProviderServer) -> None:
    server.reply(ANSWER, ANSWER)
    assert await events(server) == [
        TextDelta("Hi"),
        ResponseEnded(True, TurnStop.STOP, Usage(), "gpt-5-2025", "completed"),
    ]
    await events(server)
    first, second = server.requests
    assert first.path == "/v1/responses"
    assert first.headers["Authorization"] == "Bearer sk-test"
    assert first.body["input"] == [{"role": "user", "content": "hi"}]
    assert first.body["store"] is False
    assert first.connection == second.connection


async def test_an_organisation_without_summaries_gets_its_answer_without(server: ProviderServer) -> None:
    complaint = "Your organization must be verified to generate reasoning summaries."
    server.reply(
        error_reply(400, {"error": {"message": complaint, "param": "reasoning.summary"}}), ANSWER, ANSWER
    )
    assert (await events(server))[0] == TextDelta("Hi")
    await events(server)
    assert [request.body["reasoning"] for request in server.requests] == [
        {"effort": "low", "summary": "auto"},
        {"effort": "low"},
        {"effort": "low"},
    ]


async def test_a_refusal_is_raised_with_its_code(server: ProviderServer) -> None:
    server.reply(error_reply(400, {"error": {"message": "x", "code": "context_length_exceeded"}}))
    with pytest.raises(ProviderError) as raised:
        await events(server)
    assert raised.value.code is RunCode.CONTEXT_WINDOW_EXCEEDED
