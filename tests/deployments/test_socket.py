"""The main job on real sockets: a server, a model server, and visitors who read, wait, stop and leave."""

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from tests.deployments.wire import NEGOTIATED, frames_of
from tests.providers_server import Reply, ThreadedProviderServer, chunk, sse, text_reply
from tests.servers import StudioServer, copy_data, manage

# One worker for all of them: they share their servers.
pytestmark = [pytest.mark.socket, pytest.mark.xdist_group("chat-socket")]

PING = b": ping\n\n"
LIMITS = {
    "requests_per_minute": 1000,
    "max_concurrent_runs": {"visitor": 1000, "address": 1000, "chat": 1000},
}


@dataclass(frozen=True)
class Studio:
    """A serving Studio whose chat `support` asks `provider`."""

    server: StudioServer
    provider: ThreadedProviderServer

    @contextmanager
    def say(self, text: str, **headers: str) -> Iterator[httpx2.Response]:
        """Send a message; leaving the block closes the connection."""
        url = f"{self.server.url}/api/chat/support"
        with (
            httpx2.Client(timeout=20) as client,
            client.stream("POST", url, json={"input": text}, headers={**NEGOTIATED, **headers}) as response,
        ):
            assert response.status_code == 200, response.read()
            yield response

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(self._database()) as database:
            return database.execute(query).fetchall()

    def execute(self, script: str) -> None:
        with closing(self._database()) as database:
            database.executescript(script)

    def _database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.server.data_dir / "studio.sqlite3", timeout=20)

    def runs_when(self, done: Callable[[list[tuple[Any, ...]]], bool]) -> list[tuple[Any, ...]]:
        """Return (status, code, usage) of all runs as soon as they are as wanted: the server writes them."""
        deadline = time.monotonic() + 10
        while True:
            rows = self.rows("SELECT status, code, usage FROM runs_run ORDER BY created_at")
            if done(rows):
                return rows
            assert time.monotonic() < deadline, rows
            time.sleep(0.02)


@pytest.fixture(scope="module")
def provider() -> Iterator[ThreadedProviderServer]:
    with ThreadedProviderServer() as server:
        yield server


@pytest.fixture(scope="module")
def studios(
    migrated_data: Path, provider: ThreadedProviderServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Studio]]:
    """One process of each kind for all tests here: starting one takes longer than most of them."""
    started = {}
    for kind in ("uvicorn", "daphne"):
        data = tmp_path_factory.mktemp(kind)
        copy_data(migrated_data, data)
        file = data / "studio.json"  # JSON is YAML
        file.write_text(json.dumps(studio_file(provider.base_url)))
        manage(data, "apply", str(file))
        server = StudioServer(kind, data, {"STUDIO_HEARTBEAT_SECONDS": "1"}, ())
        started[kind] = Studio(server, provider)
    yield started
    for studio in started.values():
        studio.server.stop()


@pytest.fixture(params=["uvicorn"])
def studio(request: pytest.FixtureRequest, studios: dict[str, Studio]) -> Studio:
    found = studios[request.param]
    found.server.wait_ready()
    found.provider.requests.clear()
    found.execute("DELETE FROM runs_message; DELETE FROM runs_traceentry; DELETE FROM runs_run;")
    return found


def studio_file(base_url: str) -> dict[str, Any]:
    agent = {"id": "agent_1", "type": "agent", "model": "local/llama-3", "memory": "conversation"}
    flow = {
        "slug": "support",
        "publish": True,
        "blocks": [{"id": "start", "type": "start"}, agent],
        "edges": [["start", "agent_1"]],
    }
    chat = {
        "slug": "support",
        "workflow": "support",
        "title": "Support",
        "outputs": ["agent_1.content"],
        "limits": LIMITS,
    }
    providers = [{"name": "local", "kind": "openai-compat", "base_url": base_url}]
    return {"providers": providers, "workflows": [flow], "chats": [chat]}


def piece(text: str) -> bytes:
    return sse(chunk({"content": text}), done=False)


both = pytest.mark.parametrize("studio", ["uvicorn", "daphne"], indirect=True)


@both
def test_each_delta_is_on_the_wire_before_the_next_one_is_made(studio: Studio) -> None:
    gate = threading.Event()
    studio.provider.reply(Reply([piece("Hello "), gate, *text_reply("there.").steps]))
    with studio.say("Hi") as response:
        pieces = response.iter_raw()
        first = next(piece for piece in pieces if piece != PING)
        assert b'"chunk":"Hello "' in first
        gate.set()
        raw = first + b"".join(pieces)
    frames = frames_of(raw)
    assert [frame["chunk"] for frame in frames if "event" not in frame] == ["Hello ", "there."]


@both
def test_a_silent_stream_pings(studio: Studio) -> None:
    gate = threading.Event()
    studio.provider.reply(Reply([gate, *text_reply("Hi").steps]))
    with studio.say("Hi") as response:
        pieces = response.iter_raw()
        assert next(pieces) == PING
        gate.set()
        assert frames_of(b"".join(pieces))[0] == {"blockId": "agent_1", "chunk": "Hi"}


@both
@pytest.mark.parametrize("said", [[], [piece("One "), piece("two ")]])
def test_b018_leaving_closes_the_providers_connection_within_a_second(
    studio: Studio, said: list[bytes]
) -> None:
    studio.provider.reply(Reply(said, stays_open=True), text_reply("Next."))
    with studio.say("Hi") as response:
        visitor = {"X-Studio-Visitor": response.headers["X-Studio-Visitor"]}
        conversation = response.headers["X-Studio-Conversation"]
        (asked,) = studio.provider.wait_for_requests(1)
        if said:
            next(piece for piece in response.iter_raw() if piece != PING)
    assert asked.left.wait(1)
    ((status, code, usage),) = studio.runs_when(lambda rows: rows[0][0] not in ("queued", "running"))
    assert (status, code) == ("cancelled", "RUN_CANCELLED")
    assert json.loads(usage)["estimated"] is True
    # The next turn works, and is told that there was a stop instead of the text that came.
    url = f"{studio.server.url}/api/chat/support"
    body = {"input": "Go on", "conversationId": conversation}
    answer = httpx2.post(url, json=body, headers={**NEGOTIATED, **visitor}, timeout=20)
    assert frames_of(answer.content)[0]["chunk"] == "Next."
    told = str(studio.provider.requests[-1].body["messages"])
    assert "stopped" in told
    assert "One two" not in told
    stored = httpx2.get(f"{url}/conversations/{conversation}", headers=visitor).json()["messages"]
    assert [(message["content"], message["status"]) for message in stored] == [
        ("Hi", "complete"),
        ("", "stopped"),
        ("Go on", "complete"),
        ("Next.", "complete"),
    ]


def test_b037_stopping_again_and_again_leaves_nothing_running(studio: Studio) -> None:
    studio.provider.answer(lambda _: Reply([piece("Wait")], stays_open=True))
    for number in range(20):
        with studio.say("Hi"):
            time.sleep(number * 0.005)
    rows = studio.runs_when(lambda rows: all(row[0] == "cancelled" for row in rows))
    assert len(rows) == 20
    assert all(request.left.wait(2) for request in studio.provider.requests)


# --- Many at once -------------------------------------------------------------------------------------------

OPEN = 200


def held(server: StudioServer) -> tuple[int, int]:
    """Return how many threads the process has, and how many of its files are the database's."""
    process = psutil.Process(server.pid)
    files = [file.path for file in process.open_files() if "studio.sqlite3" in file.path]
    return process.num_threads(), len(files)


def held_when_idle(server: StudioServer) -> tuple[int, int]:
    """The same once two looks in a row agree: threads end a moment after their work."""
    deadline, before = time.monotonic() + 10, held(server)
    while True:
        time.sleep(1.5)  # the writer gives its connection back after a second without work
        now = held(server)
        if now == before:
            return now
        assert time.monotonic() < deadline
        before = now


def test_two_hundred_open_streams_hold_no_thread_and_no_connection(studio: Studio) -> None:
    studio.provider.reply(text_reply("Warm."))
    with studio.say("Hi") as response:
        response.read()
    gate = threading.Event()
    studio.provider.answer(lambda _: Reply([piece("Hello "), gate, *text_reply("there.").steps]))
    threads, files = held_when_idle(studio.server)
    answers = asyncio.run(open_many(studio, gate, lambda: held_when_idle(studio.server), threads, files))
    assert all(answer == ["Hello ", "there."] for answer in answers)
    assert len(answers) == OPEN


async def open_many(
    studio: Studio, gate: threading.Event, look: Callable[[], tuple[int, int]], threads: int, files: int
) -> list[list[str]]:
    limits = httpx2.Limits(max_connections=OPEN)
    async with httpx2.AsyncClient(timeout=60, limits=limits) as client:
        first, opened = asyncio.Event(), 0

        async def read() -> list[str]:
            nonlocal opened
            url = f"{studio.server.url}/api/chat/support"
            async with client.stream("POST", url, json={"input": "Hi"}, headers=NEGOTIATED) as response:
                raw = b""
                async for piece in response.aiter_raw():
                    if not raw:
                        opened += 1
                        if opened == OPEN:
                            first.set()
                    raw += piece
            return [frame["chunk"] for frame in frames_of(raw) if "event" not in frame]

        reading = [asyncio.create_task(read()) for _ in range(OPEN)]
        await asyncio.wait_for(first.wait(), 60)
        open_threads, open_files = await asyncio.to_thread(look)
        gate.set()
        answers = await asyncio.gather(*reading)
    assert open_threads <= threads + 2, (threads, open_threads)
    assert open_files <= files, (files, open_files)
    return answers
