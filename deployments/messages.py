"""One message of a visitor: from its body to an admitted run, or a refusal that leaves nothing behind.

The order is policy's: nothing is disclosed before access, nothing expensive happens before the rate is
counted.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from msgspec import UNSET

from deployments import access, policy, selection, serializers, visitors
from deployments.models import ChatDeployment
from deployments.serializers import MessageBody
from deployments.visitors import Visitor
from redaction.engine import RuleError
from redaction.rules import masker_of
from runs import idempotency, rates
from runs.admission import ConversationRef, NewRun, Room, Ticket, admit_run
from runs.idempotency import Claim, Stored
from runs.models import Surface
from runs.refusals import Refused
from streaming.agent_events_v1 import Audience, View
from streaming.codes import RefusalCode
from workflows.models import WorkflowVersion
from workflows.plan import Plan, build_plan


@dataclass(frozen=True)
class Asking:
    """Who asks a chat, and how. `address` is the client's network itself; the ledger keeps a hash of it."""

    chat: ChatDeployment
    version: WorkflowVersion
    visitor: Visitor | None
    address: str
    grant: str | None
    negotiated: bool
    idempotency_key: str | None
    now: datetime


@dataclass(frozen=True)
class Admitted:
    """An answer may begin: of a run, or of what the same request was answered before.

    `grant` is what a password in the message has earned.
    """

    visitor: Visitor
    grant: str | None
    view: View
    conversation_id: str | None
    answer: "Beginning | Stored"


@dataclass(frozen=True)
class Beginning:
    """A run that waits to be executed."""

    ticket: Ticket
    plan: Plan


def admit(asking: Asking, values: dict[str, Any]) -> Admitted:
    """Admit a message or raise Refused."""
    body = serializers.read(MessageBody, values)
    chat = asking.chat
    address = visitors.address_hash(asking.address, chat)
    known = asking.visitor.hash if asking.visitor else ""
    rates.count(rates.visitor_rates(chat.scope, known, address, chat.requests_per_minute), asking.now)
    grant = _enter(asking, body, address)
    policy.check_length(chat, body.input)
    visitor = asking.visitor or visitors.new_visitor(chat)
    claim = _claim(asking, visitor, values)
    plan = _plan(asking, body)
    view = _view(asking, plan)
    if claim is not None and (stored := idempotency.settled(claim, asking.now)) is not None:
        return Admitted(visitor, grant, view, stored.conversation_id, stored)
    policy.check_budget(chat, asking.now)
    ticket = _admit_run(asking, body, visitor, address, plan, claim)
    given = {**plan.given, "conversationId": ticket.conversation_id}
    plan = replace(plan, given=given, history=ticket.history, selected=view.selected)
    return Admitted(visitor, grant, view, ticket.conversation_id, Beginning(ticket, plan))


def _enter(asking: Asking, body: MessageBody, address: str) -> str | None:
    """Let a visitor in by grant, or by a password in the message, which earns a new grant."""
    if policy.has_access(asking.chat, asking.grant):
        return None
    if body.password is UNSET:
        raise Refused(RefusalCode.AUTH_REQUIRED)
    policy.check_password(asking.chat, body.password, address, asking.now)
    return access.grant(asking.chat)


def _claim(asking: Asking, visitor: Visitor, values: dict[str, Any]) -> Claim | None:
    # A hash of the body is kept: it must not be one of a password.
    return idempotency.claim_of(
        asking.idempotency_key,
        credential=visitor.hash,
        resource=asking.chat.scope,
        body={key: value for key, value in values.items() if key != "password"},
        negotiated=asking.negotiated,
    )


def _plan(asking: Asking, body: MessageBody) -> Plan:
    chat, problem, masker = asking.chat, "", None
    try:
        masker = masker_of([*chat.workflow.redaction_rules.all(), *chat.redaction_rules.all()])
    except RuleError as error:
        problem = str(error)
    summaries = chat.include_thinking and asking.negotiated
    plan = build_plan(asking.version.graph, input=body.input, summaries=summaries, masker=masker)
    # Nothing runs without its rules: such a run ends at once, and the ledger says why.
    return replace(plan, problem=problem) if problem else plan


def _view(asking: Asking, plan: Plan) -> View:
    return View(
        audience=Audience.CHAT,
        negotiated=asking.negotiated,
        thinking=asking.chat.include_thinking,
        tool_calls=asking.chat.include_tool_calls,
        selected=selection.selected(asking.chat.outputs, plan.graph),
    )


def _admit_run(
    asking: Asking, body: MessageBody, visitor: Visitor, address: str, plan: Plan, claim: Claim | None
) -> Ticket:
    chat = asking.chat
    if body.conversation_id == "":
        raise Refused(RefusalCode.NOT_FOUND)
    new = NewRun(
        surface=Surface.CHAT,
        said=body.input,
        input={"input": body.input},
        policy=_policy(asking),
        workflow_id=chat.workflow_id,
        workflow_slug=chat.workflow.slug,
        workflow_version=asking.version.number,
        chat_id=chat.pk,
        chat_slug=chat.slug,
        visitor=visitor.hash,
        address=address,
        recall=plan.graph.recall,
        trace_thinking=chat.include_thinking,
        max_seconds=min(chat.max_run_seconds, settings.STUDIO_REQUEST_SECONDS),
    )
    ref = ConversationRef(chat.scope, visitor.hash, id=body.conversation_id or "")
    rooms = [
        Room({"chat_id": chat.pk, "visitor": visitor.hash}, chat.max_runs_visitor),
        Room({"chat_id": chat.pk, "address": address}, chat.max_runs_address),
        Room({"chat_id": chat.pk}, chat.max_runs_chat),
    ]
    lock = ChatDeployment.objects.filter(pk=chat.pk, active=True)
    return admit_run(new, lock=lock, rooms=rooms, conversation=ref, claim=claim)


def _policy(asking: Asking) -> dict[str, Any]:
    """What was read at admission, and holds for this run whatever is changed meanwhile."""
    return {
        "includeThinking": asking.chat.include_thinking,
        "includeToolCalls": asking.chat.include_tool_calls,
        "negotiated": asking.negotiated,
        "outputs": asking.chat.outputs,
    }
