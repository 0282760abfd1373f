"""What a token costs in a serving process: real sockets, and a model server that answers at once."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
from aiohttp import web

from bench.clock import Result
from bench.wire import A_READ, chunk

ROOT = Path(__file__).resolve().parent.parent
TOKENS = 4000
STREAMS = 10


def measure() -> Iterator[Result]:
    yield from asyncio.run(_measure())


async def _measure() -> list[Result]:
    async with _model_server() as model, _studio(model) as (address, pid):
        await _stream(address, 1)  # imports, connections, caches
        begun, used = asyncio.get_running_loop().time(), _cpu_seconds(pid)
        await asyncio.gather(*(_stream(address, TOKENS) for _ in range(STREAMS)))
        seconds, used = asyncio.get_running_loop().time() - begun, _cpu_seconds(pid) - used
    tokens = TOKENS * STREAMS
    return [
        Result("serve a token, processor time of the whole process", used / tokens * 1e6, "µs"),
        Result(f"tokens a second over {STREAMS} streams", tokens / seconds, "/s"),
    ]


async def _stream(address: str, tokens: int) -> None:
    """Ask for so many tokens, and see that each came as a frame of its own."""
    headers = {"X-Studio-Stream-Protocol": "agent-events-v1"}
    async with (
        aiohttp.ClientSession(read_bufsize=2**20) as session,
        session.post(address, json={"input": str(tokens)}, headers=headers) as response,
    ):
        body = await response.read()
    assert body.count(b'"chunk":') == tokens, body[-300:]
    assert body.endswith(b'data: "[DONE]"\n\n')


async def _answer(request: web.Request) -> web.StreamResponse:
    asked = await request.json()
    tokens = int(asked["messages"][-1]["content"])
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for _ in range(tokens // A_READ):
        await response.write(chunk("word ") * A_READ)
        await asyncio.sleep(0)
    end = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).encode()
    await response.write(chunk("word ") * (tokens % A_READ) + b"data: " + end + b"\n\ndata: [DONE]\n\n")
    return response


@contextlib.asynccontextmanager
async def _model_server() -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_post("/v1/chat/completions", _answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}/v1"
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def _studio(model: str) -> AsyncIterator[tuple[str, int]]:
    """Serve a chat on that model from an empty data folder; yield its address and the process's id."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="studio-bench-") as folder:
        env = {
            **os.environ,
            "STUDIO_DATA_DIR": folder,
            "PORT": str(port),
            "DATABASE_URL": "",
            "REDIS_URL": "",
        }
        (Path(folder) / "studio.yaml").write_text(json.dumps(_studio_file(model)))
        for arguments in (("migrate", "-v0"), ("apply", f"{folder}/studio.yaml")):
            await asyncio.to_thread(_manage, env, *arguments)
        command = (sys.executable, "manage.py", "serve")
        server = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=env, stdout=subprocess.PIPE)
        assert server.stdout
        try:
            await server.stdout.readline()
            yield f"http://127.0.0.1:{port}/api/chat/bench", server.pid
        finally:
            server.terminate()
            await server.communicate()


def _manage(env: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)


def _studio_file(model: str) -> dict[str, object]:
    agent = {"id": "agent_1", "type": "agent", "name": "Bench", "model": "bench/bench", "memory": "none"}
    flow = {"slug": "bench", "name": "Bench", "publish": True, "edges": [["start", "agent_1"]]}
    limits = {
        "requests_per_minute": 1000,
        "max_concurrent_runs": {"visitor": 100, "address": 100, "chat": 100},
    }
    return {
        "providers": [{"name": "bench", "kind": "openai-compat", "base_url": model}],
        "workflows": [{**flow, "blocks": [{"id": "start", "type": "start"}, agent]}],
        "chats": [
            {
                "slug": "bench",
                "workflow": "bench",
                "title": "B",
                "outputs": ["agent_1.content"],
                "limits": limits,
            }
        ],
    }


def _cpu_seconds(pid: int) -> float:
    """Return the processor time of a process, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
