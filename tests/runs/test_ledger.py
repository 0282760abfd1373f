"""A run ends once; everybody who ends it says what its row says."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.conversation import AssistantMessage, UserMessage
from runs import ledger
from runs.admission import ConversationRef, Ticket
from runs.control import ExecutionEnded
from runs.ledger import Finish, extend_leases, finish, reap, request_cancel, requested_cancels, start
from runs.models import Conversation, Message, Run, Status
from streaming.codes import RunCode
from streaming.events import RunEnded, RunStatus, Usage
from tests.runs.conftest import USED, admit, completed, ended, row

pytestmark = pytest.mark.django_db


def end(
    ticket: Ticket, how: ExecutionEnded, *, attempt: int | None = None, release: bool = False
) -> RunEnded:
    return finish(Finish(ticket.run_id, attempt or ticket.attempt, how, release=release))


def answers(ticket: Ticket) -> list[tuple[str, str]]:
    messages = Message.objects.filter(conversation_id=ticket.conversation_id, role=Message.Role.ASSISTANT)
    return list(messages.values_list("content", "status"))


def expire(ticket: Ticket) -> None:
    Run.objects.filter(pk=ticket.run_id).update(lease_until=timezone.now() - timedelta(seconds=1))


# --- Begin and life -----------------------------------------------------------------------------------------


def test_it_starts_only_what_is_queued_and_ours() -> None:
    queued, stopped, taken = admit(), admit(), admit()
    request_cancel(stopped.run_id)
    Run.objects.filter(pk=taken.run_id).update(attempt=2)

    assert start({ticket.run_id: 1 for ticket in (queued, stopped, taken)}) == {queued.run_id}
    assert row(queued.run_id).status == Status.RUNNING
    assert row(queued.run_id).started_at is not None
    assert row(taken.run_id).status == Status.QUEUED


def test_it_says_again_that_a_running_run_may_go_on() -> None:
    ticket = admit()
    start({ticket.run_id: 1})
    began = row(ticket.run_id).started_at

    assert start({ticket.run_id: 1}) == {ticket.run_id}
    assert row(ticket.run_id).started_at == began


def test_it_renews_leases_of_live_runs_and_names_the_lost() -> None:
    live, over, taken = admit(), admit(), admit()
    for ticket in (live, over, taken):
        expire(ticket)
    end(over, completed())
    Run.objects.filter(pk=taken.run_id).update(attempt=2)

    lost = extend_leases({live.run_id: 1, over.run_id: 1, taken.run_id: 1, "run_erased": 1})

    assert lost == {over.run_id, taken.run_id, "run_erased"}
    assert row(live.run_id).lease_until > timezone.now() + timedelta(seconds=20)
    assert row(taken.run_id).lease_until < timezone.now()


# --- End ----------------------------------------------------------------------------------------------------


def test_it_keeps_everything_of_a_completed_run() -> None:
    ticket = admit()
    start({ticket.run_id: 1})

    terminal = end(ticket, completed(tool_calls=2, rounds=3))

    run = row(ticket.run_id)
    assert terminal == RunEnded(
        run_id=ticket.run_id,
        status=RunStatus.COMPLETED,
        success=True,
        code=None,
        detail="",
        outputs={"agent_1": {"content": "Forty-two."}},
        terminal_blocks=["agent_1"],
        duration_ms=terminal.duration_ms,
    )
    assert (run.rounds, run.tool_calls, run.cost, run.stop_reason) == (3, 2, 0.25, "end_turn")
    assert run.usage["input_tokens"] == 7
    assert run.finished_at is not None


@pytest.mark.parametrize(
    ("code", "status", "mark"),
    [
        (RunCode.RUN_CANCELLED, Status.CANCELLED, Message.State.STOPPED),
        (RunCode.RUN_TIMEOUT, Status.FAILED, Message.State.FAILED),
        (RunCode.RUN_INTERRUPTED, Status.FAILED, Message.State.FAILED),
        (RunCode.PROVIDER_OVERLOADED, Status.FAILED, Message.State.FAILED),
        (RunCode.TOOL_FAILURE_LIMIT, Status.FAILED, Message.State.FAILED),
    ],
)
def test_it_leaves_a_mark_without_text_where_there_is_no_answer(
    code: RunCode, status: Status, mark: Message.State
) -> None:
    ticket = admit()

    terminal = end(ticket, completed(code=code, detail="the literal reason", answer="partial"))

    assert (terminal.code, terminal.success, terminal.status) == (code, False, status.value)
    assert row(ticket.run_id).detail == "the literal reason"
    assert answers(ticket) == [("", mark)]


def test_it_remembers_nothing_of_a_run_without_an_answer_for_memory() -> None:
    ticket = admit()

    end(ticket, completed(answer=None))

    assert answers(ticket) == []


@pytest.mark.parametrize("code", RunCode)
def test_it_knows_the_status_of_every_code(code: RunCode) -> None:
    expected = Status.CANCELLED if code is RunCode.RUN_CANCELLED else Status.FAILED

    assert ledger.status_of(code) == expected
    assert ledger.status_of(None) == Status.COMPLETED


def test_it_refuses_a_terminal_of_a_run_that_goes_on() -> None:
    with pytest.raises(ValueError, match="has not ended"):
        ledger.outcome(row(admit().run_id))


def test_it_fences_an_end_by_attempt() -> None:
    ticket = admit()
    Run.objects.filter(pk=ticket.run_id).update(attempt=2, status=Status.RUNNING)

    with pytest.raises(ValueError, match="has not ended"):
        end(ticket, completed(), attempt=1)

    assert row(ticket.run_id).status == Status.RUNNING
    assert answers(ticket) == []
    assert end(ticket, completed(), attempt=2).success


def test_it_says_that_a_run_was_erased() -> None:
    ticket = admit()
    Run.objects.all().delete()

    with pytest.raises(Run.DoesNotExist):
        end(ticket, completed())


def test_it_writes_into_no_conversation_that_was_erased() -> None:
    ticket = admit()
    Conversation.objects.all().delete()

    assert end(ticket, completed()).success
    assert Message.objects.count() == 0


def test_it_counts_what_a_loser_has_used() -> None:
    ticket = admit()
    request_cancel(ticket.run_id)

    terminal = end(ticket, completed())

    assert terminal.status is RunStatus.CANCELLED
    assert terminal.outputs == {}
    assert row(ticket.run_id).usage["total_tokens"] == USED.total_tokens
    assert row(ticket.run_id).cost == 0.25


def test_it_does_not_count_twice() -> None:
    ticket = admit()
    end(ticket, completed())

    end(ticket, completed(usage=Usage(input_tokens=99), rounds=9))

    assert row(ticket.run_id).rounds == 1


def test_b062_it_stores_what_neither_database_takes() -> None:
    bad = "a\x00b\ud800c"
    ticket = admit(said=bad)

    terminal = end(ticket, completed(answer=bad, detail=bad, outputs={bad: {"x": [bad, float("nan")]}}))

    good = "a\ufffdb\ufffdc"
    assert terminal.outputs == {good: {"x": [good, None]}}
    assert list(Message.objects.values_list("content", flat=True)) == [good, good]
    follow_up = admit("next", ConversationRef("chat:1", "visitor", id=str(ticket.conversation_id)))
    assert follow_up.history == (UserMessage(good), AssistantMessage(good))


# --- Cancel and reap ----------------------------------------------------------------------------------------


def test_it_stops_a_queued_run_at_once() -> None:
    ticket = admit()

    run = request_cancel(ticket.run_id)

    assert run is not None
    assert (run.status, run.code, run.stop_reason) == (Status.CANCELLED, RunCode.RUN_CANCELLED, "cancelled")
    assert answers(ticket) == [("", Message.State.STOPPED)]


def test_it_asks_a_running_run_to_stop() -> None:
    ticket, other = admit(), admit()
    start({ticket.run_id: 1, other.run_id: 1})

    run = request_cancel(ticket.run_id)

    assert run is not None
    assert run.status == Status.RUNNING
    assert requested_cancels() == {ticket.run_id}


def test_it_may_be_asked_again_and_after_the_end() -> None:
    ticket = admit()
    start({ticket.run_id: 1})
    end(ticket, completed())

    for _ in range(2):
        run = request_cancel(ticket.run_id)
        assert run is not None
        assert run.status == Status.COMPLETED
    assert requested_cancels() == set()
    assert request_cancel("run_unknown") is None


def test_it_reaps_runs_whose_lease_is_over() -> None:
    left, orphan, live = admit(), admit(), admit()
    start({orphan.run_id: 1, live.run_id: 1})
    expire(left)
    expire(orphan)

    assert reap(timezone.now()) == 2

    assert (row(left.run_id).status, row(left.run_id).code) == (Status.CANCELLED, RunCode.RUN_CANCELLED)
    assert row(left.run_id).detail == "The visitor left before the answer began."
    assert (row(orphan.run_id).status, row(orphan.run_id).code) == (Status.FAILED, RunCode.RUN_INTERRUPTED)
    assert row(live.run_id).status == Status.RUNNING
    assert answers(left) == [("", Message.State.STOPPED)]
    assert answers(orphan) == [("", Message.State.FAILED)]
    assert reap(timezone.now()) == 0


def test_it_reaps_a_run_that_was_asked_to_stop_as_stopped() -> None:
    ticket = admit()
    start({ticket.run_id: 1})
    request_cancel(ticket.run_id)
    expire(ticket)

    assert reap(timezone.now()) == 1
    assert row(ticket.run_id).status == Status.CANCELLED


def test_b067_it_counts_what_a_reaped_run_has_used_when_it_wakes_up() -> None:
    ticket = admit()
    start({ticket.run_id: 1})
    expire(ticket)
    reap(timezone.now())

    estimate = Usage(input_tokens=20, output_tokens=5, estimated=True)
    terminal = end(ticket, completed(usage=estimate, rounds=1))

    assert terminal.code is RunCode.RUN_INTERRUPTED
    assert row(ticket.run_id).usage["estimated"] is True


def test_it_releases_a_claim_when_asked() -> None:
    kept, released = admit(), admit()
    for ticket in (kept, released):
        Run.objects.filter(pk=ticket.run_id).update(claim=ticket.run_id, claimed_request="x")

    end(kept, ended(RunCode.RUN_CANCELLED))
    end(released, ended(RunCode.RUN_CANCELLED), release=True)

    assert row(kept.run_id).claim == kept.run_id
    assert row(released.run_id).claim == ""


# --- Any order ----------------------------------------------------------------------------------------------

ENDS: dict[str, Callable[[Ticket], object]] = {
    "finish": lambda ticket: end(ticket, completed()),
    "fail": lambda ticket: end(ticket, ended(RunCode.PROVIDER_AUTH)),
    "timeout": lambda ticket: end(ticket, ended(RunCode.RUN_TIMEOUT)),
    "disconnect": lambda ticket: end(ticket, ended(RunCode.RUN_CANCELLED), release=True),
}
STEPS: dict[str, Callable[[Ticket], object]] = {
    **ENDS,
    "start": lambda ticket: start({ticket.run_id: 1}),
    "cancel": lambda ticket: request_cancel(ticket.run_id),
    "renew": lambda ticket: extend_leases({ticket.run_id: 1}),
    "expire": expire,
    "reap": lambda ticket: reap(timezone.now()),
}


#: The statements are the same on every database; one that answers over a socket gets fewer examples.
EXAMPLES = 60 if connection.vendor == "sqlite" else 15


@settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=12), st.sampled_from(sorted(ENDS)))
def test_it_has_exactly_one_winner_in_any_order(steps: list[str], last: str) -> None:
    ticket = admit()
    seen: list[tuple[object, ...]] = []
    for step in [*steps, last]:
        STEPS[step](ticket)
        run = row(ticket.run_id)
        if run.finished_at is not None:
            seen.append((run.status, run.code, run.detail, run.output, run.finished_at))
        else:
            assert run.status in (Status.QUEUED, Status.RUNNING)
            assert answers(ticket) == []

    assert seen
    assert seen == [seen[0]] * len(seen)
    assert len(answers(ticket)) == 1
    Conversation.objects.all().delete()
