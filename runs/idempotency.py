"""`Idempotency-Key` (agent-events-v1 section 12): the same request twice is one run.

A claim hangs on its run's row: what left no run claims nothing, and a run cancelled by a disconnect gives its
claim back when it ends. It holds for 24 hours, within one credential and one resource.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.crypto import salted_hmac

from runs import ledger
from runs.models import Run
from runs.refusals import Refused
from streaming.codes import RefusalCode
from streaming.events import RunEnded

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)
MAX_KEY = 255


@dataclass(frozen=True)
class Claim:
    """Hashes only: of key, credential and resource together; and of the request that came with them."""

    key: str
    request: str


@dataclass(frozen=True)
class Stored:
    """What the first request of a claim has come to."""

    ended: RunEnded
    conversation_id: str | None


def claim_of(
    header: str | None, *, credential: str, resource: str, body: Mapping[str, Any], negotiated: bool
) -> Claim | None:
    """Return what a request claims; None without the header.

    `credential` is a key's id, or a visitor's hash; `resource` names what is run (`chat:<id>`). A header that
    is empty, not printable ASCII or longer than 255 characters is refused (INVALID_BODY).
    """
    if header is None:
        return None
    key = header.strip()
    if not key or len(key) > MAX_KEY or not key.isascii() or not key.isprintable():
        raise Refused(
            RefusalCode.INVALID_BODY, f"{HEADER} must be 1 to {MAX_KEY} printable ASCII characters."
        )
    return Claim(key=_hash([credential, resource, key]), request=_hash([body, negotiated]))


def settled(claim: Claim, now: datetime) -> Stored | None:
    """Return what the claim's run ended with, or None if the claim is free.

    Raises Refused: another request holds the claim (IDEMPOTENCY_CONFLICT), or its run still goes on
    (IDEMPOTENCY_IN_PROGRESS).
    """
    run = Run.objects.filter(claim=claim.key).first()
    if run is None:
        return None
    if run.created_at < now - KEPT and run.finished_at is not None:
        Run.objects.filter(pk=run.pk).update(claim="", claimed_request="")
        return None
    if run.claimed_request != claim.request:
        raise Refused(RefusalCode.IDEMPOTENCY_CONFLICT)
    if run.finished_at is None:
        raise Refused(RefusalCode.IDEMPOTENCY_IN_PROGRESS)
    return Stored(ledger.outcome(run), run.conversation_id)


def _hash(parts: list[Any]) -> str:
    # Keyed: a body may hold a chat's password, which a plain hash would let a thief of the table guess.
    return salted_hmac("runs.idempotency", json.dumps(parts, sort_keys=True), algorithm="sha256").hexdigest()
