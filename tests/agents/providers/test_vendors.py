import pytest

from agents.providers.vendors import BY_HOST, quirks_for


@pytest.mark.parametrize(
    ("url", "vendor"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://res.openai.azure.com/openai/v1", "azure"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "alibaba"),
        ("http://127.0.0.1:11434/v1", "ollama"),
        ("http://localhost:1234/v1", "lmstudio"),
        ("https://API.Mistral.AI/v1", "mistral"),
        ("http://127.0.0.1:9000/v1", "127.0.0.1:9000"),
        ("https://llm.example.com/v1", "llm.example.com"),
        ("https://notapi.openai.com.evil.example/v1", "notapi.openai.com.evil.example"),
        ("https://evilapi.openai.com/v1", "evilapi.openai.com"),
    ],
)
def test_an_address_names_its_vendor(url: str, vendor: str) -> None:
    assert quirks_for(url).vendor == vendor


def test_every_row_is_found_by_its_own_host() -> None:
    for host, quirks in BY_HOST.items():
        assert quirks_for(f"https://{host}/v1") is quirks
