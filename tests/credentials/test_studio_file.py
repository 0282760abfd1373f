"""The sections `providers` and `secrets`."""

from typing import Any

import pytest
from django.test import override_settings

from credentials.declare import Context, FileError
from credentials.models import ProviderConnection, Secret
from credentials.studio_file import apply_providers, apply_secrets, export_providers, export_secrets

pytestmark = pytest.mark.django_db

ENV = Context(env={"LOCAL_KEY": "sk-local", "ORDER_KEY": "s3cret", "OTHER": "sk-other", "EMPTY": ""})
LOCAL: dict[str, Any] = {
    "name": "local",
    "kind": "openai-compat",
    "base_url": "http://127.0.0.1:9000/v1",
    "api_key_env": "LOCAL_KEY",
    "models": {"llama-3": {"thinking": "full", "context_window": 8192, "price": {"input": 0, "output": 0}}},
}
ORDER: dict[str, Any] = {"name": "ORDER_KEY", "value_env": "ORDER_KEY", "hosts": ["orders.example.com"]}


def providers(*items: Any) -> list[str]:
    return [str(change) for change in apply_providers(list(items), "providers", ENV)]


def secrets(*items: Any) -> list[str]:
    return [str(change) for change in apply_secrets(list(items), "secrets", ENV)]


def test_it_creates_then_finds_unchanged_then_updates_a_provider() -> None:
    assert providers(LOCAL) == ["created providers[0] local"]
    assert providers(LOCAL) == ["unchanged providers[0] local"]
    assert providers({**LOCAL, "base_url": "http://127.0.0.1:9001/v1"}) == ["updated providers[0] local"]
    row = ProviderConnection.objects.get()
    assert (row.read_api_key(), row.base_url) == ("sk-local", "http://127.0.0.1:9001/v1")


def test_it_keeps_a_stored_key_that_the_file_does_not_name_and_replaces_one_it_does() -> None:
    providers(LOCAL)
    assert providers({"name": "local", "kind": "openai-compat"}) == ["unchanged providers[0] local"]
    assert ProviderConnection.objects.get().read_api_key() == "sk-local"
    assert providers({**LOCAL, "api_key_env": "OTHER"}) == ["updated providers[0] local"]
    assert ProviderConnection.objects.get().read_api_key() == "sk-other"


def test_it_replaces_a_key_that_nobody_can_read_any_more() -> None:
    providers(LOCAL)
    with override_settings(SECRET_KEY="another " * 8):
        assert providers(LOCAL) == ["updated providers[0] local"]
        assert ProviderConnection.objects.get().read_api_key() == "sk-local"


def test_it_creates_then_finds_unchanged_then_updates_a_secret() -> None:
    assert secrets(ORDER) == ["created secrets[0] ORDER_KEY"]
    assert secrets(ORDER) == ["unchanged secrets[0] ORDER_KEY"]
    assert secrets({**ORDER, "hosts": ["Orders.example.com", "b.example.com"]}) == [
        "updated secrets[0] ORDER_KEY"
    ]
    assert secrets({"name": "ORDER_KEY", "value_env": "OTHER"}) == ["updated secrets[0] ORDER_KEY"]
    row = Secret.objects.get()
    assert (row.read_value(), row.hosts) == ("sk-other", ["orders.example.com", "b.example.com"])


def test_it_finds_its_own_export_unchanged_and_free_of_secrets() -> None:
    providers(LOCAL, {"name": "play", "kind": "demo"})
    secrets(ORDER)
    exported = export_providers(), export_secrets()
    assert "sk-local" not in str(exported)
    assert "s3cret" not in str(exported)
    assert exported[0][1] == {"name": "play", "kind": "demo"}
    assert providers(*exported[0]) == ["unchanged providers[0] local", "unchanged providers[1] play"]
    assert secrets(*exported[1]) == ["unchanged secrets[0] ORDER_KEY"]


WRONG_PROVIDERS = [
    ({"name": "x"}, r"providers\[0\]: 'kind' is missing"),
    ({**LOCAL, "kind": "llama"}, r"providers\[0\]\.kind: must be one of openai, openai-compat"),
    ({**LOCAL, "api_key": "sk-plain"}, r"providers\[0\]: unknown key 'api_key'"),
    ({**LOCAL, "api_key_env": "UNSET"}, r"providers\[0\]\.api_key_env: .*UNSET is not set"),
    ({**LOCAL, "api_key_env": "EMPTY"}, r"providers\[0\]\.api_key_env: .*EMPTY is not set"),
    ({**LOCAL, "base_url": "http://169.254.169.254/"}, r"providers\[0\]\.base_url: .*metadata"),
    ({"name": "x", "kind": "openai-compat"}, r"providers\[0\]\.base_url: An OpenAI-compatible server has no"),
    ({**LOCAL, "name": "a/b"}, r"providers\[0\]\.name: "),
    ({**LOCAL, "models": []}, r"providers\[0\]\.models: must be a mapping"),
    (
        {**LOCAL, "models": {"m": {"thinking": "deep"}}},
        r"providers\[0\]\.models\.m\.thinking: must be one of",
    ),
    (
        {**LOCAL, "models": {"m": {"price": {"input": 1}}}},
        r"providers\[0\]\.models\.m\.price: 'output' is missing",
    ),
    (
        {**LOCAL, "models": {"m": {"price": {"input": -1, "output": 1}}}},
        r"…*price\.input: must be a number from 0",
    ),
    ({**LOCAL, "models": {"m": {"context_window": 0}}}, r"…*context_window: must be a whole number from 1"),
]


@pytest.mark.parametrize(("item", "message"), WRONG_PROVIDERS)
def test_it_names_the_path_of_a_mistake_in_a_provider(item: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message.replace("…", ".")):
        providers(item)
    assert not ProviderConnection.objects.exists()


WRONG_SECRETS = [
    ({"name": "K", "hosts": ["a.example.com"]}, r"secrets\[0\]: a new secret needs value_env"),
    ({"name": "K", "value_env": "OTHER"}, r"secrets\[0\]\.hosts: This field cannot be blank"),
    ({**ORDER, "hosts": ["https://a.example.com"]}, r"secrets\[0\]\.hosts: .*is not a host name"),
    ({**ORDER, "name": "has space"}, r"secrets\[0\]\.name: A name has letters"),
    ({**ORDER, "value": "plain"}, r"secrets\[0\]: unknown key 'value'"),
]


@pytest.mark.parametrize(("item", "message"), WRONG_SECRETS)
def test_it_names_the_path_of_a_mistake_in_a_secret(item: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message):
        secrets(item)
    assert not Secret.objects.exists()


def test_it_refuses_names_that_stand_twice() -> None:
    with pytest.raises(FileError, match=r"providers\[1\]\.name: 'local' is already at providers\[0\]\.name"):
        providers(LOCAL, LOCAL)
    with pytest.raises(FileError, match=r"secrets\[1\]\.name: 'ORDER_KEY' is already"):
        secrets(ORDER, ORDER)
