"""Encrypting what comes back, hashing what is compared, one key a purpose, and rotation."""

import pytest
from django.test import override_settings

from credentials.crypto import CredentialError, decrypt, encrypt, keyed_hash, keyed_hashes

OLD, NEW = "o" * 50, "n" * 50


def test_it_gives_back_what_it_encrypted() -> None:
    ciphertext = encrypt("sk-ключ-🔑", "provider-key")
    assert decrypt(ciphertext, "provider-key") == "sk-ключ-🔑"
    assert "sk-" not in ciphertext


def test_it_never_encrypts_alike() -> None:
    assert encrypt("same", "p") != encrypt("same", "p")


@pytest.mark.parametrize("ciphertext", ["", "nonsense", "gAAAAAB", "ключ"])
def test_it_says_what_to_do_about_a_ciphertext_of_another_key(ciphertext: str) -> None:
    with pytest.raises(CredentialError, match=r"encrypted with another key .*: enter it again") as caught:
        decrypt(ciphertext, "p")
    assert caught.value.__cause__ is None


def test_it_keeps_purposes_apart() -> None:
    with pytest.raises(CredentialError):
        decrypt(encrypt("value", "one"), "two")
    assert keyed_hash("value", "one") != keyed_hash("value", "two")


def test_it_reads_with_older_keys_and_writes_with_the_newest() -> None:
    with override_settings(SECRET_KEY=OLD, SECRET_KEY_FALLBACKS=[]):
        ciphertext, stored = encrypt("value", "p"), keyed_hash("visitor", "v")
    with override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[OLD]):
        assert decrypt(ciphertext, "p") == "value"
        newest, *older = keyed_hashes("visitor", "v")
        assert keyed_hash("visitor", "v") == newest != stored
        assert older == [stored]
        fresh = encrypt("value", "p")
    with override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[]):
        assert decrypt(fresh, "p") == "value"
        with pytest.raises(CredentialError):
            decrypt(ciphertext, "p")


def test_it_hashes_the_same_value_the_same_way() -> None:
    assert keyed_hash("203.0.113.7") == keyed_hash("203.0.113.7")
    assert len(keyed_hash("")) == 64
