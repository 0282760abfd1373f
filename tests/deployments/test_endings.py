"""However an answer ends, its stream ends once and properly, and the ledger says what happened."""

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.hashers import make_password

from credentials.models import ProviderConnection
from deployments import stream
from deployments.models import ChatDeployment, ChatRedactionRule
from runs.models import Run, Status
from streaming.codes import PUBLIC_RUN_SENTENCES, RunCode
from tests.deployments.conftest import MakeChat
from tests.deployments.test_message import agent_graph, publish
from tests.deployments.wire import NEGOTIATED, Answer, Visitor, row
from tests.providers_server import ProviderServer, Reply, chunk, error_reply, sse, text_reply, tool_reply

Visit = Callable[[str], Visitor]
PLAIN: dict[str, str] = {}
#: The SDK asks again at once instead of waiting.
AT_ONCE = {"Retry-After": "0"}


def check_error(answer: Answer, code: RunCode) -> None:
    """One error frame with the fixed sentence, last before the sentinel."""
    assert answer.frames[-1] == {"event": "error", "error": PUBLIC_RUN_SENTENCES[code], "code": code.value}


@pytest.mark.parametrize("headers", [PLAIN, NEGOTIATED])
async def test_b011_a_refusal_before_the_first_byte_is_an_error_frame(
    provider: ProviderServer,
    visit: Visit,
    chat: ChatDeployment,
    headers: dict[str, str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    refused = error_reply(429, {"error": {"message": "MAPLE-31 tokens a minute"}}, AT_ONCE)
    provider.answer(lambda _: refused)
    answer = await visit("support").say("Hi", headers)
    assert len(answer.frames) == 1
    check_error(answer, RunCode.PROVIDER_RATE_LIMITED)
    assert b"MAPLE-31" not in answer.raw
    run = await row()
    assert (run.status, run.code) == (Status.FAILED, "PROVIDER_RATE_LIMITED")
    assert "429" in run.detail
    assert "MAPLE-31" in run.detail


async def test_b011_an_error_in_the_middle_ends_what_was_begun(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    said = sse(chunk({"content": "One "}), chunk({"content": "two"}), done=False)
    failed = sse(
        {"error": {"message": "MAPLE-31", "code": "rate_limit_exceeded", "type": "rate_limit"}}, done=False
    )
    provider.reply(Reply([said, failed]))
    answer = await visit("support").say("Hi")
    assert answer.chunks == ["One ", "two"]
    assert answer.of("stream_error") == [
        {
            "blockId": "agent_1",
            "event": "stream_error",
            "error": PUBLIC_RUN_SENTENCES[RunCode.PROVIDER_RATE_LIMITED],
        }
    ]
    check_error(answer, RunCode.PROVIDER_RATE_LIMITED)
    assert b"MAPLE-31" not in answer.raw
    assert (await row()).status == Status.FAILED


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (error_reply(401, {"error": {"message": "bad key sk-MAPLE-31"}}), RunCode.PROVIDER_AUTH),
        (error_reply(400, {"error": {"message": "MAPLE-31"}}), RunCode.PROVIDER_BAD_REQUEST),
        (error_reply(503, {"error": {"message": "MAPLE-31"}}, AT_ONCE), RunCode.PROVIDER_OVERLOADED),
        (Reply([sse(chunk({"content": "Part"}), done=False)]), RunCode.PROVIDER_STREAM_BROKEN),
        (Reply([sse(chunk({"content": "Part"}), done=False)], cut=True), RunCode.PROVIDER_STREAM_BROKEN),
        (Reply([sse(chunk(finish="stop"))]), RunCode.EMPTY_ANSWER),
        (Reply([sse(chunk({"content": ""}), chunk(finish="stop"))]), RunCode.EMPTY_ANSWER),
        (Reply([sse(chunk({"reasoning_content": "Hm"}), chunk(finish="stop"))]), RunCode.EMPTY_ANSWER),
        (Reply([sse(chunk(finish="content_filter"))]), RunCode.PROVIDER_CONTENT_FILTERED),
    ],
)
async def test_what_a_provider_does_has_its_code(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, reply: Reply, code: RunCode
) -> None:
    provider.answer(lambda _: reply)
    answer = await visit("support").say("Hi")
    check_error(answer, code)
    assert b"MAPLE-31" not in answer.raw
    run = await row()
    assert (run.status, run.code) == (Status.FAILED, code.value)


async def test_a_failed_answer_leaves_only_its_mark(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(Reply([sse(chunk({"content": "Part"}), done=False)]), text_reply("Whole."))
    visitor = visit("support")
    await visitor.say("Hi")
    await visitor.say("Again")
    assert [(m["role"], m["content"], m["status"]) for m in await visitor.messages()] == [
        ("user", "Hi", "complete"),
        ("assistant", "", "failed"),
        ("user", "Again", "complete"),
        ("assistant", "Whole.", "complete"),
    ]


async def test_a_model_that_never_ends_is_stopped_in_time(
    provider: ProviderServer, visit: Visit, make_chat: MakeChat
) -> None:
    await sync_to_async(make_chat)("slow", max_run_seconds=1)
    provider.reply(Reply([sse(chunk({"content": "Wait"}), done=False)], stays_open=True))
    answer = await visit("slow").say("Hi")
    assert answer.chunks == ["Wait"]
    check_error(answer, RunCode.RUN_TIMEOUT)
    run = await row()
    assert (run.status, run.code) == (Status.FAILED, "RUN_TIMEOUT")


@pytest.mark.parametrize("tools", [True, False])
async def test_a_call_that_was_open_at_the_timeout_has_its_end(
    provider: ProviderServer, visit: Visit, make_chat: MakeChat, settings: Any, tools: bool
) -> None:
    settings.STUDIO_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    made = await sync_to_async(make_chat)("slow", max_run_seconds=1, include_tool_calls=tools)
    await publish(
        made.workflow, agent_graph(tools=[{"type": "http", "name": "lookup", "url": f"{provider.url}/x"}])
    )
    provider.reply(tool_reply(("a", "lookup", "{}")), Reply(stays_open=True))
    answer = await visit("slow").say("Hi")
    assert [(frame["phase"], frame.get("status")) for frame in answer.of("tool")] == (
        [("start", None), ("end", "error")] if tools else []
    )
    check_error(answer, RunCode.RUN_TIMEOUT)


async def test_a_provider_that_is_gone_ends_the_run_properly(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    await ProviderConnection.objects.all().adelete()
    answer = await visit("support").say("Hi")
    check_error(answer, RunCode.PROVIDER_AUTH)
    assert b"local" not in answer.raw
    assert "local" in (await row()).detail


async def test_a_stored_graph_that_cannot_run_any_more_ends_the_run_properly(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    await publish(chat.workflow, agent_graph(**{"MAPLE-31": 1}))
    answer = await visit("support").say("Hi")
    check_error(answer, RunCode.BLOCK_FAILED)
    assert b"MAPLE-31" not in answer.raw
    run = await row()
    assert (run.status, run.code) == (Status.FAILED, "BLOCK_FAILED")
    assert "MAPLE-31" in run.detail


async def test_an_unreachable_provider_is_said_to_be_that(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    await ProviderConnection.objects.aupdate(base_url="http://127.0.0.1:1/v1")
    answer = await visit("support").say("Hi")
    check_error(answer, RunCode.PROVIDER_UNAVAILABLE)


async def test_an_endless_failing_tool_ends_by_the_rule_of_the_engine(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    await publish(chat.workflow, agent_graph(max_rounds=50))
    provider.answer(lambda _: tool_reply(("x", "invented", "{}")))
    answer = await visit("support").say("Hi")
    data = answer.final
    assert (data["success"], data["code"]) == (False, "TOOL_FAILURE_LIMIT")
    assert data["error"] == PUBLIC_RUN_SENTENCES[RunCode.TOOL_FAILURE_LIMIT]
    assert b"invented" not in answer.raw
    assert (await row()).status == Status.FAILED


async def test_a_fault_of_our_own_still_ends_the_stream(
    provider: ProviderServer,
    visit: Visit,
    chat: ChatDeployment,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(*_: object) -> AsyncIterator[Any]:
        raise RuntimeError("MAPLE-31")
        yield

    monkeypatch.setattr(stream, "supervise", broken)
    with caplog.at_level(logging.ERROR, "deployments"):
        answer = await visit("support").say("Hi")
    check_error(answer, RunCode.AGENT_RUN_FAILED)
    assert b"MAPLE-31" not in answer.raw
    assert len([record for record in caplog.records if record.name == "deployments"]) == 1


# --- Redaction ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [PLAIN, NEGOTIATED])
async def test_what_a_rule_finds_leaves_only_masked(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, headers: dict[str, str]
) -> None:
    await ChatRedactionRule.objects.acreate(chat=chat, kind="email")
    provider.reply(text_reply("Write to demo.user@exa", "mple.org", " now."))
    visitor = visit("support")
    answer = await visitor.say("Whom?", headers)
    assert answer.chunks == ["Write to [email] now."]
    assert b"example.org" not in answer.raw
    assert (await visitor.messages())[-1]["content"] == "Write to [email] now."
    assert "example.org" not in str((await row()).output)


async def test_b110_a_rule_that_cannot_run_ends_the_run(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    await ChatRedactionRule.objects.acreate(chat=chat, kind="regex", pattern="(?=look)")
    provider.reply(text_reply("QUARTZ"))
    answer = await visit("support").say("Hi")
    assert len(answer.frames) == 1
    check_error(answer, RunCode.BLOCK_FAILED)
    assert provider.requests == []
    assert "redaction rule 1" in (await row()).detail


# --- The same request again ---------------------------------------------------------------------------------

KEY = {**NEGOTIATED, "Idempotency-Key": "attempt-1"}


async def test_the_same_request_again_is_answered_from_the_store(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(text_reply("Hi"), text_reply("On ", "its way."))
    visitor = visit("support")
    await visitor.say("Hello")
    first = await visitor.say("Where is it?", KEY)
    again = await visitor.say("Where is it?", KEY)
    assert again.chunks == ["On its way."]
    assert again.frames[-1] == first.frames[-1]
    assert again.headers["X-Studio-Conversation"] == first.headers["X-Studio-Conversation"]
    assert again.headers["X-Studio-Stream-Protocol"] == "agent-events-v1"
    assert len(provider.requests) == 2
    assert await Run.objects.acount() == 2


async def test_another_request_under_the_same_key_is_refused(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.answer(lambda _: text_reply("Hi"))
    visitor = visit("support")
    await visitor.say("Hello")
    await visitor.say("Where is it?", KEY)
    answer = await visitor.say("And now?", KEY)
    assert (answer.status, answer.refusal["code"]) == (409, "IDEMPOTENCY_CONFLICT")
    plain = {"Idempotency-Key": "attempt-1"}
    assert (await visitor.say("Where is it?", plain)).refusal["code"] == "IDEMPOTENCY_CONFLICT"


async def test_a_stored_failure_is_told_again(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment
) -> None:
    provider.reply(text_reply("Hi"), Reply([sse(chunk({"content": "Part"}), done=False)]))
    visitor = visit("support")
    await visitor.say("Hello")
    await visitor.say("Where is it?", KEY)
    again = await visitor.say("Where is it?", KEY)
    assert len(again.frames) == 1
    check_error(again, RunCode.PROVIDER_STREAM_BROKEN)


# --- Passwords ----------------------------------------------------------------------------------------------


async def test_a_password_in_the_message_lets_in_and_earns_a_grant(
    provider: ProviderServer, visit: Visit, make_chat: MakeChat
) -> None:
    password = await sync_to_async(make_password)("open sesame")
    await sync_to_async(make_chat)("locked", access_mode="password", password_hash=password)
    provider.answer(lambda _: text_reply("Hi"))
    visitor = visit("locked")
    answer = await visitor.say("Hi", password="open sesame")
    assert answer.text == "Hi"
    visitor.headers["X-Studio-Access"] = answer.headers["X-Studio-Access"]
    second = await visitor.say("Hi")
    assert second.text == "Hi"
    assert "X-Studio-Access" not in second.headers


async def test_a_password_is_no_part_of_what_makes_a_request_the_same(
    provider: ProviderServer, visit: Visit, make_chat: MakeChat
) -> None:
    password = await sync_to_async(make_password)("open sesame")
    await sync_to_async(make_chat)("locked", access_mode="password", password_hash=password)
    provider.answer(lambda _: text_reply("Hi"))
    visitor = visit("locked")
    visitor.headers["X-Studio-Access"] = (await visitor.say("Hello", password="open sesame")).headers[
        "X-Studio-Access"
    ]
    first = await visitor.say("Where is it?", KEY, password="open sesame")
    again = await visitor.say("Where is it?", KEY)
    assert again.frames == first.frames
    assert len(provider.requests) == 2
