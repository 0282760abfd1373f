"""The provider against a real socket: what it sends, how it fails, and that it leaves when it is told to."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from agents.conversation import ModelRequest, UserMessage
from agents.errors import ProviderError
from agents.providers import model_call, openai_client
from agents.providers.base import ProviderEvent, ResponseEnded, ResponseFailed, TurnStop
from agents.providers.chat_completions.provider import ChatCompletionsProvider
from streaming.codes import RunCode
from streaming.events import TextDelta, Usage
from tests.providers_server import ProviderServer, Reply, chunk, error_reply, sse, text_reply

pytestmark = pytest.mark.socket

KEY = "sk-test-1234567890"
ASK = ModelRequest("test-model", [UserMessage("hi")], temperature=0.2)


@pytest.fixture
async def server() -> AsyncIterator[ProviderServer]:
    async with ProviderServer() as running:
        yield running


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No second try: what cannot pass by itself need not be waited for."""
    monkeypatch.setattr(openai_client, "MAX_RETRIES", 0)


def provider(server: ProviderServer, key: str = KEY) -> ChatCompletionsProvider:
    return ChatCompletionsProvider("local", server.base_url, key)


async def events(of: ChatCompletionsProvider, request: ModelRequest = ASK) -> list[ProviderEvent]:
    async with aclosing(of.stream(request)) as batches:
        return [event async for batch in batches for event in batch]


async def refusal(of: ChatCompletionsProvider, request: ModelRequest = ASK) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await events(of, request)
    return raised.value


# --- The call -----------------------------------------------------------------------------------------------


async def test_it_streams_an_answer_and_sends_key_and_request(server: ProviderServer) -> None:
    server.reply(text_reply("Hel", "lo"))
    assert await events(provider(server)) == [
        TextDelta("Hel"),
        TextDelta("lo"),
        ResponseEnded(True, TurnStop.STOP, Usage(10, 2, 12), "test-model", "stop"),
    ]
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "test-model",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.2,
    }


async def test_what_one_read_brought_is_one_batch(server: ProviderServer) -> None:
    go_on = asyncio.Event()
    first, second = (
        sse(chunk({"content": "a"}), chunk({"content": "b"}), done=False),
        sse(chunk(finish="stop")),
    )
    server.reply(Reply([first, go_on, second]))
    async with aclosing(provider(server).stream(ASK)) as batches:
        assert await anext(batches) == [TextDelta("a"), TextDelta("b")]
        go_on.set()
        assert len(await anext(batches)) == 1


async def test_the_connection_is_used_again(server: ProviderServer) -> None:
    server.reply(text_reply("a"), text_reply("b"), text_reply("c"))
    for of in (provider(server), provider(server), provider(server, "another")):
        await events(of)
    assert {request.connection for request in server.requests} == {0}


async def test_each_key_is_sent_only_where_it_belongs(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    server.reply(text_reply("a"), text_reply("b"))
    await events(provider(server, ""))
    await events(provider(server, "sk-second"))
    assert [request.headers["Authorization"] for request in server.requests] == [
        "Bearer none",
        "Bearer sk-second",
    ]
    assert not any(
        "environment" in value for request in server.requests for value in request.headers.values()
    )


async def test_proxy_variables_are_ignored(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    server.reply(text_reply("a"))
    assert await events(provider(server))


async def test_cookies_are_not_kept(server: ProviderServer) -> None:
    first = text_reply("a")
    server.reply(Reply(first.steps, headers={**first.headers, "Set-Cookie": "a=b"}), text_reply("b"))
    await events(provider(server))
    await events(provider(server))
    assert "Cookie" not in server.requests[1].headers


async def test_a_compressed_stream_is_read(server: ProviderServer) -> None:
    import gzip

    body = gzip.compress(sse(chunk({"content": "a"}, "stop")))
    server.reply(Reply([body], headers={"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}))
    assert (await events(provider(server)))[0] == TextDelta("a")


async def test_two_hundred_streams_are_open_at_once_without_a_thread_each(server: ProviderServer) -> None:
    go_on = asyncio.Event()
    server.answer(
        lambda request: Reply([sse(chunk({"content": "a"}), done=False), go_on, sse(chunk(finish="stop"))])
    )
    streams = [provider(server).stream(ASK) for _ in range(220)]
    before = threading.active_count()
    firsts = await asyncio.gather(*(anext(stream) for stream in streams))
    assert firsts == [[TextDelta("a")]] * 220
    assert len({request.connection for request in server.requests}) == 220
    assert threading.active_count() - before <= 8
    go_on.set()
    for stream in streams:
        await stream.aclose()


# --- Leaving ------------------------------------------------------------------------------------------------


async def left_within(server: ProviderServer, seconds: float) -> bool:
    return await asyncio.to_thread(server.requests[-1].left.wait, seconds)


async def test_closing_the_generator_closes_the_connection_at_once(server: ProviderServer) -> None:
    server.reply(Reply([sse(chunk({"content": "a"}), done=False)], stays_open=True))
    stream = provider(server).stream(ASK)
    await anext(stream)
    await stream.aclose()
    assert await left_within(server, 1)


async def test_cancelling_a_waiting_read_closes_the_connection_at_once(server: ProviderServer) -> None:
    server.reply(Reply([sse(chunk({"content": "a"}), done=False)], stays_open=True))
    reading = asyncio.create_task(events(provider(server)))
    while not server.requests:  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0.005)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await left_within(server, 1)


async def test_cancelling_before_the_answer_begins_closes_the_connection_at_once(
    server: ProviderServer,
) -> None:
    never = asyncio.Event()
    server.answer(lambda request: Reply([never]))
    reading = asyncio.create_task(events(provider(server)))
    while not server.requests:  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0.005)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await left_within(server, 1)


async def test_a_vendor_that_forgets_to_end_is_left_after_its_turn(
    server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_call, "AFTER_THE_TURN_SECONDS", 0.02)
    server.reply(Reply([sse(chunk({"content": "a"}, "stop"), done=False)], stays_open=True))
    assert isinstance((await events(provider(server)))[-1], ResponseEnded)
    assert await left_within(server, 1)


async def test_a_vendor_that_does_not_close_after_its_end_marker_keeps_nobody_waiting(
    server: ProviderServer,
) -> None:
    server.reply(Reply([sse(chunk({"content": "a"}, "stop"))], stays_open=True))
    begun = time.monotonic()
    assert isinstance((await events(provider(server)))[-1], ResponseEnded)
    assert time.monotonic() - begun < 2
    assert await left_within(server, 1)


# --- Failing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, {"message": "bad"}, RunCode.PROVIDER_BAD_REQUEST),
        (400, {"message": "too long", "code": "context_length_exceeded"}, RunCode.CONTEXT_WINDOW_EXCEEDED),
        (400, {"message": "x", "code": "content_filter"}, RunCode.PROVIDER_CONTENT_FILTERED),
        (401, {"message": "no such key"}, RunCode.PROVIDER_AUTH),
        (403, {"message": "not yours"}, RunCode.PROVIDER_AUTH),
        (404, {"message": "no such model"}, RunCode.PROVIDER_BAD_REQUEST),
        (307, {"message": "elsewhere"}, RunCode.PROVIDER_BAD_REQUEST),
    ],
)
async def test_a_refusal_is_raised_with_its_code_and_words(
    server: ProviderServer, status: int, error: dict[str, str], code: RunCode
) -> None:
    server.reply(error_reply(status, {"error": error}))
    raised = await refusal(provider(server))
    assert raised.code is code
    assert raised.provider == "local"
    assert error["message"] in raised.detail or status == 307
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (429, RunCode.PROVIDER_RATE_LIMITED),
        (500, RunCode.PROVIDER_UNAVAILABLE),
        (503, RunCode.PROVIDER_OVERLOADED),
        (529, RunCode.PROVIDER_OVERLOADED),
    ],
)
async def test_b011_what_may_pass_is_tried_three_times_as_the_vendor_says(
    server: ProviderServer, status: int, code: RunCode
) -> None:
    server.answer(
        lambda request: error_reply(status, {"error": {"message": "later"}}, {"retry-after-ms": "1"})
    )
    assert (await refusal(provider(server))).code is code
    assert len(server.requests) == 3


async def test_retry_after_is_honoured(server: ProviderServer) -> None:
    server.reply(error_reply(429, {"error": "slow down"}, {"Retry-After": "0.3"}), text_reply("a"))
    begun = time.monotonic()
    assert await events(provider(server))
    assert 0.3 <= time.monotonic() - begun < 2


async def test_a_page_as_refusal_is_shown(server: ProviderServer) -> None:
    server.reply(Reply([b"<h1>Forbidden</h1>"], 403, {"Content-Type": "text/html"}))
    assert "<h1>Forbidden</h1>" in (await refusal(provider(server))).detail


async def test_the_key_is_not_in_the_detail(server: ProviderServer) -> None:
    server.reply(error_reply(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}))
    detail = (await refusal(provider(server))).detail
    assert KEY not in detail
    assert "[key]" in detail


async def test_a_connection_that_breaks_after_text_is_the_last_event(server: ProviderServer) -> None:
    server.reply(Reply([sse(chunk({"content": "a"}), done=False)], cut=True))
    *before, last = await events(provider(server))
    assert before == [TextDelta("a")]
    assert isinstance(last, ResponseFailed)
    assert last.code is RunCode.PROVIDER_STREAM_BROKEN


async def test_a_connection_that_breaks_after_the_turn_leaves_the_answer_whole(
    server: ProviderServer,
) -> None:
    server.reply(Reply([sse(chunk({"content": "a"}, "stop"), done=False)], cut=True))
    assert isinstance((await events(provider(server)))[-1], ResponseEnded)


async def test_a_connection_that_breaks_before_the_first_byte_is_raised(server: ProviderServer) -> None:
    server.answer(lambda request: Reply([0.0], cut=True))
    assert (await refusal(provider(server))).code is RunCode.PROVIDER_STREAM_BROKEN


async def test_nobody_there_is_unavailable(once: None) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        of = ChatCompletionsProvider("local", f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        raised = await refusal(of)
    assert raised.code is RunCode.PROVIDER_UNAVAILABLE
    assert "127.0.0.1" in raised.detail


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "not a url", "http://", "/v1"])
async def test_an_address_that_is_none_is_a_bad_request(url: str, once: None) -> None:
    assert (await refusal(ChatCompletionsProvider("local", url))).code is RunCode.PROVIDER_BAD_REQUEST


async def test_a_key_that_no_header_can_carry_is_a_bad_request(server: ProviderServer) -> None:
    raised = await refusal(provider(server, "sk\nX-Evil: 1"))
    assert raised.code is RunCode.PROVIDER_BAD_REQUEST
    assert "X-Evil" not in raised.detail
    assert server.requests == []


# --- Redirects and addresses --------------------------------------------------------------------------------


async def test_b105_a_redirect_gets_neither_key_nor_conversation(server: ProviderServer) -> None:
    async with ProviderServer() as other:
        server.reply(Reply(status=307, headers={"Location": f"{other.base_url}/chat/completions"}))
        raised = await refusal(provider(server))
        assert raised.code is RunCode.PROVIDER_BAD_REQUEST
        assert "redirect" in raised.detail
        assert other.requests == []


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "0xa9fea9fe",
        "0xa9.0xfe.0xa9.0xfe",
    ],
)
async def test_b106_metadata_addresses_are_refused_at_once_in_every_spelling(host: str) -> None:
    raised = await refusal(ChatCompletionsProvider("local", f"http://{host}/v1", KEY))
    assert raised.code is RunCode.PROVIDER_UNAVAILABLE
    assert "metadata address" in raised.detail


@pytest.mark.parametrize("host", ["2852039166", "169.254.43518", "0", "127.1"])
async def test_b106_addresses_in_short_are_no_addresses(host: str, once: None) -> None:
    raised = await refusal(ChatCompletionsProvider("local", f"http://{host}/v1", KEY))
    assert raised.code is RunCode.PROVIDER_BAD_REQUEST


async def test_b106_a_name_that_resolves_to_a_metadata_address_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(*arguments: object, **options: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    raised = await refusal(ChatCompletionsProvider("local", "http://llm.example.com/v1", KEY))
    assert "metadata address" in raised.detail


# --- Options that a vendor refuses --------------------------------------------------------------------------


async def test_b069_a_vendor_that_refuses_stream_options_is_asked_again_without(
    server: ProviderServer,
) -> None:
    server.reply(
        error_reply(400, {"error": {"message": "unknown field: stream_options"}}),
        Reply([sse(chunk({"content": "a"}), chunk(finish="stop"))]),
        text_reply("b"),
    )
    of = provider(server)
    *said, ended = await events(of)
    assert said == [TextDelta("a")]
    assert isinstance(ended, ResponseEnded)
    assert ended.usage == Usage()
    await events(of)
    asked = ["stream_options" in request.body for request in server.requests]
    assert asked == [True, False, False], "it is asked once and remembered"


async def test_a_refusal_that_is_about_something_else_costs_later_calls_nothing(
    server: ProviderServer,
) -> None:
    complaint = error_reply(400, {"error": {"message": "your text mentions stream_options"}})
    server.reply(complaint, complaint, text_reply("a"))
    await refusal(provider(server))
    await events(provider(server))
    assert "stream_options" in server.requests[-1].body


async def test_a_vendor_that_refuses_everything_is_asked_a_bounded_number_of_times(
    server: ProviderServer,
) -> None:
    names = "stream_options temperature 'max_tokens' 'max_completion_tokens'"
    server.answer(lambda request: error_reply(400, {"error": {"message": names}}))
    request = ModelRequest("test-model", [UserMessage("hi")], temperature=0.2, max_output_tokens=5)
    await refusal(provider(server), request)
    assert len(server.requests) <= 6
