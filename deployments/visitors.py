"""Who a visitor is: a random token that we issue and keep only as a hash bound to its chat.

Whoever has the token has its conversations of that chat. Nobody can tell that two chats have one visitor.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.http import HttpRequest

from credentials.crypto import keyed_hash
from deployments.carriers import Carrier
from deployments.models import ChatDeployment
from deployments.origins import Site

CARRIER = Carrier("studio_visitor", "X-Studio-Visitor", timedelta(days=180))
_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Visitor:
    """`issued`: the token is new, so its bearer must be told."""

    token: str
    hash: str
    issued: bool


def visitor_of(request: HttpRequest, site: Site, chat: ChatDeployment) -> Visitor | None:
    """Return who brought a token of our making; anything else counts as none."""
    token = CARRIER.read(request, site)
    if token is None or not _TOKEN.fullmatch(token):
        return None
    return Visitor(token, _hash(chat, token), issued=False)


def new_visitor(chat: ChatDeployment) -> Visitor:
    token = secrets.token_hex(16)
    return Visitor(token, _hash(chat, token), issued=True)


def address_hash(address: str, chat: ChatDeployment) -> str:
    """Return what the ledger keeps of a network address."""
    return keyed_hash(f"{chat.id.hex}:{address}", "client address")


def _hash(chat: ChatDeployment, token: str) -> str:
    # No key: the token cannot be guessed, and its conversations outlive a change of keys.
    return hashlib.sha256(f"visitor:{chat.id.hex}:{token}".encode()).hexdigest()
