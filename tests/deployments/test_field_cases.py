"""Faults of the field in what a public chat discloses, over the real application."""

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from deployments.models import ChatDeployment, ChatRedactionRule
from runs.models import TraceEntry
from tests.deployments.test_endings import AT_ONCE
from tests.deployments.test_message import publish, set_policies, tool_graph
from tests.deployments.wire import NEGOTIATED, Visitor, row, thinking_reply
from tests.providers_server import ProviderServer, Reply, error_reply, text_reply, tool_reply

Visit = Callable[[str], Visitor]
CLIENTS: list[dict[str, str]] = [{}, NEGOTIATED]
ADDRESS = "demo.user@example.org"


@pytest.mark.parametrize("headers", CLIENTS)
async def test_b023_a_word_that_a_rule_finds_is_in_no_frame_and_the_rest_comes_masked(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, headers: dict[str, str]
) -> None:
    await ChatRedactionRule.objects.acreate(chat=chat, kind="words", words=["QUARTZ"], replacement="[hidden]")
    provider.reply(text_reply("safe part ", "QUA", "RTZ", " rest of the text"))
    visitor = visit("support")
    answer = await visitor.say("Hi", headers)
    assert answer.chunks == ["safe part [hidden] rest of the text"]
    assert b"QUARTZ" not in answer.raw
    assert (await visitor.messages())[-1]["content"] == answer.text
    assert "QUARTZ" not in str((await row()).output)


@pytest.mark.parametrize("headers", CLIENTS)
async def test_b108_a_value_of_one_character_a_delta_is_masked(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, headers: dict[str, str]
) -> None:
    await ChatRedactionRule.objects.acreate(chat=chat, kind="email")
    await ChatRedactionRule.objects.acreate(chat=chat, kind="credit_card")
    provider.reply(text_reply(*"contact demo.user@example.org, card 4000 0012 3456 7899."))
    answer = await visit("support").say("Hi", headers)
    assert answer.chunks == ["contact [email], card [credit_card]."]


@pytest.mark.parametrize("headers", CLIENTS)
async def test_b121_a_rule_of_a_chat_covers_every_way_out(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, settings: Any, headers: dict[str, str]
) -> None:
    """Thinking, text, arguments, results, the answer in memory, the ledger and its trace."""
    settings.STUDIO_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    await publish(chat.workflow, tool_graph(provider))
    await set_policies(chat, thinking=True, tools=True)
    await ChatRedactionRule.objects.acreate(chat=chat, kind="email")
    provider.reply(
        thinking_reply(
            ["Ask demo.user@exa", "mple.org."], tool_reply(("x", "lookup_order", f'{{"code":"{ADDRESS}"}}'))
        ),
        Reply([f'{{"owner":"{ADDRESS}"}}'.encode()], headers={"Content-Type": "application/json"}),
        text_reply("It is demo.us", "er@example.org's."),
    )
    visitor = visit("support")
    answer = await visitor.say("Whose?", headers)
    assert answer.text == "It is [email]'s."
    thoughts = [frame["data"] for frame in answer.of("thinking")]
    assert thoughts == (["Ask [email]."] if headers else [])
    trace = [entry async for entry in TraceEntry.objects.all()]
    kept = [answer.raw.decode(), await visitor.messages(), (await row()).output, [one.data for one in trace]]
    assert "[email]" in str(kept[3])
    assert [ADDRESS in str(place) for place in kept] == [False] * 4


@pytest.mark.parametrize("headers", CLIENTS)
async def test_b121_a_rule_of_a_workflow_covers_why_a_run_failed(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, headers: dict[str, str]
) -> None:
    await sync_to_async(chat.workflow.redaction_rules.create)(kind="email")
    provider.answer(lambda _: error_reply(400, {"error": {"message": f"bad {ADDRESS}"}}, AT_ONCE))
    answer = await visit("support").say("Hi", headers)
    assert ADDRESS.encode() not in answer.raw
    run = await row()
    assert "[email]" in run.detail
    assert ADDRESS not in run.detail


async def test_b121_a_rule_that_is_off_or_of_another_chat_changes_nothing(
    provider: ProviderServer, visit: Visit, chat: ChatDeployment, make_chat: Any
) -> None:
    other = await sync_to_async(make_chat)("other")
    await ChatRedactionRule.objects.acreate(chat=other, kind="email")
    await ChatRedactionRule.objects.acreate(chat=chat, kind="email", active=False)
    provider.reply(text_reply("Write to ", ADDRESS))
    assert (await visit("support").say("Hi")).chunks == ["Write to ", ADDRESS]
