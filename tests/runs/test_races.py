"""Two at the same moment: real threads with connections of their own, on whatever database the tests have."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from runs import ledger
from runs.admission import ConversationRef, NewRun, Room, admit_run
from runs.control import ExecutionEnded
from runs.erasure import erase
from runs.idempotency import Claim
from runs.ledger import Finish, finish, request_cancel
from runs.models import ACTIVE, Conversation, Message, RateWindow, Run, Status, Surface
from runs.rates import Rate, count
from runs.refusals import Refused
from streaming.codes import RefusalCode, RunCode
from streaming.events import RunEnded
from tests.runs.conftest import admit, completed, ended, row

pytestmark = pytest.mark.django_db(transaction=True)

T = TypeVar("T")
CHAT = UUID(int=1)
MANY = 8


def at_once(functions: Sequence[Callable[[], T]]) -> list[T | RefusalCode]:
    """Call all at the same moment, each in a thread with its own connection; refusals are results."""
    gate = threading.Barrier(len(functions))

    def call(function: Callable[[], T]) -> T | RefusalCode:
        try:
            gate.wait(10)
            return function()
        except Refused as refused:
            return refused.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(functions)) as pool:
        return list(pool.map(call, functions))


def admitted(results: Sequence[object]) -> int:
    return sum(not isinstance(result, RefusalCode) for result in results)


@pytest.mark.parametrize("most", [1, 3])
def test_it_never_gives_the_last_room_twice(most: int) -> None:
    owner = User.objects.create_user("owner")
    new = NewRun(surface=Surface.CHAT, chat_id=CHAT)
    room = Room({"chat_id": CHAT}, most)

    results = at_once(
        [lambda: admit_run(new, lock=User.objects.filter(pk=owner.pk), rooms=[room])] * MANY,
    )

    assert admitted(results) == most == Run.objects.count()
    assert results.count(RefusalCode.RATE_LIMITED) == MANY - most


def test_it_begins_one_turn_of_a_conversation() -> None:
    conversation = Conversation.objects.create(scope="chat:1", owner="visitor")
    ref = ConversationRef("chat:1", "visitor", id=conversation.pk)

    results = at_once([lambda: admit("Hello", ref)] * MANY)

    assert admitted(results) == 1 == Run.objects.count() == Message.objects.count()
    assert results.count(RefusalCode.CONVERSATION_BUSY) == MANY - 1


def test_it_makes_a_named_conversation_once() -> None:
    results = at_once([lambda: admit("Hello", ConversationRef("key:1", name="orders"))] * MANY)

    assert admitted(results) == 1 == Conversation.objects.count()


def test_it_claims_a_key_once() -> None:
    claim = Claim("k" * 64, "r" * 64)
    new = NewRun(surface=Surface.API)

    results = at_once([lambda: admit_run(new, claim=claim)] * MANY)

    assert admitted(results) == 1 == Run.objects.count()
    assert results.count(RefusalCode.IDEMPOTENCY_IN_PROGRESS) == MANY - 1


def test_it_counts_requests_exactly() -> None:
    now = timezone.now()

    results = at_once([lambda: count([Rate("visitor", 5), Rate("address", 6)], now)] * MANY)

    assert admitted(results) == 5
    assert dict(RateWindow.objects.values_list("key", "count")) == {"visitor": 5, "address": 5}


ENDS: list[ExecutionEnded] = [
    completed(),
    ended(RunCode.RUN_TIMEOUT),
    ended(RunCode.RUN_CANCELLED),
    ended(RunCode.PROVIDER_AUTH),
]


def test_it_ends_once_and_all_who_end_it_say_the_same() -> None:
    for _ in range(10):
        ticket = admit()
        ends = [Finish(ticket.run_id, 1, end) for end in ENDS]

        results = at_once([lambda end=end: finish(end) for end in ends])  # type: ignore[misc]  # bound now

        assert {repr(result) for result in results} == {repr(ledger.outcome(row(ticket.run_id)))}
        assert Message.objects.filter(run_id=ticket.run_id, role="assistant").count() == 1


def test_it_stops_or_ends_but_never_both() -> None:
    for _ in range(10):
        ticket = admit()

        stopped, terminal, _ = at_once(
            [
                lambda ticket=ticket: request_cancel(ticket.run_id),  # type: ignore[misc]  # bound now
                lambda ticket=ticket: finish(Finish(ticket.run_id, 1, completed())),  # type: ignore[misc]
                lambda ticket=ticket: ledger.start({ticket.run_id: 1}),  # type: ignore[misc]
            ]
        )

        assert isinstance(stopped, Run)
        assert isinstance(terminal, RunEnded)
        assert row(ticket.run_id).status == terminal.status
        assert stopped.status in (terminal.status, Status.RUNNING)
        assert Message.objects.filter(run_id=ticket.run_id, role="assistant").count() == 1


def test_it_reaps_a_run_once() -> None:
    tickets = [admit() for _ in range(5)]
    later = timezone.now() + 2 * ledger.LEASE

    reaped = at_once([lambda: ledger.reap(later)] * 4)

    assert sum(number for number in reaped if isinstance(number, int)) == len(tickets)
    assert Message.objects.filter(role="assistant").count() == len(tickets)
    assert not Run.objects.filter(status__in=ACTIVE).exists()


def test_it_ends_a_run_whose_conversation_is_being_erased() -> None:
    for _ in range(10):
        ticket = admit()

        at_once(
            [
                lambda ticket=ticket: finish(Finish(ticket.run_id, 1, completed())),  # type: ignore[misc]
                lambda ticket=ticket: erase(ticket.conversation_id),  # type: ignore[misc]
            ]
        )

        assert row(ticket.run_id).status in (Status.COMPLETED, Status.CANCELLED)
        assert not Message.objects.filter(conversation_id=ticket.conversation_id).exists()
