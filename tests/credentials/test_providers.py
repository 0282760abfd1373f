"""From `provider/model` to something that can be asked."""

import pytest
from django.test import override_settings

from agents.providers.demo import DemoProvider
from agents.spec import Price
from credentials.crypto import CredentialError
from credentials.models import ProviderConnection, Secret
from credentials.providers import UnknownModel, load_secrets, resolve

pytestmark = pytest.mark.django_db

VARIABLES = [
    f"{vendor}_{name}" for vendor in ("OPENAI", "ANTHROPIC", "GEMINI") for name in ("API_KEY", "BASE_URL")
]


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def connect(name: str, kind: str = "openai-compat", key: str = "", **values: object) -> ProviderConnection:
    row = ProviderConnection(name=name, kind=kind, base_url="http://127.0.0.1:9000/v1", **values)
    row.set_api_key(key)
    row.save()
    return row


def test_it_always_has_the_demo() -> None:
    choice = resolve("demo/any")
    assert (choice.label, choice.price) == ("demo/any", Price(0.0, 0.0))


def test_it_splits_at_the_first_slash() -> None:
    connect("local")
    choice = resolve("local/org/llama-3")
    assert (choice.provider.name, choice.model) == ("local", "org/llama-3")


def test_it_gives_a_stored_connection_its_key_and_its_prices() -> None:
    connect("local", key="sk-local", model_overrides={"llama-3": {"price": {"input": 1, "output": 2.5}}})
    choice = resolve("local/llama-3")
    assert choice.price == Price(1, 2.5)
    assert "sk-local" not in repr(choice)
    assert resolve("local/unknown-model").price is None


def test_it_serves_from_the_environment_without_a_stored_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[tuple[str, str, str, str]] = []

    def build(kind: str, name: str, base_url: str, api_key: str) -> DemoProvider:
        built.append((kind, name, base_url, api_key))
        return DemoProvider(name)

    monkeypatch.setattr("credentials.providers.build_provider", build)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9001")
    resolve("openai/gpt-5-mini")
    resolve("anthropic/claude-sonnet-4-5")
    assert built == [
        ("openai", "openai", "", "sk-env"),
        ("anthropic", "anthropic", "http://127.0.0.1:9001", ""),
    ]
    with pytest.raises(UnknownModel):
        resolve("gemini/gemini-2.5-pro")


def test_it_prefers_a_stored_connection_to_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    connect("openai", kind="demo")
    assert resolve("openai/x").price == Price(0.0, 0.0)


@pytest.mark.parametrize("label", ["", "nothing", "/model", "provider/", "unknown/model"])
def test_it_names_a_model_that_does_not_exist(label: str) -> None:
    with pytest.raises(UnknownModel):
        resolve(label)


def test_it_says_when_a_kind_cannot_be_built() -> None:
    ProviderConnection.objects.create(name="cloud", kind="no-such-kind")
    with pytest.raises(UnknownModel, match="cloud"):
        resolve("cloud/x")


def test_it_says_whose_key_cannot_be_read() -> None:
    connect("local", key="sk-local")
    with override_settings(SECRET_KEY="another " * 8), pytest.raises(CredentialError, match="provider local"):
        resolve("local/x")


def test_it_loads_the_secrets_that_exist() -> None:
    row = Secret(name="ORDER_KEY", hosts=["orders.example.com"])
    row.set_value("s3cret")
    row.save()
    loaded = load_secrets(["ORDER_KEY", "MISSING"])
    assert list(loaded) == ["ORDER_KEY"]
    assert (loaded["ORDER_KEY"].value, loaded["ORDER_KEY"].hosts) == ("s3cret", ("orders.example.com",))
    assert "s3cret" not in repr(loaded)
    with (
        override_settings(SECRET_KEY="another " * 8),
        pytest.raises(CredentialError, match="secret ORDER_KEY"),
    ):
        load_secrets(["ORDER_KEY"])
