"""What has to come back is encrypted, what is only compared is hashed; both under keys made from SECRET_KEY.

Every purpose has a key of its own, so a value stored for one can never be read as another. Older secrets
(SECRET_KEY_FALLBACKS) still decrypt and compare; what is written uses the newest.
"""

import base64
import hashlib
import hmac
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class CredentialError(Exception):
    """A stored credential cannot be used. The text is for owners; it never holds a part of a credential."""


def encrypt(text: str, purpose: str) -> str:
    """Return an authenticated ciphertext; the same text never gives the same one twice."""
    return _box(_secrets(), purpose).encrypt(text.encode()).decode()


def decrypt(ciphertext: str, purpose: str) -> str:
    """Raises CredentialError if no known key of this purpose made the ciphertext."""
    try:
        return _box(_secrets(), purpose).decrypt(ciphertext.encode()).decode()
    except (InvalidToken, UnicodeError):
        raise CredentialError(
            "It was encrypted with another key (STUDIO_SECRET_KEY): enter it again."
        ) from None


def keyed_hash(value: str, purpose: str = "compare") -> str:
    """Return the HMAC-SHA256 of a value as 64 hexadecimal digits, made with the newest key."""
    return keyed_hashes(value, purpose)[0]


def keyed_hashes(value: str, purpose: str = "compare") -> list[str]:
    """Return what a stored hash may be: the newest key's first, then those of older keys."""
    return [
        hmac.new(_derive(secret, f"hash:{purpose}"), value.encode(), hashlib.sha256).hexdigest()
        for secret in _secrets()
    ]


def _secrets() -> tuple[str, ...]:
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@lru_cache(maxsize=64)
def _box(secrets: tuple[str, ...], purpose: str) -> MultiFernet:
    keys = (_derive(secret, f"encrypt:{purpose}") for secret in secrets)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])


@lru_cache(maxsize=64)
def _derive(secret: str, label: str) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=f"studio:{label}".encode()).derive(secret.encode())
