"""The sections `providers` and `secrets` of the studio file. Values come from the environment only."""

from typing import Any

from credentials.crypto import CredentialError
from credentials.declare import (
    Change,
    Context,
    FileError,
    Item,
    Outcome,
    entries,
    env_value,
    refuse_twins,
    store,
)
from credentials.models import ProviderConnection, ProviderKind, Secret
from credentials.overrides import check_overrides


def apply_providers(section: object, path: str, context: Context) -> list[Change]:
    """Create or update the named connections. A key that is not named stays as it is stored."""
    optional = ("base_url", "api_key_env", "models")
    items = [
        Item(value, at, required=("name", "kind"), optional=optional) for value, at in entries(section, path)
    ]
    refuse_twins((item.text("name"), item.at("name")) for item in items)
    return [_apply_provider(item, context) for item in items]


def _apply_provider(item: Item, context: Context) -> Change:
    name = item.text("name")
    row = ProviderConnection.objects.filter(name=name).first() or ProviderConnection(name=name)
    values: dict[str, Any] = {"kind": item.choice("kind", ProviderKind.values)}
    if "base_url" in item:
        values["base_url"] = item.text_or_none("base_url") or ""
    if "models" in item:
        values["model_overrides"] = check_overrides(item.raw("models"), item.at("models"))
    key = env_value(context, item, "api_key_env")
    return _store(row, values, item.path, key_changed=key is not None and _set_key(row, key))


def apply_secrets(section: object, path: str, context: Context) -> list[Change]:
    """Create or update the named secrets. A value that is not named stays as it is stored."""
    items = [
        Item(value, at, required=("name",), optional=("value_env", "hosts"))
        for value, at in entries(section, path)
    ]
    refuse_twins((item.text("name"), item.at("name")) for item in items)
    return [_apply_secret(item, context) for item in items]


def _apply_secret(item: Item, context: Context) -> Change:
    name = item.text("name")
    row = Secret.objects.filter(name=name).first() or Secret(name=name)
    values = {"hosts": [host.lower() for host in item.texts("hosts")]} if "hosts" in item else {}
    value = env_value(context, item, "value_env")
    if value is None and not row.value_encrypted:
        raise FileError(item.path, "a new secret needs value_env, the variable that holds its value.")
    return _store(row, values, item.path, key_changed=value is not None and _set_value(row, value))


def _set_key(row: ProviderConnection, key: str) -> bool:
    """Set the key if it differs from the stored one, and say whether it did."""
    try:
        differs = row.read_api_key() != key
    except CredentialError:
        differs = True
    if differs:
        row.set_api_key(key)
    return differs


def _set_value(row: Secret, value: str) -> bool:
    try:
        differs = not row.value_encrypted or row.read_value() != value
    except CredentialError:
        differs = True
    if differs:
        row.set_value(value)
    return differs


def _store(
    row: ProviderConnection | Secret, values: dict[str, Any], path: str, *, key_changed: bool
) -> Change:
    change = store(row, values, path, name=row.name)
    if change.outcome is Outcome.UNCHANGED and key_changed:
        row.save()
        return Change(path, row.name, Outcome.UPDATED)
    return change


def export_providers() -> list[dict[str, Any]]:
    return [
        {"name": row.name, "kind": row.kind}
        | ({"base_url": row.base_url} if row.base_url else {})
        | ({"models": row.model_overrides} if row.model_overrides else {})
        for row in ProviderConnection.objects.all()
    ]


def export_secrets() -> list[dict[str, Any]]:
    return [{"name": row.name, "hosts": row.hosts} for row in Secret.objects.all()]
