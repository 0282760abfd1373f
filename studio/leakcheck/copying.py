"""A copy of a chat with marks wherever something is hidden, under an address that nobody can guess.

The copy is stored, because the application serves what is stored. It is there for seconds, its models exist
in the checking process only, and it goes with every run, conversation and count of its own.
"""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Model, QuerySet
from django.utils import timezone

from deployments import selection
from deployments.models import AccessMode, ChatDeployment, ChatRedactionRule
from redaction.models import RuleKind
from runs.models import Conversation, Message, RateWindow, Run, TraceEntry
from streaming.agent_events_v1 import Audience, View
from studio.leakcheck.doubles import OF_TOOL
from studio.leakcheck.marks import Marks
from workflows.graph import read
from workflows.models import Workflow, WorkflowRedactionRule, WorkflowVersion

PREFIX = "leakcheck-"
#: Rounds an agent of the copy has: one with tools, one for the answer.
ROUNDS = 2
#: The tool that every agent of a copy has, where visitors may read names.
SHOWN_TOOL = "leakcheck_tool"
_LEFT_BEHIND = timedelta(hours=1)
_MOST = 100_000


@dataclass(frozen=True)
class Agent:
    """An agent block of the copy. `models` are the labels of its own and its fallback's."""

    id: str
    models: tuple[str, str]
    tools: Mapping[str, Mapping[str, Any]]
    schema: Mapping[str, Any] | None
    #: Its `content` or a field of it is selected, or goes into something that is.
    heard: bool


@dataclass(frozen=True)
class Copy:
    """A stored copy for one kind of client; `found` is a value that its rules find, "" if it has no rules."""

    chat: ChatDeployment
    view: View
    agents: tuple[Agent, ...]
    password: str | None
    found: str
    broken_rule: ChatRedactionRule = field(repr=False)

    @property
    def slug(self) -> str:
        return self.chat.slug

    @property
    def origin(self) -> str | None:
        return next(iter(self.chat.allowed_origins), None)

    def break_rule(self, broken: bool) -> None:
        ChatRedactionRule.objects.filter(pk=self.broken_rule.pk).update(active=broken)

    def forget_counts(self) -> None:
        """Endings are many; each begins with no password tried."""
        RateWindow.objects.filter(key__startswith=self.chat.scope).delete()


@contextmanager
def stored(original: ChatDeployment, marks: Marks, *, negotiated: bool) -> Iterator[Copy]:
    """Store a marked copy of a chat; remove all of it afterwards, and what a killed check left behind."""
    with transaction.atomic():
        _remove(_left_behind())
        copy = _copy(original, marks, negotiated=negotiated)
    try:
        yield copy
    finally:
        with transaction.atomic():
            _remove(ChatDeployment.objects.filter(pk=copy.chat.pk))


def _left_behind() -> QuerySet[ChatDeployment]:
    old = timezone.now() - _LEFT_BEHIND
    return ChatDeployment.objects.filter(slug__startswith=PREFIX, created_at__lt=old)


def _remove(chats: QuerySet[ChatDeployment]) -> None:
    """As it stands in the database: a check changes nothing that the audit tells of."""
    for chat in chats.select_related("workflow"):
        runs, conversations = (
            Run.objects.filter(chat_id=chat.pk),
            Conversation.objects.filter(scope=chat.scope),
        )
        workflow = Workflow.objects.filter(pk=chat.workflow_id)
        workflow.update(published=None)
        _delete(
            Message.objects.filter(conversation__in=conversations),
            TraceEntry.objects.filter(run__in=runs),
            runs,
            conversations,
            RateWindow.objects.filter(key__startswith=chat.scope),
            ChatRedactionRule.objects.filter(chat=chat),
            WorkflowRedactionRule.objects.filter(workflow__in=workflow),
            ChatDeployment.objects.filter(pk=chat.pk),
            WorkflowVersion.objects.filter(workflow__in=workflow),
            workflow,
        )


def _delete(*rows: QuerySet[Any]) -> None:
    for found in rows:
        found._raw_delete(DEFAULT_DB_ALIAS)


# --- Rows ---------------------------------------------------------------------------------------------------


def _copy(original: ChatDeployment, marks: Marks, *, negotiated: bool) -> Copy:
    name = f"{PREFIX}{secrets.token_hex(16)}"
    version = original.workflow.published
    assert version is not None
    sees_tools = negotiated and original.include_tool_calls
    graph, agents = _marked(original, version.graph, marks, sees_tools=sees_tools)
    workflow = Workflow(slug=name, name=marks.at("the name of the workflow"), draft={})
    published = WorkflowVersion(
        workflow=workflow, number=version.number, name=marks.at("a version"), graph=graph
    )
    Workflow.objects.bulk_create([workflow])
    WorkflowVersion.objects.bulk_create([published])
    Workflow.objects.filter(pk=workflow.pk).update(published=published)
    password = secrets.token_hex(8) if original.access_mode != AccessMode.PUBLIC else None
    chat = _chat(original, workflow, name, password, marks)
    ChatDeployment.objects.bulk_create([chat])
    found, broken = _rules(original, chat, marks)
    view = View(
        audience=Audience.CHAT,
        negotiated=negotiated,
        thinking=original.include_thinking,
        tool_calls=original.include_tool_calls,
        selected=selection.selected(original.outputs, read(graph)),
    )
    return Copy(chat, view, agents, password, found, broken)


def _chat(
    original: ChatDeployment, workflow: Workflow, slug: str, password: str | None, marks: Marks
) -> ChatDeployment:
    """What visitors see and may stays; a way in that is not a password becomes one."""
    chat: ChatDeployment = _same(original, slug=slug, workflow=workflow)
    chat.description = marks.at("the description for colleagues")
    chat.access_mode = AccessMode.PUBLIC if password is None else AccessMode.PASSWORD
    chat.password_hash = "" if password is None else make_password(password)
    chat.identity_key_encrypted, chat.allowed_emails = "", []
    chat.requests_per_minute = chat.max_runs_visitor = chat.max_runs_address = chat.max_runs_chat = _MOST
    chat.budget_day_usd = None
    return chat


def _rules(original: ChatDeployment, chat: ChatDeployment, marks: Marks) -> tuple[str, ChatRedactionRule]:
    """The rules of both, one that finds a mark if any is active, and one that is broken, asleep."""
    of_workflow = list(original.workflow.redaction_rules.all())
    of_chat = list(original.redaction_rules.all())
    WorkflowRedactionRule.objects.bulk_create(_same(rule, workflow=chat.workflow) for rule in of_workflow)
    ChatRedactionRule.objects.bulk_create(_same(rule, chat=chat) for rule in of_chat)
    found = ""
    if any(rule.active for rule in [*of_workflow, *of_chat]):
        found = marks.at("a value that a redaction rule hides")
        rule = ChatRedactionRule(chat=chat, kind=RuleKind.WORDS, words=[found], position=_MOST)
        ChatRedactionRule.objects.bulk_create([rule])
    pattern = f"({marks.at('the pattern of a redaction rule')}"
    broken = ChatRedactionRule(chat=chat, kind=RuleKind.REGEX, pattern=pattern, active=False, position=_MOST)
    ChatRedactionRule.objects.bulk_create([broken])
    return found, broken


def _same(row: Any, **changed: Any) -> Any:
    """A new row like `row`."""
    kept = {at.attname: getattr(row, at.attname) for at in row._meta.concrete_fields if not at.primary_key}
    for name in changed:
        kept.pop(row._meta.get_field(name).attname)
    made: Model = type(row)(**kept, **changed)
    return made


# --- The graph ----------------------------------------------------------------------------------------------


def _marked(
    chat: ChatDeployment, graph: Mapping[str, Any], marks: Marks, *, sees_tools: bool
) -> tuple[dict[str, Any], tuple[Agent, ...]]:
    heard = _heard(chat, graph)
    blocks, agents = [], []
    for block in graph["blocks"]:
        if block["type"] == "agent":
            block, agent = _agent(block, marks, sees_tools=sees_tools, heard=block["id"] in heard)
            agents.append(agent)
        blocks.append(block)
    return {**graph, "blocks": blocks}, tuple(agents)


def _agent(
    block: Mapping[str, Any], marks: Marks, *, sees_tools: bool, heard: bool
) -> tuple[dict[str, Any], Agent]:
    own, spare = (f"{marks.at('a provider name')}/{marks.at('a model name')}" for _ in range(2))
    name = SHOWN_TOOL if sees_tools else marks.at("the name of a tool")
    tools = [_tool(tool, marks) for tool in block.get("tools", [])][:127]
    tools.append(_tool({"type": "http", "name": name, "url": "https://leakcheck.invalid/"}, marks))
    marked = {
        **block,
        "model": own,
        "fallbacks": [spare],
        "instructions": f"{block.get('instructions', '')}\n{marks.at('instructions')}",
        "max_rounds": ROUNDS,
        "tools": tools,
    }
    if block.get("prompt") is not None:
        marked["prompt"] = f"{block['prompt']}\n{marks.at('a prompt')}"
    parameters = {tool["name"]: tool.get("parameters", {}) for tool in tools}
    return marked, Agent(block["id"], (own, spare), parameters, block.get("response_schema"), heard)


def _tool(tool: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    if tool["type"] != "http":
        return dict(tool)
    headers = {**tool.get("headers", {}), OF_TOOL: marks.at("a header of a tool")}
    return {**tool, "headers": headers, "description": marks.at("the description of a tool")}


def _heard(chat: ChatDeployment, graph: Mapping[str, Any]) -> set[str]:
    """The blocks whose text visitors may get: selected ones, and those before a selected one that is no
    agent, because its author decides what goes into it.
    """
    found = read(graph)
    selected = selection.selected(chat.outputs, found)
    heard = {one.block_id for one in selected}
    waiting = [one.block_id for one in selected if not one.agent]
    while waiting:
        block = waiting.pop()
        before = {source for source, target in found.edges if target == block} - heard
        heard |= before
        waiting += before
    return heard
