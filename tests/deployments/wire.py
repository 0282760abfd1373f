"""A visitor for tests: speaks to the real ASGI application and reads the bytes of its answers strictly."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast

import httpx2

from runs import process, registry
from runs.models import Run
from studio.asgi import application
from tests.providers_server import Reply, chunk, sse

Frame = dict[str, Any]
NEGOTIATED = {"X-Studio-Stream-Protocol": "agent-events-v1"}


def frames_of(raw: bytes) -> list[Frame]:
    """Return the frames of a stream; it must be well formed and end in one terminal and the sentinel."""
    assert raw.endswith(b'data: "[DONE]"\n\n'), raw[-300:]
    blocks = raw.split(b"\n\n")[:-2]
    frames: list[Frame] = [json.loads(_data(block)) for block in blocks if block != b": ping"]
    terminals = [frame for frame in frames if frame.get("event") in ("final", "error")]
    assert terminals == frames[-1:], frames
    return frames


def _data(block: bytes) -> bytes:
    assert block.startswith(b"data: "), block
    assert b"\n" not in block, block
    assert b"\r" not in block, block
    return block.removeprefix(b"data: ")


@dataclass(frozen=True)
class Answer:
    """One whole answer: of a stream, or a refusal."""

    status: int
    headers: httpx2.Headers
    raw: bytes

    @property
    def frames(self) -> list[Frame]:
        assert self.status == 200, self.raw
        return frames_of(self.raw)

    @property
    def refusal(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.raw)
        return body

    @property
    def final(self) -> dict[str, Any]:
        data: dict[str, Any] = self.frames[-1]["data"]
        return data

    @property
    def text(self) -> str:
        """What a conforming client shows of block agent_1 in the end."""
        shown = ""
        for frame in self.frames:
            if frame.get("blockId") == "agent_1":
                if "event" not in frame:
                    shown += frame["chunk"]
                elif frame["event"] == "chunk_reset":
                    shown = ""
        return shown

    def of(self, event: str) -> list[Frame]:
        return [frame for frame in self.frames if frame.get("event") == event]

    @property
    def chunks(self) -> list[str]:
        return [frame["chunk"] for frame in self.frames if "event" not in frame]


class Visitor:
    """Keeps its token and its conversation as a client elsewhere does: from header to header."""

    def __init__(self, client: httpx2.AsyncClient, slug: str) -> None:
        self.client = client
        self.url = f"/api/chat/{slug}"
        self.headers: dict[str, str] = {}
        self.conversation: str | None = None

    async def say(self, text: str, headers: Mapping[str, str] = NEGOTIATED, **body: Any) -> Answer:
        """Send a message of the conversation and read its whole answer."""
        if self.conversation is not None:
            body.setdefault("conversationId", self.conversation)
        return await self.post({"input": text, **body}, headers)

    async def post(self, body: Any, headers: Mapping[str, str] = NEGOTIATED) -> Answer:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **self.headers, **headers}
        response = await self.client.post(self.url, content=content, headers=sent)
        if token := response.headers.get("X-Studio-Visitor"):
            self.headers["X-Studio-Visitor"] = token
        self.conversation = response.headers.get("X-Studio-Conversation", self.conversation)
        return Answer(response.status_code, response.headers, response.content)

    async def messages(self) -> list[dict[str, Any]]:
        url = f"{self.url}/conversations/{self.conversation}"
        response = await self.client.get(url, headers=self.headers)
        found: list[dict[str, Any]] = response.json()["messages"]
        return found


@asynccontextmanager
async def serving() -> AsyncIterator[httpx2.AsyncClient]:
    """The application in this process and on this loop; what it began has ended afterwards."""
    transport = httpx2.ASGITransport(app=cast(Any, application))
    nothing = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://testserver", cookies=nothing
    ) as client:
        yield client
    await registry.current().shutdown(5)
    await process.stop()


def thinking_reply(thoughts: list[str], reply: Reply) -> Reply:
    """Return a turn that thinks before it says what `reply` says."""
    thinking = sse(*[chunk({"reasoning_content": thought}) for thought in thoughts], done=False)
    return Reply([thinking, *reply.steps])


async def row() -> Run:
    """Return the only run there is."""
    return await Run.objects.aget()
