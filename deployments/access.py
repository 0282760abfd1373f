"""Getting in: passwords and grants. A grant is signed for one chat, one mode and one version of its settings.

So a grant of another chat, mode or older password is worth nothing, and nothing about grants is stored.
"""

from datetime import timedelta
from typing import assert_never

from django.contrib.auth.hashers import check_password, make_password
from django.core import signing

from deployments.carriers import Carrier
from deployments.models import AccessMode, ChatDeployment

CARRIER = Carrier("studio_access", "X-Studio-Access", timedelta(days=7))
#: One address may try this many passwords of one chat in a minute.
PASSWORDS_PER_MINUTE = 10
#: Longer ones are refused before they are hashed.
MAX_PASSWORD_CHARS = 1000


def is_open(chat: ChatDeployment) -> bool:
    """Whether everybody may use this chat."""
    return chat.access_mode == AccessMode.PUBLIC


def grant(chat: ChatDeployment) -> str:
    """Return a new grant; it holds until its lifetime is over or the chat's access settings change."""
    return _signer(chat).sign("grant")


def is_granted(chat: ChatDeployment, token: str | None) -> bool:
    """Whether `token` is a grant for this chat as it is now."""
    if not token:
        return False
    try:
        _signer(chat).unsign(token, max_age=CARRIER.lifetime)
    except signing.BadSignature:
        return False
    return True


def takes_password(chat: ChatDeployment) -> bool:
    """Whether a password is this chat's way in. A mode without a way in yet stays shut."""
    match AccessMode(chat.access_mode):
        case AccessMode.PASSWORD:
            return True
        case AccessMode.PUBLIC | AccessMode.EMAIL | AccessMode.JWT:
            return False
        case unknown:
            assert_never(unknown)


def password_matches(chat: ChatDeployment, password: str) -> bool:
    """Compare in constant time, also where no password was set. Slow by design: ask after the rate limit."""
    if not chat.password_hash:
        make_password(password)
        return False
    return check_password(password, chat.password_hash)


def _signer(chat: ChatDeployment) -> signing.TimestampSigner:
    return signing.TimestampSigner(
        salt=f"deployments.access:{chat.id.hex}:{chat.access_mode}:{chat.access_version}"
    )
