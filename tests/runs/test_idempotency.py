"""The same request twice is one run; what claims nothing can come again."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs.admission import ConversationRef, NewRun, Ticket, admit_run
from runs.idempotency import KEPT, Claim, claim_of, settled
from runs.ledger import Finish, finish
from runs.models import Run, Surface
from runs.refusals import Refused
from streaming.codes import RefusalCode, RunCode
from tests.runs.conftest import completed, ended, row

pytestmark = pytest.mark.django_db

BODY = {"input": "Hello", "conversationId": None}


def claim(header: str = "key-1", **changes: Any) -> Claim:
    values: dict[str, Any] = {"credential": "v", "resource": "chat:1", "body": BODY, "negotiated": True}
    made = claim_of(header, **values | changes)
    assert made is not None
    return made


def admit(claimed: Claim) -> Ticket:
    ref = ConversationRef("chat:1", "v")
    return admit_run(NewRun(surface=Surface.CHAT, said="Hello"), conversation=ref, claim=claimed)


def refusal(claimed: Claim) -> RefusalCode:
    before = Run.objects.count()
    with pytest.raises(Refused) as refused:
        admit(claimed)
    assert Run.objects.count() == before
    return refused.value.code


def test_it_claims_nothing_without_the_header() -> None:
    assert claim_of(None, credential="v", resource="r", body={}, negotiated=False) is None


@pytest.mark.parametrize("header", ["", "  ", "é", "a\x00b", "a\nb", "x" * 256])
def test_it_refuses_a_key_that_is_none(header: str) -> None:
    with pytest.raises(Refused) as refused:
        claim(header)
    assert refused.value.code is RefusalCode.INVALID_BODY


def test_it_says_that_the_first_request_still_runs() -> None:
    admit(claim())

    with pytest.raises(Refused) as refused:
        settled(claim(), timezone.now())
    assert refused.value.code is RefusalCode.IDEMPOTENCY_IN_PROGRESS
    assert refused.value.retry_after == 1
    assert refusal(claim()) is RefusalCode.IDEMPOTENCY_IN_PROGRESS


def test_it_returns_what_the_first_request_came_to() -> None:
    ticket = admit(claim())
    terminal = finish(Finish(ticket.run_id, 1, completed()))

    stored = settled(claim(), timezone.now())

    assert stored is not None
    assert (stored.ended, stored.conversation_id) == (terminal, ticket.conversation_id)


@pytest.mark.parametrize("code", [RunCode.PROVIDER_AUTH, RunCode.RUN_TIMEOUT, RunCode.RUN_CANCELLED])
def test_it_returns_a_failure_as_well(code: RunCode) -> None:
    finish(Finish(admit(claim()).run_id, 1, ended(code)))

    stored = settled(claim(), timezone.now())

    assert stored is not None
    assert stored.ended.code is code


@pytest.mark.parametrize("changes", [{"body": {"input": "Other"}}, {"negotiated": False}])
def test_it_refuses_another_request_under_the_same_key(changes: Mapping[str, Any]) -> None:
    finish(Finish(admit(claim()).run_id, 1, completed()))

    with pytest.raises(Refused) as refused:
        settled(claim(**changes), timezone.now())
    assert refused.value.code is RefusalCode.IDEMPOTENCY_CONFLICT


@pytest.mark.parametrize("changes", [{"credential": "w"}, {"resource": "chat:2"}, {"header": "key-2"}])
def test_it_keeps_keys_of_others_apart(changes: Mapping[str, Any]) -> None:
    admit(claim())

    assert settled(claim(**changes), timezone.now()) is None
    assert admit(claim(**changes)).run_id


def test_it_does_not_mind_the_order_of_keys_in_a_body() -> None:
    assert claim(body={"a": 1, "b": 2}) == claim(body={"b": 2, "a": 1})


def test_it_claims_nothing_for_a_client_that_left() -> None:
    ticket = admit(claim())
    finish(Finish(ticket.run_id, 1, ended(RunCode.RUN_CANCELLED), release=True))

    assert settled(claim(), timezone.now()) is None
    assert admit(claim()).run_id != ticket.run_id


def test_it_is_free_again_after_a_day() -> None:
    ticket = admit(claim())
    finish(Finish(ticket.run_id, 1, completed()))

    later = timezone.now() + KEPT + timedelta(seconds=1)
    assert settled(claim(body={"input": "Other"}), later) is None
    assert row(ticket.run_id).claim == ""


def test_it_stores_neither_key_nor_body() -> None:
    ticket = admit(claim("a-secret-key", body={"password": "MAPLE-31"}))

    run = row(ticket.run_id)
    assert len(run.claim) == len(run.claimed_request) == 64
    assert "MAPLE" not in run.claimed_request
