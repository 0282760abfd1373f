"""Every public endpoint of a chat, one line each. What is asked here is under the promise of agent-events-v1
section 9: `leakcheck` searches the answers, and the tests compare them.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import httpx2

from streaming.agent_events_v1 import HEADER, PROTOCOL

_KEY = {"Idempotency-Key": "attempt-1"}


class Visit:
    """One visitor, who keeps tokens as a client elsewhere does: from header to header.

    `password` None: the chat has none. `origin` None: a program, not a page of another site.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        slug: str,
        *,
        negotiated: bool,
        question: str = "Where is my order?",
        password: str | None = None,
        origin: str | None = None,
    ) -> None:
        self._client = client
        self._slug = slug
        self._question = question
        self._password = password
        self._headers = {HEADER: PROTOCOL} if negotiated else {}
        self._headers |= {} if origin is None else {"Origin": origin}
        self._tokens: dict[str, str] = {}
        self._conversation = "conv_none"

    async def message(self) -> httpx2.Response:
        """The answer that all is about; its request holds an Idempotency-Key."""
        password = {} if self._password is None else {"password": self._password}
        return await self.post({"input": self._question, **password}, _KEY)

    async def again(self) -> httpx2.Response:
        """The same request once more: told from the ledger."""
        return await self.post({"input": self._question}, _KEY)

    async def other_with_its_key(self) -> httpx2.Response:
        return await self.post({"input": "Hi"}, _KEY)

    async def enter(self, password: str | None = None) -> httpx2.Response:
        return await self.post({"password": password or self._password or "any"}, path="/access")

    async def post(
        self, body: object, headers: Mapping[str, str] = {}, path: str = "", *, stranger: bool = False
    ) -> httpx2.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers}
        return await self.ask("POST", path, sent, content, stranger=stranger)

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
        answer = await self._client.request(
            method, f"/api/chat/{self._slug}{path}", headers=sent, content=content
        )
        if not stranger:
            for name in ("X-Studio-Visitor", "X-Studio-Access"):
                self._tokens |= {name: answer.headers[name]} if name in answer.headers else {}
            self._conversation = answer.headers.get("X-Studio-Conversation", self._conversation)
        return answer

    async def page(self) -> httpx2.Response:
        return await self._client.get(f"/chat/{self._slug}", headers=self._headers)

    @property
    def conversation(self) -> str:
        return f"/conversations/{self._conversation}"


@dataclass(frozen=True)
class Endpoint:
    """`route` is its name in the URL table. `always`: what it says may depend on how the answer went."""

    name: str
    route: str
    ask: Callable[[Visit], Awaitable[httpx2.Response]]
    always: bool = False


MESSAGE = Endpoint("message", "chat", Visit.message, always=True)
_HISTORY = "chat-conversation"
_ELSEWHERE = {"Origin": "https://elsewhere.example.com"}

#: In the order in which they are asked, after MESSAGE.
TABLE = (
    Endpoint("the same message again", "chat", Visit.again, always=True),
    Endpoint("history", _HISTORY, lambda v: v.ask("GET", v.conversation), always=True),
    Endpoint("config", "chat", lambda v: v.ask("GET")),
    Endpoint("config for strangers", "chat", lambda v: v.ask("GET", stranger=True)),
    Endpoint("page", "chat-page", Visit.page),
    Endpoint("preflight", "chat", lambda v: v.ask("OPTIONS", stranger=True)),
    Endpoint("way in", "chat-access", Visit.enter),
    Endpoint("wrong password", "chat-access", lambda v: v.enter("?")),
    Endpoint("history for strangers", _HISTORY, lambda v: v.ask("GET", v.conversation, stranger=True)),
    Endpoint("no such conversation", _HISTORY, lambda v: v.ask("GET", "/conversations/conv_1")),
    Endpoint("message in another's", "chat", lambda v: v.post({"input": "Hi", "conversationId": "conv_1"})),
    Endpoint("another message, same key", "chat", Visit.other_with_its_key),
    Endpoint("no JSON", "chat", lambda v: v.post(b"{")),
    Endpoint("no object", "chat", lambda v: v.post([])),
    Endpoint("unknown key", "chat", lambda v: v.post({"input": "Hi", "includeThinking": True})),
    Endpoint("blank", "chat", lambda v: v.post({"input": " "})),
    Endpoint("too long", "chat", lambda v: v.post({"input": "x" * 250_001})),
    Endpoint("no content type", "chat", lambda v: v.ask("POST", content=b"{}")),
    Endpoint("no such method", "chat", lambda v: v.ask("PUT")),
    Endpoint("from a foreign site", "chat", lambda v: v.post({"input": "Hi"}, _ELSEWHERE)),
    Endpoint("erasing", _HISTORY, lambda v: v.ask("DELETE", v.conversation)),
    Endpoint("history after all", _HISTORY, lambda v: v.ask("GET", v.conversation)),
)
