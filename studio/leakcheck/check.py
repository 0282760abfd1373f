"""Plays every ending of a chat's marked copy for both kinds of clients, and searches what came out."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast

import httpx2
from django.conf import settings

from deployments.models import ChatDeployment
from runs import process, registry
from runs.models import Run
from studio.leakcheck import copying, frames
from studio.leakcheck.copying import Copy
from studio.leakcheck.doubles import Doubles, Scene
from studio.leakcheck.endings import ENDINGS, Ending
from studio.leakcheck.endpoints import MESSAGE, TABLE, Endpoint, Visit
from studio.leakcheck.marks import Marks
from workflows import resources

#: How long one ending may take.
PATIENCE = 60.0


@dataclass(frozen=True)
class Leak:
    """`what` came out at `endpoint`, in `where` of its answer, as the run ended so for such a client."""

    client: str
    ending: str
    endpoint: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.endpoint}, {self.where} ({self.client} client, {self.ending}): {self.what}"


@dataclass
class Report:
    """`ends` are the endings by what the stream's terminal said of them."""

    leaks: list[Leak] = field(default_factory=list)
    answers: int = 0
    ends: dict[str, str] = field(default_factory=dict)


def check(chat: ChatDeployment) -> Report:
    """Check a chat that visitors can reach. Not on an event loop; in a process that serves nobody."""
    report = Report()
    with asyncio.Runner() as runner:
        application = _serving()
        client = runner.run(application.__aenter__())
        try:
            for negotiated in (False, True):
                _check(chat, report, runner, client, negotiated=negotiated)
        finally:
            runner.run(application.__aexit__(None, None, None))
    return report


def _check(
    chat: ChatDeployment,
    report: Report,
    runner: asyncio.Runner,
    client: httpx2.AsyncClient,
    *,
    negotiated: bool,
) -> None:
    marks = Marks()
    scene = Scene(marks)
    with (
        copying.stored(chat, marks, negotiated=negotiated) as copy,
        resources.instead(lambda summaries: Doubles(scene, summaries)),
    ):
        for ending in ENDINGS:
            copy.forget_counts()
            copy.break_rule(ending.broken_rule)
            scene.set(ending.script(copy, scene), ending.tools)
            runner.run(_Played(copy, ending, scene, report).play(client))


class _Played:
    """One ending for one client."""

    def __init__(self, copy: Copy, ending: Ending, scene: Scene, report: Report) -> None:
        self._copy = copy
        self._ending = ending
        self._scene = scene
        self._report = report

    async def play(self, client: httpx2.AsyncClient) -> None:
        copy = self._copy
        visit = Visit(
            client,
            copy.slug,
            negotiated=copy.view.negotiated,
            password=copy.password,
            origin=copy.origin,
        )
        async with asyncio.timeout(PATIENCE), self._stopping():
            self._search(MESSAGE, await visit.message())
        for endpoint in TABLE:
            if endpoint.always or self._ending is ENDINGS[0]:
                self._search(endpoint, await endpoint.ask(visit))

    @asynccontextmanager
    async def _stopping(self) -> AsyncIterator[None]:
        """End the run where its model waits, if the ending is such a one."""
        if self._ending.stop is None:
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
        assert self._ending.stop is not None
        await self._scene.waiting.wait()
        runs = Run.objects.filter(chat_id=self._copy.chat.pk).order_by("-created_at")
        run_id = await runs.values_list("pk", flat=True).afirst()
        if run_id is not None:
            registry.cancel(run_id, self._ending.stop)

    # --- Searching ------------------------------------------------------------------------------------------

    def _search(self, endpoint: Endpoint, answer: httpx2.Response) -> None:
        self._report.answers += 1
        for where, what in dict.fromkeys(self._found(answer)):
            client = "negotiated" if self._copy.view.negotiated else "plain"
            self._report.leaks.append(Leak(client, self._ending.name, endpoint.name, where, what))
        if endpoint is MESSAGE:
            self._report.ends.setdefault(self._ending.name, _end(answer))

    def _found(self, answer: httpx2.Response) -> Iterator[tuple[str, str]]:
        """Where something came out, and what."""
        marks = self._scene.marks
        for name, value in answer.headers.raw:
            yield from ((f"header {name.decode()}", what) for what in marks.found(name + b": " + value))
        told = frames.frames_of(answer.content)
        for number, frame in enumerate(told, start=1):
            where = f"frame {number} ({frame.get('event', 'chunk')})"
            yield from ((where, what) for what in frames.faults(frame, self._copy.view))
            yield from ((where, what) for what in marks.found(frames.raw(frame)))
        apart = b"" if told else answer.content
        yield from (("body", what) for what in marks.found(apart))
        for text in frames.texts(told):
            yield from (("the joined text", what) for what in marks.found(text))


def _end(answer: httpx2.Response) -> str:
    last: Any = next(reversed(frames.frames_of(answer.content)), {})
    code = last.get("code") or last.get("data", {}).get("code")
    return str(code or ("answered" if last else f"HTTP {answer.status_code}"))


@asynccontextmanager
async def _serving() -> AsyncIterator[httpx2.AsyncClient]:
    """The real application in this process; what it began has ended afterwards."""
    from studio.asgi import application  # it loads every view, so not before it is needed

    scheme = "https" if settings.SECURE_SSL_REDIRECT else "http"
    host = settings.ALLOWED_HOSTS[0].removeprefix(".")
    transport = httpx2.ASGITransport(app=cast(Any, application))
    nothing = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    async with httpx2.AsyncClient(
        transport=transport,
        base_url=f"{scheme}://{host}",
        headers={"X-Forwarded-Proto": scheme},
        cookies=nothing,
        timeout=None,
    ) as client:
        yield client
    await registry.current().shutdown(5)
    await process.stop()
