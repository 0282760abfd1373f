"""A world: the rows of a chat with its hidden half, played through the real application; what came out."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import httpx2
from django.contrib.auth.hashers import make_password
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Model

from agents.providers.scripted import ScriptedProvider, Turn
from credentials.models import ProviderConnection
from deployments.models import AccessMode, ChatDeployment, ChatRedactionRule
from runs import registry
from runs.models import Conversation, Message, RateWindow, Run, TraceEntry
from studio.leakcheck import endpoints
from studio.leakcheck.endpoints import Visit
from tests.noninterference.hidden import FOUND, Hidden
from tests.noninterference.scenes import SHOWN_TOOLS, Scene
from tests.noninterference.stage import FAILING, SCRIPTED, Puppets
from workflows.models import Workflow, WorkflowRedactionRule, WorkflowVersion

SLUG = "support"
PASSWORD = "open sesame"
LISTED = "https://shop.example.com"

#: What may differ: ids, dates and pings. Nothing else is made equal.
MAY_DIFFER: tuple[tuple[str, bytes, bytes], ...] = (
    ("ids of runs, conversations, messages", rb"\b(run|conv|msg)_[0-9a-f]{32}\b", rb"\1_#"),
    ("a visitor's token", rb"(studio_visitor=|x-studio-visitor: )[0-9a-f]{32}\b", rb"\1#"),
    ("a grant", rb"\bgrant:[0-9A-Za-z]+:[0-9A-Za-z_-]+", rb"grant:#"),
    ("the end of a cookie", rb"\bexpires=[A-Z][a-z]{2}, [^;]+ GMT", rb"expires=#"),
    ("the time of a message", rb'"created_at":"[0-9-]+T[0-9:.]+Z"', rb'"created_at":"#"'),
    ("pings", rb"(?m)^: ping\n\n", rb""),
)

#: What a world leaves behind, in an order in which it can go.
_TABLES: tuple[type[Model], ...] = (
    *(Message, TraceEntry, Run, Conversation, RateWindow, ProviderConnection),
    *(ChatRedactionRule, WorkflowRedactionRule, ChatDeployment, WorkflowVersion, Workflow),
)


class Interference(AssertionError):
    """Two worlds of one scene could be told apart."""


def normal(answer: httpx2.Response) -> bytes:
    """All bytes of an answer, its status and headers first, without what may differ."""
    lines = [str(answer.status_code).encode()]
    lines += [name.lower() + b": " + value for name, value in answer.headers.raw]
    whole = b"\n".join(lines) + b"\n\n" + answer.content
    for _, pattern, instead in MAY_DIFFER:
        whole = re.sub(pattern, instead, whole)
    return whole


class World:
    """One hidden half of a scene."""

    def __init__(self, scene: Scene, seed: int, puppets: Puppets) -> None:
        self.scene = scene
        self._puppets = puppets
        self._hidden = Hidden(scene, seed, puppets)
        self._scripts: dict[str, Sequence[Turn]] = {}

    # --- Rows -----------------------------------------------------------------------------------------------

    @contextmanager
    def stored(self) -> Iterator[None]:
        """Its rows, as long as it is on. Queries: not on the loop."""
        with transaction.atomic():
            self._store()
        providers = {name: ScriptedProvider(turns, name=name) for name, turns in self._scripts.items()}
        self._puppets.enter(providers)
        try:
            yield
        finally:
            with transaction.atomic():
                for table in _TABLES:
                    # As it stands in the database: no audit, no cascades, which would take half of the time.
                    table._base_manager.all()._raw_delete(DEFAULT_DB_ALIAS)

    def _store(self) -> None:
        graph = self._graph()
        workflow = Workflow(slug="workflow", name=self._hidden.word(), draft={})
        version = WorkflowVersion(workflow=workflow, number=1 + self._hidden.number(99), graph=graph)
        Workflow.objects.bulk_create([workflow])
        WorkflowVersion.objects.bulk_create([version])
        Workflow.objects.update(published=version)
        chat = self._chat(workflow)
        ChatDeployment.objects.bulk_create([chat])
        self._rules(chat)
        if self.scene.ending != "no such provider":
            ProviderConnection.objects.bulk_create(
                ProviderConnection(name=name, kind=SCRIPTED, model_overrides=self._prices())
                for name in self._scripts
            )

    def _chat(self, workflow: Workflow) -> ChatDeployment:
        locked = self.scene.locked
        return ChatDeployment(
            slug=SLUG,
            workflow=workflow,
            title="Support",
            welcome="Welcome.",
            suggestions=["Where is my order?"],
            description=self._hidden.word(),
            outputs=["agent_1.content"],
            include_thinking=self.scene.thinking,
            include_tool_calls=self.scene.tools,
            allowed_origins=[LISTED],
            access_mode=AccessMode.PASSWORD if locked else AccessMode.PUBLIC,
            password_hash=make_password(PASSWORD) if locked else "",
            budget_run_usd=self._hidden.one_of(None, 10_000),
        )

    def _rules(self, chat: ChatDeployment) -> None:
        """A chat's rules or its workflow's: both count alike."""
        hidden = self._hidden
        rules: list[dict[str, Any]] = []
        if self.scene.redaction == "rules":
            words = list(FOUND["words"]) if self.scene.rule == "words" else []
            rules.append({"kind": self.scene.rule, "words": words})
        if self.scene.ending == "rule that fails":
            rules.append({"kind": FAILING, "pattern": hidden.word(), "position": 1})
        if self.scene.ending == "rule that is none":
            rules.append({"kind": "regex", "pattern": f"({hidden.word()}", "position": 1})
        if hidden.number(2):
            ChatRedactionRule.objects.bulk_create(ChatRedactionRule(chat=chat, **rule) for rule in rules)
        else:
            WorkflowRedactionRule.objects.bulk_create(
                WorkflowRedactionRule(workflow=chat.workflow, **rule) for rule in rules
            )

    def _prices(self) -> dict[str, Any]:
        price = {"input": self._hidden.number(99), "output": self._hidden.number(99)}
        return {"model": {"price": price}} if self._hidden.number(2) else {}

    # --- Its graph and scripts ------------------------------------------------------------------------------

    def _graph(self) -> dict[str, Any]:
        blocks, edges = [{"id": "start", "type": "start"}, self._answering()], [["start", "agent_1"]]
        if place := self._place_of_other():
            blocks.append(self._other())
            edges = {
                "before": [["start", "other"], ["other", "agent_1"]],
                "beside": [*edges, ["start", "other"]],
                "after": [*edges, ["agent_1", "other"]],
            }[place]
        return {"blocks": self._hidden.shuffled(blocks), "edges": edges}

    def _place_of_other(self) -> str:
        """Where a block stands that nobody selected."""
        if self.scene.ending == "other block failed":
            return ("before", "after")[self.scene.seed // 8 % 2]
        return str(self._hidden.one_of("", "before", "beside", "after"))

    def _answering(self) -> dict[str, Any]:
        hidden, scene = self._hidden, self.scene
        script = hidden.script()
        block = self._agent("agent_1", script, [*SHOWN_TOOLS, *hidden.extra_tools])
        block["name"] = "First look"
        if scene.ending == "too many rounds":
            block["max_rounds"] = len(script)
        if scene.ending == "fallback":
            block["fallbacks"] = [self._model("spare", hidden.spare_script())]
        if scene.ending == "no structure":
            block["response_schema"] = {"type": "object", "properties": {"mood": {"type": "string"}}}
        return block

    def _other(self) -> dict[str, Any]:
        failure = self.scene.code if self.scene.ending == "other block failed" else None
        return self._agent("other", self._hidden.other_script(failure), self._hidden.extra_tools)

    def _agent(self, block_id: str, script: Sequence[Turn], tools: list[str]) -> dict[str, Any]:
        hidden = self._hidden
        return {
            "id": block_id,
            "type": "agent",
            "model": self._model(block_id, script),
            "instructions": hidden.word(),
            "prompt": hidden.one_of("{{start.input}}", f"{hidden.word()}: {{{{start.input}}}}"),
            "memory": hidden.one_of("none", "conversation", {"window": 3}),
            "thinking": hidden.one_of("off", "low", "high"),
            "max_rounds": 50,
            "tools": [{"type": "builtin", "name": name} for name in tools],
        }

    def _model(self, who: str, script: Sequence[Turn]) -> str:
        name = f"{who}-{self._hidden.word()}".replace("_", "-")
        self._scripts[name] = script
        return f"{name}/model"

    # --- Playing --------------------------------------------------------------------------------------------

    async def play(self, client: httpx2.AsyncClient) -> dict[str, bytes]:
        """Ask for an answer, then each endpoint of the scene: what came out, by endpoint."""
        visit = Visit(
            client,
            SLUG,
            negotiated=self.scene.negotiated,
            question=self._hidden.story.question,
            password=PASSWORD if self.scene.locked else None,
            origin=LISTED if self.scene.listed_site else None,
        )
        out = {}
        async with self._stopping():
            out["message"] = normal(await visit.message())
        for endpoint in endpoints.TABLE:
            if endpoint.always or endpoint.name in self.scene.asked:
                out[endpoint.name] = normal(await endpoint.ask(visit))
        return out

    @asynccontextmanager
    async def _stopping(self) -> AsyncIterator[None]:
        """Stop the run where its script waits."""
        if self.scene.stop is None:
            yield
            return
        stopping = asyncio.create_task(self._stop())
        try:
            yield
        finally:
            stopping.cancel()
            with suppress(asyncio.CancelledError):
                await stopping

    async def _stop(self) -> None:
        assert self.scene.stop is not None
        await self._puppets.waiting.wait()
        run = await Run.objects.aget()
        assert registry.cancel(run.pk, self.scene.stop), "a run whose model speaks is live"


def difference(left: dict[str, bytes], right: dict[str, bytes]) -> str:
    """Where two worlds can be told apart, and by what; empty: nowhere."""
    return "\n".join(
        f"{name}:\n{one.decode()}\n--- or ---\n{right[name].decode()}"
        for name, one in left.items()
        if one != right[name]
    )
