"""Where worlds are played: providers and tools that do as they are told, put into the product's own tables.

Nothing else is replaced, and no socket is opened. One world is on at a time.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Literal

import pytest

from agents.conversation import ToolSpec
from agents.providers import registry
from agents.providers.scripted import ScriptedProvider
from agents.tools import builtin
from agents.tools.base import ToolResult
from redaction import detectors
from redaction.fold import Folded, Span
from redaction.spec import RuleSpec
from tests.noninterference.scenes import SHOWN_TOOLS

#: The kind of provider, and of redaction rule, that exist for these tests only.
SCRIPTED = "scripted"
FAILING = "failing"
#: Names that tools have where no visitor may read them.
HIDDEN_TOOLS = ("check_debt", "search_internal_notes", "x", "rate_customer", "escalate_to_legal")


class Puppets:
    """The providers of the world that is on, by name, and whether it has come to where it waits."""

    def __init__(self) -> None:
        self.providers: dict[str, ScriptedProvider] = {}
        self.waiting = asyncio.Event()

    def enter(self, providers: Mapping[str, ScriptedProvider]) -> None:
        self.providers = dict(providers)
        self.waiting = asyncio.Event()


class Halt(asyncio.Event):
    """A step at which a model says nothing more, for ever."""

    def __init__(self, puppets: Puppets) -> None:
        super().__init__()
        self._puppets = puppets

    async def wait(self) -> Literal[True]:
        self._puppets.waiting.set()
        return await super().wait()


class PuppetTool:
    """Its arguments tell it what to do: `{"do": "work"|"fail"|"raise"|"wait", "say": its result}`."""

    idempotent = False

    def __init__(self, name: str, puppets: Puppets) -> None:
        self.spec = ToolSpec(name, "", {"type": "object"})
        self._puppets = puppets

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        said = f"{arguments['say']} of {self.spec.name}"
        match arguments["do"]:
            case "work":
                return ToolResult(said)
            case "fail":
                return ToolResult(said, is_error=True)
            case "wait":
                self._puppets.waiting.set()
                await asyncio.Event().wait()
        raise RuntimeError(said)


def set_up(patch: pytest.MonkeyPatch) -> Puppets:
    """Put the puppets into the tables of providers, tools and detectors, until `patch` is undone."""
    puppets = Puppets()
    patch.setitem(registry.KINDS, SCRIPTED, lambda name, base_url, api_key: puppets.providers[name])
    for name in (*SHOWN_TOOLS, *HIDDEN_TOOLS):
        patch.setitem(_table(builtin.BUILTINS), name, PuppetTool(name, puppets))
    patch.setitem(_table(detectors.DETECTORS), FAILING, lambda spec: _failing(spec))
    return puppets


def _table(mapping: Mapping[str, Any]) -> dict[str, Any]:
    assert isinstance(mapping, dict)
    return mapping


def _failing(spec: RuleSpec) -> Callable[[Folded], list[Span]]:
    def detect(text: Folded) -> list[Span]:
        raise RuntimeError(f"{spec.pattern} in {text.raw}")

    return detect
