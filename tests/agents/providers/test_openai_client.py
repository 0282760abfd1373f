"""Where the SDK's requests go: paths and headers by address, seen without a socket."""

import httpx2
import openai
import pytest

from agents.providers.model_call import Place
from agents.providers.openai_client import _client


@pytest.mark.parametrize(
    ("base_url", "url", "header"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions", "authorization"),
        ("https://llm.example.com/v1/", "https://llm.example.com/v1/chat/completions", "authorization"),
        (
            "https://res.openai.azure.com",
            "https://res.openai.azure.com/openai/v1/chat/completions",
            "authorization",
        ),
        (
            "https://res.openai.azure.com/openai/deployments/dep?api-version=2024-06-01",
            "https://res.openai.azure.com/openai/deployments/dep/chat/completions?api-version=2024-06-01",
            "api-key",
        ),
        (
            "https://res.openai.azure.com?api-version=2025-04-01-preview",
            "https://res.openai.azure.com/openai/deployments/m/chat/completions?api-version=2025-04-01-preview",
            "api-key",
        ),
    ],
)
async def test_an_address_leads_where_its_vendor_listens(base_url: str, url: str, header: str) -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, text="data: [DONE]\n\n")

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        client = _client(Place("p", base_url, "sk-test"), http)
        create = client.chat.completions.with_streaming_response.create
        async with create(model="m", messages=(), stream=True):
            pass
    assert str(seen[0].url) == url
    assert "sk-test" in seen[0].headers[header]


async def test_the_environment_gives_no_organisation_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project")
    async with httpx2.AsyncClient() as http:
        client = _client(Place("p", "https://llm.example.com/v1", ""), http)
    headers = client.default_headers
    assert isinstance(headers["OpenAI-Organization"], openai.Omit)
    assert isinstance(headers["OpenAI-Project"], openai.Omit)
