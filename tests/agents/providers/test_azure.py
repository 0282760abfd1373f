import pytest

from agents.providers.azure import Address, address_of

BASE = "https://res.openai.azure.com"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://api.openai.com/v1", Address("https://api.openai.com/v1")),
        (BASE, Address(f"{BASE}/openai/v1")),
        (f"{BASE}/", Address(f"{BASE}/openai/v1")),
        (f"{BASE}/openai", Address(f"{BASE}/openai/v1")),
        (f"{BASE}/openai/v1/", Address(f"{BASE}/openai/v1/")),
        (f"{BASE}?api-version=2025-04-01-preview", Address(f"{BASE}/openai", "2025-04-01-preview")),
        (f"{BASE}/openai/deployments/gpt", Address(f"{BASE}/openai/deployments/gpt", "2024-10-21")),
        (
            f"{BASE}/openai/deployments/gpt?api-version=2024-06-01",
            Address(f"{BASE}/openai/deployments/gpt", "2024-06-01"),
        ),
        ("https://res.services.ai.azure.com/models", Address("https://res.services.ai.azure.com/models")),
        ("https://res.services.ai.azure.com", Address("https://res.services.ai.azure.com/openai/v1")),
    ],
)
def test_it_tells_azures_addresses_apart(url: str, address: Address) -> None:
    assert address_of(url) == address
