"""The client against real servers on loopback, with resolvers that lie."""

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from agents.addresses import AddressPolicy
from agents.conversation import ToolCall, ToolSpec
from agents.http_client import MAX_REDIRECTS, HttpClient, HttpResponse
from agents.http_request import HttpFailure, Part, request
from agents.http_template import HttpTemplate
from agents.secrets import Secret
from agents.tools.call import call_tool
from agents.tools.http import HttpTool

pytestmark = pytest.mark.socket

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Lying(AbstractResolver):
    """Answers each name with its addresses in turn, the last one for ever."""

    def __init__(self, **addresses: list[str]) -> None:
        self.addresses = {name.replace("_", "."): list(found) for name, found in addresses.items()}
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        found = self.addresses.get(host)
        if not found:
            raise OSError(f"{host} is unknown")
        address = found.pop(0) if len(found) > 1 else found[0]
        kind = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=0)]

    async def close(self) -> None:
        pass


class Server:
    """One handler on every path of 127.0.0.1, and what it was asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[web.BaseRequest, bytes]] = []
        self.handler: Handler = _hello
        self.gone = asyncio.Event()
        self.port = 0

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.seen.append((request, await request.read()))
        assert isinstance(request, web.BaseRequest)
        try:
            return await self.handler(request)  # type: ignore[arg-type]  # handlers read plain attributes only
        except asyncio.CancelledError:
            self.gone.set()
            raise

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


async def _hello(request: web.Request) -> web.StreamResponse:
    return web.Response(text="hello")


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    serving = Server()
    runner = web.ServerRunner(web.Server(serving.handle, handler_cancellation=True))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    serving.port = runner.addresses[0][1]
    yield serving
    await runner.cleanup()


LOOPBACK = AddressPolicy(["127.0.0.0/8"])


async def fetch(
    url: str, policy: AddressPolicy = LOOPBACK, resolver: AbstractResolver | None = None
) -> HttpResponse:
    client = HttpClient(policy, lambda: resolver) if resolver else HttpClient(policy)
    return await client.send(request("GET", Part(url), {}), timeout=5)


async def test_it_answers_with_what_the_server_said(server: Server) -> None:
    response = await fetch(server.url("/find?x=1"))

    assert (response.status, response.reason, response.text) == (200, "OK", "hello")
    assert response.is_text
    assert not response.cut
    assert response.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fd00::1]",
        "[fe80::1]",
        "2130706433",
        "0",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "localhost",
        "LOCALHOST.",
        "①②⑦.0.0.1",
        "169.254.169.254",
    ],
)
async def test_b106_no_spelling_of_a_private_address_is_reached(server: Server, host: str) -> None:
    with pytest.raises(HttpFailure):
        await fetch(server.url(host=host), AddressPolicy())

    assert server.seen == []


async def test_b106_a_name_for_a_private_address_is_refused(server: Server) -> None:
    resolver = Lying(**{"127_0_0_1_nip_io": ["127.0.0.1"]})

    with pytest.raises(HttpFailure, match="not at a public address"):
        await fetch(server.url(host="127.0.0.1.nip.io"), AddressPolicy(), resolver)

    assert resolver.asked == ["127.0.0.1.nip.io"]
    assert server.seen == []


async def test_b106_the_address_that_is_checked_is_the_one_connected_to(server: Server) -> None:
    """A resolver that first says something permitted gets nothing by saying something else next."""
    resolver = Lying(rebinding_test=["127.0.0.1", "127.0.0.2"])
    policy = AddressPolicy(["127.0.0.1"])

    assert (await fetch(server.url(host="rebinding.test"), policy, resolver)).text == "hello"
    with pytest.raises(HttpFailure, match="not at a public address"):
        await fetch(server.url(host="rebinding.test"), policy, resolver)

    assert resolver.asked == ["rebinding.test"] * 2
    assert len(server.seen) == 1


async def test_b106_each_redirect_is_checked_again(server: Server) -> None:
    async def away(request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "http://169.254.169.254/latest/meta-data/"})

    server.handler = away

    with pytest.raises(HttpFailure, match=r"169\.254\.169\.254 is not at a public address"):
        await fetch(server.url(), AddressPolicy(["127.0.0.0/8", "169.254.0.0/16"]))


async def test_b106_an_allowed_name_is_reached_and_the_same_address_under_another_name_is_not(
    server: Server,
) -> None:
    resolver = Lying(inner_test=["127.0.0.1"], outer_test=["127.0.0.1"])
    policy = AddressPolicy(["inner.test"])

    assert (await fetch(server.url(host="inner.test"), policy, resolver)).text == "hello"
    with pytest.raises(HttpFailure):
        await fetch(server.url(host="outer.test"), policy, resolver)
    with pytest.raises(HttpFailure):
        await fetch(server.url(), policy, resolver)


async def test_proxies_of_the_environment_are_ignored(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert (await fetch(server.url())).text == "hello"


KEY = Secret("KEY", "s3cret-value", ("first.test",))


def two_hosts() -> HttpClient:
    resolver = Lying(first_test=["127.0.0.1"], second_test=["127.0.0.1"])
    return HttpClient(LOOPBACK, lambda: resolver)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_b105_another_host_gets_no_secret_and_no_body(server: Server, status: int) -> None:
    async def away(request: web.Request) -> web.StreamResponse:
        if request.host.startswith("second"):
            return web.Response(text="second")
        return web.Response(status=status, headers={"Location": server.url("/b", "second.test")})

    server.handler = away
    headers = {"Authorization": Part("Bearer s3cret-value", frozenset({KEY}))}
    sent = request("POST", Part(server.url("/a", "first.test")), headers, Part('{"key":1}'))

    try:
        response = await two_hosts().send(sent, timeout=5)
    except HttpFailure:
        assert status in {307, 308}
    else:
        assert response.text == "second"
    first, *others = server.seen
    assert first[0].headers["Authorization"] == "Bearer s3cret-value"
    for asked, body in others:
        assert (asked.method, body, asked.headers.get("Authorization")) == ("GET", b"", None)
    assert len(others) == (status not in {307, 308})


async def test_it_gives_up_on_endless_redirects(server: Server) -> None:
    async def again(request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "/again"})

    server.handler = again

    with pytest.raises(HttpFailure, match="more than 5 times"):
        await fetch(server.url())
    assert len(server.seen) == MAX_REDIRECTS + 1


async def test_it_keeps_no_cookies(server: Server) -> None:
    async def cookie(request: web.Request) -> web.StreamResponse:
        if request.path == "/":
            return web.Response(status=302, headers={"Location": "/next", "Set-Cookie": "id=1"})
        return web.Response(text=request.headers.get("Cookie", "none"))

    server.handler = cookie

    assert (await fetch(server.url())).text == "none"


async def test_b103_a_large_answer_is_cut_and_said_so(server: Server) -> None:
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while sent < 200 * 1024 * 1024:
            await response.write(b"x" * 65536)
            sent += 65536
        return response

    server.handler = endless

    response = await fetch(server.url())

    assert response.cut
    assert response.text.endswith("[cut: the answer is longer than 1048576 bytes]")
    assert len(response.text) < 1_100_000
    assert sent < 20 * 1024 * 1024


async def test_a_decompression_bomb_is_bounded(server: Server) -> None:
    bomb = gzip.compress(bytes(b"a" * 20_000_000), 9)

    async def explode(request: web.Request) -> web.StreamResponse:
        return web.Response(body=bomb, headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"})

    server.handler = explode

    response = await fetch(server.url())

    assert response.cut
    assert response.text.startswith("aaaa")
    assert len(response.text) < 1_100_000


async def test_an_answer_that_is_no_text_is_described(server: Server) -> None:
    async def picture(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"\x89PNG" * 100, content_type="image/png")

    server.handler = picture

    response = await fetch(server.url())

    assert (response.text, response.is_text) == ("[no text: image/png, 400 bytes]", False)


async def test_b120_a_secret_that_comes_back_is_masked(server: Server) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        value = request.headers["X-Key"]
        return web.Response(status=401, reason=value, text=f"bad key {value}", headers={"X-Echo": value})

    server.handler = echo
    sent = request(
        "GET", Part(server.url("/a", "first.test")), {"X-Key": Part("s3cret-value", frozenset({KEY}))}
    )

    response = await two_hosts().send(sent, timeout=5)

    assert "s3cret" not in repr(response)
    assert response.text == "bad key {{secret:KEY}}"


async def test_b062_headers_that_are_no_text_are_cleaned(server: Server) -> None:
    async def strange(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.write(
            b"HTTP/1.1 200 O\xff\r\nX-Odd: \xfe\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
        )
        request.transport.close()
        return web.Response()

    server.handler = strange

    response = await fetch(server.url())

    assert (response.text, response.headers["x-odd"]) == ("ok", "\ufffd")
    assert response.reason.encode()


async def test_an_http_tool_reaches_its_endpoint_and_hides_its_secret(server: Server) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        return web.json_response({"path": request.path_qs, "auth": request.headers["Authorization"]})

    server.handler = echo
    parameters = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    template = HttpTemplate(
        "POST",
        server.url("/orders/{id}", "first.test"),
        {"Authorization": "Bearer {{secret:KEY}}"},
        {},
        {"x": 1},
        frozenset({"id"}),
    )
    tool = HttpTool(ToolSpec("find", "", parameters), template, client=two_hosts(), secrets={"KEY": KEY})

    result = await call_tool(tool, ToolCall("c", "find", '{"id": "a b"}'), ["find"])

    assert json.loads(result.text) == {"path": "/orders/a%20b", "auth": "Bearer {{secret:KEY}}"}
    ((asked, body),) = server.seen
    assert (asked.headers["Authorization"], asked.headers["Content-Type"]) == (
        "Bearer s3cret-value",
        "application/json",
    )
    assert json.loads(body) == {"x": 1}


async def test_it_ends_at_its_timeout_and_closes_the_connection(server: Server) -> None:
    server.handler = _hang

    with pytest.raises(HttpFailure, match=r"within 0\.05 seconds"):
        await HttpClient(LOOPBACK).send(request("GET", Part(server.url()), {}), timeout=0.05)

    await asyncio.wait_for(server.gone.wait(), 5)


async def test_cancelling_closes_the_connection(server: Server) -> None:
    started = asyncio.Event()

    async def hang(request: web.Request) -> web.StreamResponse:
        started.set()
        return await _hang(request)

    server.handler = hang
    task = asyncio.create_task(fetch(server.url()))
    await started.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await asyncio.wait_for(server.gone.wait(), 5)


async def _hang(request: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError("never")


async def test_it_says_that_nobody_answers() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]

        with pytest.raises(HttpFailure, match=r"no connection to 127\.0\.0\.1"):
            await fetch(f"http://127.0.0.1:{port}/?key=s3cret-value")


async def test_it_says_that_a_name_is_unknown() -> None:
    with pytest.raises(HttpFailure, match=r"nowhere\.test cannot be resolved"):
        await fetch("http://nowhere.test/", resolver=Lying())


async def test_it_says_that_the_connection_broke_off(server: Server) -> None:
    async def drop(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    server.handler = drop

    with pytest.raises(HttpFailure, match="broke the connection off"):
        await fetch(server.url())


async def test_it_says_that_tls_is_not_to_be_had(server: Server) -> None:
    with pytest.raises(HttpFailure, match="TLS"):
        await fetch(server.url().replace("http:", "https:"))
