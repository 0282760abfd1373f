"""Credentials in the admin: whatever page is asked for, by whomever, holds no stored key."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client, override_settings
from django.urls import reverse

from credentials.models import ProviderConnection, Secret

pytestmark = pytest.mark.django_db

KEY = "sk-PLANTED-1234567890"
PAGES = ["changelist", "change", "history", "delete"]


@pytest.fixture
def provider() -> ProviderConnection:
    row = ProviderConnection(name="local", kind="openai-compat", base_url="http://127.0.0.1:9000/v1")
    row.set_api_key(KEY)
    row.save()
    return row


@pytest.fixture
def secret() -> Secret:
    row = Secret(name="ORDER_KEY", hosts=["orders.example.com"])
    row.set_value(KEY)
    row.save()
    return row


@pytest.fixture
def as_owner(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def as_viewer(staff: User) -> Client:
    staff.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = Client()
    client.force_login(staff)
    return client


def address(row: Any, page: str) -> str:
    args = [] if page in ("changelist", "add") else [row.pk]
    return reverse(f"admin:credentials_{row._meta.model_name}_{page}", args=args)


def provider_form(**changes: str) -> dict[str, str]:
    return {
        "name": "local",
        "kind": "openai-compat",
        "base_url": "http://127.0.0.1:9000/v1",
        "model_overrides": "{}",
        "replace_key": "",
        **changes,
    }


def saved_with(client: Client, row: ProviderConnection, **changes: str) -> ProviderConnection:
    answer = client.post(address(row, "change"), provider_form(**changes))
    assert answer.status_code == 302, answer.content.decode()
    return ProviderConnection.objects.get(pk=row.pk)


@pytest.mark.parametrize("page", PAGES)
def test_b143_no_page_of_an_owner_holds_a_stored_key(
    page: str, as_owner: Client, provider: ProviderConnection, secret: Secret
) -> None:
    for row in (provider, secret):
        answer = as_owner.get(address(row, page)).content.decode()
        assert "PLANTED" not in answer
        assert "gAAAA" not in answer


@pytest.mark.parametrize("page", ["changelist", "change", "history"])
def test_b146_who_may_only_look_sees_no_more_than_an_editor(
    page: str, as_viewer: Client, provider: ProviderConnection, secret: Secret
) -> None:
    for row in (provider, secret):
        answer = as_viewer.get(address(row, page))
        assert answer.status_code == 200
        assert "PLANTED" not in answer.content.decode()
        assert "gAAAA" not in answer.content.decode()
        assert "replace_" not in answer.content.decode()
    assert as_viewer.post(address(provider, "change"), provider_form()).status_code == 403


@pytest.mark.parametrize("query", ["PLANTED", KEY, "gAAAA"])
def test_b143_a_search_does_not_find_a_key(
    query: str, as_owner: Client, provider: ProviderConnection
) -> None:
    answer = as_owner.get(address(provider, "changelist"), {"q": query})
    assert "0 providers" in answer.content.decode() or answer.context["cl"].result_count == 0


def test_b145_an_untouched_form_keeps_the_key(as_owner: Client, provider: ProviderConnection) -> None:
    assert saved_with(as_owner, provider).read_api_key() == KEY


def test_b145_a_new_key_replaces_the_old_one(as_owner: Client, provider: ProviderConnection) -> None:
    assert saved_with(as_owner, provider, replace_key=" sk-new ").read_api_key() == "sk-new"
    assert not any("sk-new" in entry.change_message for entry in LogEntry.objects.all())


def test_b145_the_key_is_removed_only_on_demand(as_owner: Client, provider: ProviderConnection) -> None:
    row = saved_with(as_owner, provider, clear_key="on")
    assert (row.read_api_key(), row.api_key_set_at) == ("", None)


def test_b145_a_new_key_and_its_removal_exclude_each_other(
    as_owner: Client, provider: ProviderConnection
) -> None:
    answer = as_owner.post(address(provider, "change"), provider_form(replace_key="sk-new", clear_key="on"))
    assert "not both" in answer.content.decode()
    assert "sk-new" not in answer.content.decode()


def test_b145_save_as_new_is_not_offered_and_neither_copies_nor_loses_a_key(
    as_owner: Client, provider: ProviderConnection
) -> None:
    assert "_saveasnew" not in as_owner.get(address(provider, "change")).content.decode()
    as_owner.post(address(provider, "change"), provider_form(name="copy", _saveasnew="1"))
    keys = {row.name: row.read_api_key() for row in ProviderConnection.objects.all()}
    assert keys == {"local": KEY, "copy": ""}


def test_it_does_not_repeat_a_key_when_the_form_has_another_mistake(as_owner: Client) -> None:
    answer = as_owner.post(
        reverse("admin:credentials_providerconnection_add"), provider_form(name="", replace_key="sk-typed")
    )
    assert answer.status_code == 200
    assert "sk-typed" not in answer.content.decode()


def test_it_says_whether_there_is_a_key_and_whether_it_can_be_read(
    as_owner: Client, provider: ProviderConnection
) -> None:
    assert "Set on" in as_owner.get(address(provider, "change")).content.decode()
    ProviderConnection.objects.update(api_key_encrypted="gAAAAnonsense")
    assert "enter it again" in as_owner.get(address(provider, "change")).content.decode()
    ProviderConnection.objects.update(api_key_encrypted="")
    assert "Not set" in as_owner.get(address(provider, "change")).content.decode()


def test_it_asks_for_the_value_of_a_new_secret_and_keeps_it_afterwards(as_owner: Client) -> None:
    add = reverse("admin:credentials_secret_add")
    form = {"name": "ORDER_KEY", "hosts": "Orders.example.com\n\n localhost:9000 ", "replace_value": ""}
    assert "A new secret needs a value" in as_owner.post(add, form).content.decode()
    assert as_owner.post(add, {**form, "replace_value": " s3cret "}).status_code == 302
    row = Secret.objects.get()
    assert (row.read_value(), row.hosts) == (" s3cret ", ["orders.example.com", "localhost:9000"])
    assert as_owner.post(address(row, "change"), form).status_code == 302
    assert Secret.objects.get().read_value() == " s3cret "


@pytest.mark.parametrize("text", ['[{"a":1},]', '{"m": NaN', "2026", '{"m": {"price": {"input": "1"}}}'])
def test_b148_json_with_a_mistake_comes_back_as_it_was_typed(text: str, as_owner: Client) -> None:
    from html import unescape

    add = reverse("admin:credentials_providerconnection_add")
    for _ in range(2):
        answer = as_owner.post(add, provider_form(model_overrides=text))
        assert answer.status_code == 200
        assert text in unescape(answer.content.decode())


def test_it_shows_the_admin_after_the_secret_key_was_lost(
    as_owner: Client, owner: User, provider: ProviderConnection
) -> None:
    with override_settings(SECRET_KEY="another " * 8, SECRET_KEY_FALLBACKS=[]):
        as_owner.force_login(owner)
        answer = as_owner.get(address(provider, "changelist"))
        assert "Cannot be read" in answer.content.decode()
