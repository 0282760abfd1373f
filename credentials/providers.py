"""From `provider/model` to a provider that can be asked: stored connections, the environment, the demo.

Queries, and may load the price list: not on an event loop. Providers are cheap to make; `agents.providers`
keeps their HTTP connections by place and key.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.prices import price_of
from agents.providers.registry import UnknownProvider, build_provider
from agents.secrets import Secret as LoadedSecret
from agents.spec import ModelChoice
from credentials.crypto import CredentialError
from credentials.models import ProviderConnection, ProviderKind, Secret

#: Name and kind → the variables of its key and, if it can be moved, its address.
_ENVIRONMENT = {
    ProviderKind.OPENAI: ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ProviderKind.ANTHROPIC: ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    ProviderKind.GEMINI: ("GEMINI_API_KEY", ""),
}


class UnknownModel(CredentialError):
    """No provider answers to this `provider/model`. The text is for owners."""


@dataclass(frozen=True)
class _Connection:
    kind: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    overrides: Mapping[str, Any] = field(default_factory=dict)


def resolve(label: str) -> ModelChoice:
    """Return the model, split at the first slash.

    Raises UnknownModel, or CredentialError for a key that cannot be read.
    """
    name, _, model = label.partition("/")
    if not name or not model:
        raise UnknownModel(f"“{label}” is no model: write provider/model.")
    found = _stored(name) or _from_environment(name, os.environ) or _demo(name)
    if found is None:
        raise UnknownModel(f"There is no provider “{name}” (of the model {label}).")
    try:
        provider = build_provider(found.kind, name, found.base_url, found.api_key)
    except UnknownProvider as error:
        raise UnknownModel(str(error)) from error
    return ModelChoice(
        provider, model, price_of(found.kind, found.base_url, model, found.overrides.get(model))
    )


def load_secrets(names: Iterable[str]) -> dict[str, LoadedSecret]:
    """Return those of these secrets that exist. Raises CredentialError for one that cannot be decrypted."""
    loaded: dict[str, LoadedSecret] = {}
    for row in Secret.objects.filter(name__in=set(names)):
        try:
            loaded[row.name] = LoadedSecret(row.name, row.read_value(), tuple(row.hosts))
        except CredentialError as error:
            raise CredentialError(f"The secret {row.name} cannot be read. {error}") from error
    return loaded


def _stored(name: str) -> _Connection | None:
    row = ProviderConnection.objects.filter(name=name).first()
    if row is None:
        return None
    try:
        key = row.read_api_key()
    except CredentialError as error:
        raise CredentialError(f"The key of the provider {name} cannot be read. {error}") from error
    return _Connection(row.kind, row.base_url, key, row.model_overrides)


def _from_environment(name: str, environment: Mapping[str, str]) -> _Connection | None:
    for kind, (key, base_url) in _ENVIRONMENT.items():
        found = _Connection(kind, environment.get(base_url, ""), environment.get(key, ""))
        if kind == name and (found.api_key or found.base_url):
            return found
    return None


def _demo(name: str) -> _Connection | None:
    return _Connection(ProviderKind.DEMO) if name == ProviderKind.DEMO else None
