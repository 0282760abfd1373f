import json

import pytest
from django.contrib.auth.models import Group, User
from django.test import AsyncClient, Client
from hypothesis import given
from hypothesis import strategies as st

from audit import actor, tracking
from audit.models import AuditEntry


@pytest.fixture
def tracked_groups(db: None) -> None:
    """Any model will do: Django's own groups."""
    tracking.track(Group, "group", ("name",))


@pytest.mark.usefixtures("tracked_groups")
class TestTracking:
    def test_it_records_what_was_added_changed_and_deleted(self) -> None:
        group = Group.objects.create(name="Editors")
        group.name = "Writers"
        group.save()
        key = str(group.pk)
        group.delete()
        found = [
            (entry.action, entry.object_id, entry.changes) for entry in AuditEntry.objects.order_by("id")
        ]
        assert found == [
            ("added", key, {"name": [None, "Editors"]}),
            ("changed", key, {"name": ["Editors", "Writers"]}),
            ("deleted", key, {}),
        ]

    def test_it_records_nothing_when_nothing_changed(self) -> None:
        group = Group.objects.create(name="Editors")
        group.save()
        assert AuditEntry.objects.count() == 1

    def test_it_names_the_command_that_acted(self) -> None:
        with actor.acting_as("studio file"):
            Group.objects.create(name="Editors")
        assert AuditEntry.objects.get().actor_name == "studio file"

    def test_it_names_the_person_who_used_the_admin(self, owner: User, client: Client) -> None:
        client.force_login(owner)
        client.post("/admin/auth/group/add/", {"name": "Editors", "permissions": []})
        entry = AuditEntry.objects.get()
        assert (entry.actor, entry.actor_name) == (owner, "owner")

    def test_it_exports_inert_cells(self, owner: User, client: Client) -> None:
        Group.objects.create(name="=HYPERLINK(1)")
        client.force_login(owner)
        selected = list(AuditEntry.objects.values_list("pk", flat=True))
        answer = client.post(
            "/admin/audit/auditentry/", {"action": "export_csv", "_selected_action": selected}
        )
        text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
        assert "'=HYPERLINK(1)" in text


@pytest.mark.django_db(transaction=True)
async def test_it_names_the_person_also_under_asgi(async_client: AsyncClient) -> None:
    tracking.track(Group, "group", ("name",))
    await async_client.aforce_login(await User.objects.acreate_superuser("owner", "", "owner password"))
    await async_client.post("/admin/auth/group/add/", {"name": "Editors", "permissions": []})
    entry = await AuditEntry.objects.aget()
    assert entry.actor_name == "owner"


secret_values = st.text(min_size=1)


@given(old=secret_values, new=secret_values)
def test_it_never_stores_a_secret_value(old: str, new: str) -> None:
    changes = tracking.differences({"key": old}, {"key": new}, ("key",))
    assert changes == ({} if old == new else {"key": "changed"})
    assert json.dumps(tracking.differences(None, {"key": new}, ("key",))) == '{"key": "changed"}'
