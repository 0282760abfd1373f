"""Grants are worth something for one chat, one mode and one version of its access settings only."""

import time
from datetime import timedelta

import pytest
from django.contrib.auth.hashers import make_password
from django.test import override_settings

from deployments import access
from deployments.models import AccessMode, ChatDeployment
from tests.deployments.conftest import MakeChat


@pytest.fixture
def locked(make_chat: MakeChat) -> ChatDeployment:
    return make_chat(access_mode=AccessMode.PASSWORD, password_hash=make_password("open sesame"))


def test_it_takes_its_own_grant(locked: ChatDeployment) -> None:
    assert access.is_granted(locked, access.grant(locked))


@pytest.mark.parametrize("token", [None, "", "grant", "grant::", "a:b:c", ":::", "\x00", "é", "x" * 10_000])
def test_it_takes_no_invented_grant(locked: ChatDeployment, token: str | None) -> None:
    assert not access.is_granted(locked, token)


def test_b123_any_change_of_a_grant_ends_it(locked: ChatDeployment) -> None:
    token = access.grant(locked)
    changed = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    assert not any(access.is_granted(locked, other) for other in changed)


def test_b123_a_grant_opens_no_other_chat(locked: ChatDeployment, make_chat: MakeChat) -> None:
    other = make_chat("other", access_mode=AccessMode.PASSWORD, password_hash=locked.password_hash)
    assert not access.is_granted(other, access.grant(locked))


def test_b123_a_grant_is_over_after_seven_days(
    locked: ChatDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = access.grant(locked)
    now = time.time()
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + timedelta(days=7).total_seconds() - 5)
    assert access.is_granted(locked, token)
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + timedelta(days=7).total_seconds() + 5)
    assert not access.is_granted(locked, token)


def test_a_grant_outlives_a_rotated_key_while_the_old_one_is_known(locked: ChatDeployment) -> None:
    with override_settings(SECRET_KEY="old" * 20, SECRET_KEY_FALLBACKS=[]):
        token = access.grant(locked)
    with override_settings(SECRET_KEY="new" * 20, SECRET_KEY_FALLBACKS=["old" * 20]):
        assert access.is_granted(locked, token)
    with override_settings(SECRET_KEY="new" * 20, SECRET_KEY_FALLBACKS=[]):
        assert not access.is_granted(locked, token)


@pytest.mark.parametrize(
    "change",
    [
        {"password_hash": make_password("another")},
        {"access_mode": AccessMode.EMAIL},
        {"allowed_emails": ["@example.com"]},
        {"identity_key_encrypted": "…"},
    ],
)
def test_changing_who_may_enter_ends_every_grant(locked: ChatDeployment, change: dict[str, object]) -> None:
    token = access.grant(locked)
    for field, value in change.items():
        setattr(locked, field, value)
    locked.save()
    locked.refresh_from_db()
    assert not access.is_granted(locked, token)


def test_going_back_to_the_old_settings_revives_no_grant(locked: ChatDeployment) -> None:
    token = access.grant(locked)
    for mode in (AccessMode.PUBLIC, AccessMode.PASSWORD):
        locked.access_mode = mode
        locked.save()
    assert not access.is_granted(locked, token)


def test_saving_a_stale_copy_brings_no_old_version_back(locked: ChatDeployment) -> None:
    token = access.grant(locked)
    stale = ChatDeployment.objects.get(pk=locked.pk)
    locked.password_hash = make_password("another")
    locked.save()
    stale.title = "Renamed"
    stale.save(update_fields=["title"])
    locked.refresh_from_db()
    assert not access.is_granted(locked, token)
    stale.save()
    locked.refresh_from_db()
    assert not access.is_granted(locked, token)


def test_saving_only_the_password_ends_every_grant(locked: ChatDeployment) -> None:
    token = access.grant(locked)
    locked.password_hash = make_password("another")
    locked.save(update_fields=["password_hash"])
    locked.refresh_from_db()
    assert not access.is_granted(locked, token)


def test_changing_words_or_toggles_ends_no_grant(locked: ChatDeployment) -> None:
    token = access.grant(locked)
    locked.include_thinking = True
    locked.title = "Help"
    locked.save()
    assert access.is_granted(locked, token)


def test_it_compares_passwords(locked: ChatDeployment) -> None:
    assert access.password_matches(locked, "open sesame")
    assert not access.password_matches(locked, "open sesame ")


def test_without_a_password_set_every_password_is_wrong(make_chat: MakeChat) -> None:
    bare = make_chat(access_mode=AccessMode.PASSWORD)
    assert not access.password_matches(bare, "")


def test_a_chat_without_a_password_costs_a_hash_as_well(
    make_chat: MakeChat, locked: ChatDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = make_chat("bare", access_mode=AccessMode.PASSWORD)
    hashed: list[str] = []
    monkeypatch.setattr(access, "make_password", lambda password: hashed.append(password))
    access.password_matches(bare, "guess")
    assert hashed == ["guess"]


@pytest.mark.parametrize("mode", [AccessMode.PUBLIC, AccessMode.EMAIL, AccessMode.JWT])
def test_only_a_password_chat_takes_a_password(make_chat: MakeChat, mode: AccessMode) -> None:
    assert not access.takes_password(make_chat(access_mode=mode))
