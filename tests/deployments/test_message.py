"""The main job over HTTP: a message in, an answer out under the chat's policies, a row in the ledger."""

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from deployments.models import ChatDeployment
from runs.models import Run, Status, TraceEntry
from tests.deployments.conftest import MakeChat
from tests.deployments.wire import NEGOTIATED, Answer, Visitor, row, thinking_reply
from tests.providers_server import ProviderServer, Reply, chunk, sse, text_reply, tool_reply
from workflows.models import Workflow

Visit = Callable[[str], Visitor]
PLAIN: dict[str, str] = {}

#: What may never reach a visitor, wherever it stands.
SECRETS = (
    "CEDAR-12",
    "MAPLE-31",
    "ELM-5",
    "OAK-77",
    "provider-call-id",
    "local/llama-3",
    "llama-3",
    "test-model",
)


def agent_graph(**agent: Any) -> dict[str, Any]:
    block = {"id": "agent_1", "type": "agent", "name": "First look", "model": "local/llama-3", **agent}
    return {"blocks": [{"id": "start", "type": "start"}, block], "edges": [["start", "agent_1"]]}


def tool_graph(provider: ProviderServer) -> dict[str, Any]:
    lookup = {
        "type": "http",
        "name": "lookup_order",
        "method": "POST",
        "url": f"{provider.url}/orders?OAK-77",
        "parameters": {"type": "object", "properties": {"code": {"type": "string"}}},
    }
    return agent_graph(instructions="CEDAR-12", tools=[lookup])


@sync_to_async
def publish(workflow: Workflow, graph: dict[str, Any]) -> None:
    workflow.published = workflow.versions.create(number=workflow.versions.count() + 1, graph=graph)
    workflow.draft = graph
    workflow.save()


@pytest.fixture
async def with_tool(provider: ProviderServer, chat: ChatDeployment, settings: Any) -> None:
    """The chat's agent has a tool, and the model uses it: two turns with thinking, text and a call."""
    settings.STUDIO_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    await publish(chat.workflow, tool_graph(provider))
    play_two_turns(provider)


def play_two_turns(provider: ProviderServer) -> None:
    call = tool_reply(("provider-call-id", "lookup_order", '{"code":"ELM-5"}'))
    provider.reply(
        thinking_reply(
            ["I think ", "of it."], Reply([sse(chunk({"content": "One moment."}), done=False), *call.steps])
        ),
        Reply([b'{"internal_note":"MAPLE-31"}'], headers={"Content-Type": "application/json"}),
        thinking_reply(["Now I know."], text_reply("On ", "its way.")),
    )


# --- Clients and policies -----------------------------------------------------------------------------------


async def test_a_negotiated_client_gets_each_delta_as_it_came(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(text_reply("Hel", "lo", " there."))
    answer = await visit("support").say("Hi")
    run = await row()
    assert answer.frames == [
        {"blockId": "agent_1", "chunk": "Hel"},
        {"blockId": "agent_1", "chunk": "lo"},
        {"blockId": "agent_1", "chunk": " there."},
        {
            "event": "final",
            "data": {
                "success": True,
                "executionId": run.pk,
                "output": {"agent_1": {"content": "Hello there."}},
            },
        },
    ]


async def test_a_plain_client_gets_the_settled_answer_in_one_piece(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(text_reply("Hel", "lo", " there."))
    answer = await visit("support").say("Hi", PLAIN)
    assert answer.chunks == ["Hello there."]
    assert [frame.get("event") for frame in answer.frames] == [None, "final"]


async def test_the_answer_carries_the_headers_of_an_event_stream(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(text_reply("Hi"), text_reply("Hi"))
    visitor = visit("support")
    negotiated, plain = await visitor.say("Hi"), await visitor.say("Hi", PLAIN)
    for answer in (negotiated, plain):
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-cache, no-transform"
        assert answer.headers["X-Accel-Buffering"] == "no"
        assert answer.headers["Content-Encoding"] == "identity"
        assert "Content-Length" not in answer.headers
        assert answer.headers["X-Studio-Conversation"].startswith("conv_")
    assert negotiated.headers["X-Studio-Stream-Protocol"] == "agent-events-v1"
    assert "X-Studio-Stream-Protocol" not in plain.headers


@pytest.mark.parametrize(
    "protocol", ["agent-events-v1", " other , AGENT-EVENTS-V1", "agent-events-v2", "", "x"]
)
async def test_negotiation_depends_on_the_header_alone(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, protocol: str
) -> None:
    provider.reply(text_reply("Hi"))
    answer = await visit("support").say(
        "Hi", {"X-Studio-Stream-Protocol": protocol, "Accept": "application/json"}
    )
    spoken = answer.headers.get("X-Studio-Stream-Protocol")
    assert spoken == ("agent-events-v1" if "agent-events-v1" in protocol.lower() else None)


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("tools", [False, True])
@pytest.mark.parametrize("headers", [PLAIN, NEGOTIATED])
@pytest.mark.usefixtures("with_tool")
async def test_each_policy_decides_on_its_own_frames(
    visit: Visit, chat: ChatDeployment, thinking: bool, tools: bool, headers: dict[str, str]
) -> None:
    await set_policies(chat, thinking=thinking, tools=tools)
    answer = await visit("support").say("Where is it?", headers)
    negotiated = headers is NEGOTIATED
    assert answer.text == "On its way."
    assert [frame["data"] for frame in answer.of("thinking")] == (
        ["I think ", "of it.", "Now I know."] if thinking and negotiated else []
    )
    assert answer.of("tool") == (TOOL_FRAMES if tools and negotiated else [])
    assert len(answer.of("chunk_reset")) == (1 if negotiated else 0)
    output = answer.final["output"]["agent_1"]
    listed = {"list": [{"id": "call_1", "name": "lookup_order", "status": "success"}], "count": 1}
    expected = {"content": "On its way."} | ({"toolCalls": listed} if tools and negotiated else {})
    assert output == expected


TOOL_FRAMES = [
    {"blockId": "agent_1", "event": "tool", "phase": "start", "id": "call_1", "name": "lookup_order"},
    {
        "blockId": "agent_1",
        "event": "tool",
        "phase": "end",
        "id": "call_1",
        "name": "lookup_order",
        "status": "success",
    },
]


@sync_to_async
def set_policies(chat: ChatDeployment, *, thinking: bool, tools: bool) -> None:
    chat.include_thinking, chat.include_tool_calls = thinking, tools
    chat.save()


@pytest.mark.usefixtures("with_tool")
async def test_a_tool_turn_comes_in_its_order(visit: Visit, chat: ChatDeployment) -> None:
    await set_policies(chat, thinking=True, tools=True)
    answer = await visit("support").say("Where is it?")
    assert [frame.get("event", "chunk") + frame.get("phase", "") for frame in answer.frames] == [
        "thinking",
        "thinking",
        "chunk",
        "toolstart",
        "chunk_reset",
        "toolend",
        "thinking",
        "chunk",
        "chunk",
        "final",
    ]


@pytest.mark.usefixtures("with_tool")
async def test_b001_nothing_internal_is_in_any_byte_a_visitor_gets(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    await set_policies(chat, thinking=True, tools=True)
    visitor = visit("support")
    seen: list[bytes] = []
    for headers in (NEGOTIATED, PLAIN):
        answer = await visitor.say("Where is it?", headers)
        assert answer.text == "On its way."
        seen += [answer.raw, str(answer.headers).encode()]
        play_two_turns(provider)
    for path in (
        "/chat/support",
        "/api/chat/support",
        f"/api/chat/support/conversations/{visitor.conversation}",
    ):
        loaded = await visitor.client.get(path, headers=visitor.headers)
        assert loaded.status_code == 200
        seen += [loaded.content, str(loaded.headers).encode()]
    leaks = [secret for secret in SECRETS for bytes_ in seen if secret.encode() in bytes_]
    assert leaks == []
    # The provider did get what is hidden, so the search above could have found it.
    sent = str([request.body for request in provider.requests])
    assert all(secret in sent for secret in ("CEDAR-12", "MAPLE-31", "ELM-5"))


async def test_b003_a_toggle_counts_from_the_next_message_on(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.answer(lambda _: thinking_reply(["Hmm."], text_reply("Yes.")))
    visitor = visit("support")
    shown = []
    for thinking in (True, False, True):
        await set_policies(chat, thinking=thinking, tools=False)
        answer = await visitor.say("Hi")
        assert answer.text == "Yes."
        shown.append([frame["data"] for frame in answer.of("thinking")])
    assert shown == [["Hmm."], [], ["Hmm."]]


async def test_thinking_is_traced_only_while_the_policy_has_it_on(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.answer(lambda _: thinking_reply(["Hmm."], text_reply("Yes.")))
    visitor = visit("support")
    await visitor.say("Hi")
    assert not await TraceEntry.objects.filter(kind="thinking").aexists()
    await set_policies(chat, thinking=True, tools=False)
    await visitor.say("Hi")
    assert await TraceEntry.objects.filter(kind="thinking").acount() == 1


# --- Text as it is ------------------------------------------------------------------------------------------


async def test_b004_text_that_the_last_chunk_repeats_is_there_once(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    said = [chunk({"content": "One "}), chunk({"content": "two."})]
    last = {
        "choices": [{"index": 0, "message": {"content": "One two."}, "delta": {}, "finish_reason": "stop"}]
    }
    provider.reply(thinking_reply(["a", "b", "c"], Reply([sse(*said, last)])))
    answer = await visit("support").say("Count")
    assert answer.text == "One two."
    assert answer.final["output"]["agent_1"]["content"] == "One two."


@pytest.mark.parametrize(
    "deltas",
    [
        ["Write data: [DONE] at the end, then continue."],
        ["Write data: [DO", "NE] at the end, ", "then continue."],
        ['Write "[DONE]"\n\ndata: "[DONE]"\n\n and go on.'],
    ],
)
@pytest.mark.parametrize("headers", [PLAIN, NEGOTIATED])
async def test_b013_an_answer_may_hold_the_sentinel(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, deltas: list[str], headers: dict[str, str]
) -> None:
    provider.reply(text_reply(*deltas))
    answer = await visit("support").say("Hi", headers)
    assert answer.text == "".join(deltas)


async def test_b014_line_ends_of_every_kind_arrive_as_they_were(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    deltas = ["line1\n", "\n", "a\u2028b", "x\u000by", "end\r\n", "\u0085", "\u2029z", "\x1c\x1d\x1e"]
    provider.reply(text_reply(*deltas))
    answer = await visit("support").say("Hi")
    assert answer.chunks == deltas
    assert len(answer.raw.splitlines()) == len(answer.raw.split(b"\n")) - 1


async def test_unsafe_characters_are_replaced_on_their_way_in(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(
        Reply([b'data: {"choices":[{"delta":{"content":"a\\u0000b\\ud800c"}}]}\n\n', *text_reply("!").steps])
    )
    visitor = visit("support")
    answer = await visitor.post(b'{"input":"x\\u0000y\\udc00z"}')
    assert answer.text == "a\ufffdb\ufffdc!"
    asked = provider.requests[0].body["messages"][-1]["content"]
    assert asked == "x\ufffdy\ufffdz"
    assert (await row()).input["input"] == asked


# --- Conversations ------------------------------------------------------------------------------------------


async def test_a_conversation_goes_on_with_what_was_said(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    await publish(chat.workflow, agent_graph(memory="conversation"))
    provider.answer(lambda request: text_reply(f"Answer {len(provider.requests)}"))
    visitor = visit("support")
    for text in ("First", "Second"):
        await visitor.say(text)
    said = [(message["role"], message["content"]) for message in provider.requests[-1].body["messages"]]
    assert said[-3:] == [("user", "First"), ("assistant", "Answer 1"), ("user", "Second")]
    assert [(message["role"], message["content"]) for message in await visitor.messages()] == [
        ("user", "First"),
        ("assistant", "Answer 1"),
        ("user", "Second"),
        ("assistant", "Answer 2"),
    ]


async def test_a_conversation_is_nothing_for_another_visitor(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(text_reply("Hi"))
    visitor, other = visit("support"), visit("support")
    await visitor.say("Mine")
    other.conversation = visitor.conversation
    answer = await other.say("Whose?")
    assert (answer.status, answer.refusal["code"]) == (404, "NOT_FOUND")
    assert await Run.objects.acount() == 1


async def test_a_visitor_is_told_its_token_once(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.answer(lambda _: text_reply("Hi"))
    visitor = visit("support")
    first, second = await visitor.say("Hi"), await visitor.say("Hi")
    assert len(first.headers["X-Studio-Visitor"]) == 32
    assert "X-Studio-Visitor" not in second.headers
    assert "Set-Cookie" not in second.headers


async def test_b138_a_stream_carries_what_a_listed_site_needs_and_no_cookie(
    provider: ProviderServer, visit: Visit, make_chat: MakeChat
) -> None:
    await sync_to_async(make_chat)("widget", allowed_origins=["https://shop.example.org"])
    provider.reply(text_reply("Hi"))
    answer = await visit("widget").say("Hi", {**NEGOTIATED, "Origin": "https://shop.example.org"})
    assert answer.text == "Hi"
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.example.org"
    for name in ("X-Studio-Stream-Protocol", "X-Studio-Visitor", "X-Studio-Conversation"):
        assert name in answer.headers["Access-Control-Expose-Headers"]
        assert name in answer.headers
    assert answer.headers["Vary"] == "Origin"
    assert "Set-Cookie" not in answer.headers
    assert "Access-Control-Allow-Credentials" not in answer.headers


async def test_on_our_own_page_the_visitor_is_a_cookie_no_script_can_read(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(text_reply("Hi"))
    answer = await visit("support").say("Hi", {**NEGOTIATED, "Origin": "http://testserver"})
    assert "X-Studio-Visitor" not in answer.headers
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("studio_visitor=")
    assert "; HttpOnly" in cookie
    assert "; SameSite=Lax" in cookie
    assert "; Path=/api/chat/support" in cookie
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_the_run_keeps_what_was_read_at_its_admission(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(text_reply("Hi"))
    await visit("support").say("Hello")
    run = await row()
    assert run.status == Status.COMPLETED
    assert (run.chat_slug, run.workflow_slug, run.workflow_version) == ("support", "support", 1)
    assert run.policy == {
        "includeThinking": False,
        "includeToolCalls": False,
        "negotiated": True,
        "outputs": ["agent_1.content"],
    }
    assert (run.input["input"], run.output["agent_1"]["content"]) == ("Hello", "Hi")
    assert (run.usage["input_tokens"], run.usage["output_tokens"]) == (10, 1)


async def test_a_model_is_asked_for_thinking_only_where_it_can_reach_somebody(
    provider: ProviderServer, visit: Visit, make_chat: MakeChat
) -> None:
    await sync_to_async(make_chat)("quiet")
    provider.reply(thinking_reply(["Hmm."], text_reply("Hi")))
    answer = await visit("quiet").say("Hi")
    assert answer.of("thinking") == []


def test_the_reader_of_frames_notices_a_second_terminal() -> None:
    final = b'data: {"event":"final","data":{}}\n\n'
    answer = Answer(200, None, final * 2 + b'data: "[DONE]"\n\n')  # type: ignore[arg-type]  # headers are not read
    with pytest.raises(AssertionError):
        _ = answer.frames
