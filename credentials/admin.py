"""Credentials in the admin. A stored key is never rendered, searched, logged or copied, only replaced.

The forms' fields are named unlike any attribute of the rows, so that a read-only page cannot look one up.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime

from credentials.crypto import CredentialError
from credentials.models import ProviderConnection, Secret

Row = TypeVar("Row", ProviderConnection, Secret)

_NEVER_SHOWN = forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"})


class ProviderConnectionForm(forms.ModelForm[ProviderConnection]):
    replace_key = forms.CharField(
        label="Key",
        required=False,
        strip=True,
        widget=_NEVER_SHOWN,
        help_text="Stored encrypted and never shown again. Empty keeps the stored key.",
    )
    clear_key = forms.BooleanField(label="Remove the stored key", required=False)

    class Meta:
        model = ProviderConnection
        fields = ["name", "kind", "base_url", "model_overrides"]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("replace_key") and data.get("clear_key"):
            self.add_error("clear_key", "Enter a new key or remove the stored one, not both.")
        return data

    def save(self, commit: bool = True) -> ProviderConnection:
        if key := self.cleaned_data.get("replace_key"):
            self.instance.set_api_key(key)
        elif self.cleaned_data.get("clear_key"):
            self.instance.set_api_key("")
        return super().save(commit)


class HostsField(forms.CharField):
    """A list of hosts, one a line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip().lower() for line in (value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class SecretForm(forms.ModelForm[Secret]):
    hosts = HostsField(
        help_text="One a line, e.g. orders.example.com. The value goes to these and nowhere else."
    )
    replace_value = forms.CharField(
        label="Value",
        required=False,
        strip=False,
        widget=_NEVER_SHOWN,
        help_text="Stored encrypted and never shown again. Empty keeps the stored value.",
    )

    class Meta:
        model = Secret
        fields = ["name", "hosts"]

    def clean_replace_value(self) -> str:
        value: str = self.cleaned_data["replace_value"]
        if not value and not self.instance.value_encrypted:
            raise forms.ValidationError("A new secret needs a value.")
        return value

    def save(self, commit: bool = True) -> Secret:
        if value := self.cleaned_data["replace_value"]:
            self.instance.set_value(value)
        return super().save(commit)


class CredentialAdmin(admin.ModelAdmin[Row]):
    """Who may only look gets no input for a secret, and nothing is copied."""

    save_as = False
    search_fields = ("name",)
    #: Inputs of the form that stand for a secret.
    secret_inputs: tuple[str, ...] = ()
    shown_fields: tuple[str, ...] = ()

    def get_fields(self, request: HttpRequest, obj: Row | None = None) -> list[Any]:
        if obj is None:
            return [*self.shown_fields, self.secret_inputs[0]]
        if self.has_change_permission(request, obj):
            return [*self.shown_fields, "state", *self.secret_inputs]
        return [*self.shown_fields, "state"]


@admin.register(ProviderConnection)
class ProviderConnectionAdmin(CredentialAdmin[ProviderConnection]):
    form = ProviderConnectionForm
    list_display = ("name", "kind", "base_url", "state", "updated_at")
    list_filter = ("kind",)
    readonly_fields = ("state",)
    shown_fields = ("name", "kind", "base_url", "model_overrides")
    secret_inputs = ("replace_key", "clear_key")

    @admin.display(description="Stored key")
    def state(self, row: ProviderConnection) -> str:
        return _state(row.read_api_key, row.api_key_set_at)


@admin.register(Secret)
class SecretAdmin(CredentialAdmin[Secret]):
    form = SecretForm
    list_display = ("name", "host_names", "state", "created_at")
    readonly_fields = ("state",)
    shown_fields = ("name", "hosts")
    secret_inputs = ("replace_value",)

    @admin.display(description="Hosts")
    def host_names(self, row: Secret) -> str:
        return ", ".join(row.hosts)

    @admin.display(description="Stored value")
    def state(self, row: Secret) -> str:
        return _state(row.read_value, row.value_set_at)


def _state(read: Callable[[], str], set_at: datetime | None) -> str:
    """Say whether there is a value, when it was set, and whether it can still be read. Never the value."""
    try:
        if not read():
            return "Not set"
    except CredentialError as error:
        return f"Cannot be read. {error}"
    return f"Set on {date_format(localtime(set_at), 'DATE_FORMAT')}" if set_at else "Set"
