"""Every public endpoint, one line each. What is asked here is under the promise of section 9."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from streaming.agent_events_v1 import HEADER, PROTOCOL
from tests.noninterference.scenes import Scene

SLUG = "support"
PASSWORD = "open sesame"
LISTED = "https://shop.example.com"
_KEY = {"Idempotency-Key": "attempt-1"}


class Visit:
    """One visitor of a world, who keeps tokens as a client elsewhere does: from header to header."""

    def __init__(self, client: httpx2.AsyncClient, scene: Scene, question: str) -> None:
        self._client = client
        self._question = question
        self._locked = scene.locked
        self._headers = {HEADER: PROTOCOL} if scene.negotiated else {}
        self._headers |= {"Origin": LISTED} if scene.listed_site else {}
        self._tokens: dict[str, str] = {}
        self._conversation = "conv_none"

    async def message(self) -> httpx2.Response:
        """The answer that the world is about."""
        return await self.post({"input": self._question, **self._password()}, _KEY)

    async def again(self) -> httpx2.Response:
        """The same request once more: told from the ledger."""
        return await self.post({"input": self._question}, _KEY)

    def _password(self) -> dict[str, str]:
        return {"password": PASSWORD} if self._locked else {}

    async def post(
        self, body: object, headers: Mapping[str, str] = {}, path: str = "", **how: Any
    ) -> httpx2.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.ask("POST", path, {"Content-Type": "application/json", **headers}, content, **how)

    async def ask(
        self,
        method: str,
        path: str = "",
        headers: Mapping[str, str] = {},
        content: bytes = b"",
        *,
        stranger: bool = False,
    ) -> httpx2.Response:
        """Ask below the chat's API. A `stranger` brings no token."""
        sent = {**self._headers, **({} if stranger else self._tokens), **headers}
        answer = await self._client.request(method, f"/api/chat/{SLUG}{path}", headers=sent, content=content)
        if not stranger:
            for name in ("X-Studio-Visitor", "X-Studio-Access"):
                self._tokens |= {name: answer.headers[name]} if name in answer.headers else {}
            self._conversation = answer.headers.get("X-Studio-Conversation", self._conversation)
        return answer

    async def page(self) -> httpx2.Response:
        return await self._client.get(f"/chat/{SLUG}", headers=self._headers)

    @property
    def conversation(self) -> str:
        return f"/conversations/{self._conversation}"


@dataclass(frozen=True)
class Endpoint:
    """`route` is its name in the URL table. `always`: asked in every world, not in some."""

    name: str
    route: str
    ask: Callable[[Visit], Awaitable[httpx2.Response]]
    always: bool = False


_FOREIGN = {"Origin": "https://elsewhere.example.com"}

#: In the order in which they are asked, after the message itself.
TABLE = (
    Endpoint("the same message again", "chat", Visit.again, always=True),
    Endpoint("history", "chat-conversation", lambda v: v.ask("GET", v.conversation), always=True),
    Endpoint("config", "chat", lambda v: v.ask("GET")),
    Endpoint("config for strangers", "chat", lambda v: v.ask("GET", stranger=True)),
    Endpoint("page", "chat-page", Visit.page),
    Endpoint("preflight", "chat", lambda v: v.ask("OPTIONS", stranger=True)),
    Endpoint("way in", "chat-access", lambda v: v.post({"password": PASSWORD}, path="/access")),
    Endpoint("wrong password", "chat-access", lambda v: v.post({"password": "?"}, path="/access")),
    Endpoint(
        "history for strangers", "chat-conversation", lambda v: v.ask("GET", v.conversation, stranger=True)
    ),
    Endpoint("no such conversation", "chat-conversation", lambda v: v.ask("GET", "/conversations/conv_1")),
    Endpoint("message in another's", "chat", lambda v: v.post({"input": "Hi", "conversationId": "conv_1"})),
    Endpoint("another message, same key", "chat", lambda v: v.post({"input": "Hi"}, _KEY)),
    Endpoint(
        "message without a way in", "chat", lambda v: v.post({"input": "Hi", "password": "?"}, stranger=True)
    ),
    Endpoint("no JSON", "chat", lambda v: v.post(b"{")),
    Endpoint("unknown key", "chat", lambda v: v.post({"input": "Hi", "includeThinking": True})),
    Endpoint("blank", "chat", lambda v: v.post({"input": " "})),
    Endpoint("too long", "chat", lambda v: v.post({"input": "x" * 20_001})),
    Endpoint("no content type", "chat", lambda v: v.ask("POST", content=b"{}")),
    Endpoint("no such method", "chat", lambda v: v.ask("PUT")),
    Endpoint("from a foreign site", "chat", lambda v: v.post({"input": "Hi"}, _FOREIGN)),
    Endpoint("erasing", "chat-conversation", lambda v: v.ask("DELETE", v.conversation)),
    Endpoint("history after all", "chat-conversation", lambda v: v.ask("GET", v.conversation), always=True),
)
