"""What plans of tests are made of: graphs in short form, models by name, runs listened to at any speed."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agents.addresses import AddressPolicy
from agents.http_client import HttpClient
from agents.providers.base import Provider
from agents.secrets import Secret
from agents.spec import ModelChoice, Price
from agents.tools.base import Tool
from runs.control import ExecutionEnded, RunControl
from streaming.events import AgentEvent, BlockStreamed, RunEvent, TextDelta
from workflows.blocks.agent import Answering
from workflows.executor import execute
from workflows.plan import Plan, build_plan

Event = RunEvent | ExecutionEnded


class Shelf:
    """Resources that are at hand: providers by name, secrets by name."""

    summaries = False

    def __init__(
        self, providers: Mapping[str, Provider], secrets: Mapping[str, Secret] | None = None
    ) -> None:
        self.http = HttpClient(AddressPolicy(["127.0.0.0/8"]))
        self._providers = providers
        self._secrets = secrets or {}

    def model(self, name: str) -> ModelChoice:
        provider, _, model = name.partition("/")
        return ModelChoice(self._providers[provider], model, Price(1.0, 2.0))

    def secrets(self, names: Sequence[str]) -> Mapping[str, Secret]:
        return {name: self._secrets[name] for name in names if name in self._secrets}


def agent(name: str, /, **more: Any) -> dict[str, Any]:
    """An agent block that asks the provider of its own name."""
    return {"id": name, "type": "agent", "model": f"{name}/m", **more}


def graph(*blocks: dict[str, Any], edges: Sequence[tuple[str, str]] | None = None) -> dict[str, Any]:
    """A start and `blocks`; without `edges` every block follows the start."""
    if edges is None:
        edges = [("start", block["id"]) for block in blocks]
    return {"blocks": [{"id": "start", "type": "start"}, *blocks], "edges": [list(edge) for edge in edges]}


def plan(
    value: Any, providers: Mapping[str, Provider] | None = None, *, input: Any = "Hi", **more: Any
) -> Plan:
    return build_plan(value, input=input, resources=Shelf(providers or {}), **more)


async def heard(plan: Plan, control: RunControl | None = None) -> list[Event]:
    """Everything a run says, to its end."""
    events: list[Event] = []
    async with aclosing(execute(plan, control or RunControl())) as stream:
        async for event in stream:
            events.append(event)
    return events


def end_of(events: Sequence[Event]) -> ExecutionEnded:
    """The one end, which must be last."""
    ends = [event for event in events if isinstance(event, ExecutionEnded)]
    assert ends == [events[-1]]
    return ends[0]


def said_by(events: Sequence[Event], block: str) -> list[AgentEvent]:
    return [
        event
        for batch in events
        if isinstance(batch, BlockStreamed) and batch.block_id == block
        for event in batch.events
    ]


def text_of(events: Sequence[Event], block: str) -> str:
    return "".join(event.text for event in said_by(events, block) if isinstance(event, TextDelta))


def with_tools(plan: Plan, tools: Mapping[str, Sequence[Tool]]) -> Plan:
    """The same plan with tools of a test's own, by block."""
    works = dict(plan.works)
    for block, given in tools.items():
        work = works[block]
        assert isinstance(work, Answering)
        works[block] = Answering(work.block, replace(work.spec, tools=tuple(given)), work.prompt)
    return replace(plan, works=works)
