"""What stands in for the outer world while a chat is checked: models that say what an ending asks for, and
services that answer with marked secrets. Nothing outside of this process is asked.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Literal

from agents.addresses import AddressPolicy
from agents.conversation import ModelRequest
from agents.http_client import MAX_BODY, TIMEOUT, HttpClient, HttpResponse
from agents.http_request import HttpFailure, HttpRequest
from agents.providers.base import ProviderEvent
from agents.providers.scripted import ScriptedProvider, Turn
from agents.secrets import Secret
from agents.spec import ModelChoice, Price
from credentials import models
from studio.leakcheck.marks import Marks

#: The header by which a request of a tool is known from one of a block.
OF_TOOL = "X-Leakcheck-Tool"


class Scene:
    """The ending that is played: the turns of each model by its label, how tools fare, and whether a model
    has come to where it waits.
    """

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.tools = "work"
        self.waiting = asyncio.Event()
        self._models: dict[str, ScriptedProvider] = {}

    def set(self, turns: Mapping[str, Sequence[Turn]], tools: str) -> None:
        self.tools = tools
        self.waiting = asyncio.Event()
        self._models = {label: ScriptedProvider(told, name=label) for label, told in turns.items()}

    def stream(self, label: str, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        return self._models[label].stream(request)


class Halt(asyncio.Event):
    """A step at which a model says nothing more."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self._scene = scene

    async def wait(self) -> Literal[True]:
        self._scene.waiting.set()
        return await super().wait()


class _Model:
    """One model of the copy, by its label."""

    vendor = "leakcheck"

    def __init__(self, label: str, scene: Scene) -> None:
        self.name = label.partition("/")[0]
        self._label = label
        self._scene = scene

    def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        return self._scene.stream(self._label, request)


class _Services(HttpClient):
    """Answers every request itself. Only what tools ask for is secret: a block's answer may be selected."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(AddressPolicy([]))
        self._scene = scene

    async def send(
        self, request: HttpRequest, *, timeout: float = TIMEOUT, limit: int = MAX_BODY
    ) -> HttpResponse:
        if OF_TOOL not in request.headers:
            return _answer(200, '{"ok": true}')
        marks = self._scene.marks
        match self._scene.tools:
            case "break":
                raise HttpFailure(f"no route to {marks.at('the reason why a tool failed')}")
            case "fail":
                return _answer(500, marks.at("the result of a tool that failed"))
            case _:
                return _answer(200, marks.at("the result of a tool"))


class Doubles:
    """The resources of every plan while a chat is checked. `summaries` as the plan asks."""

    def __init__(self, scene: Scene, summaries: bool) -> None:
        self.summaries = summaries
        self.http: HttpClient = _Services(scene)
        self._scene = scene

    def model(self, name: str) -> ModelChoice:
        cost = Price(self._scene.marks.number("a cost"), self._scene.marks.number("a cost"))
        return ModelChoice(_Model(name, self._scene), name.partition("/")[2], cost)

    def secrets(self, names: Sequence[str]) -> Mapping[str, Secret]:
        """Stored ones by name and hosts; their values stay where they are."""
        stored = models.Secret.objects.filter(name__in=set(names)).values_list("name", "hosts")
        marked = self._scene.marks.at
        return {name: Secret(name, marked("a secret"), tuple(hosts)) for name, hosts in stored}


def _answer(status: int, text: str) -> HttpResponse:
    return HttpResponse(status, "", {}, "application/json", text, is_text=True, cut=False)
