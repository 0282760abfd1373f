"""Every recorded stream of the OpenAI wires through the whole stack: from the vendor's bytes to a visitor's
frames and the ledger. A turn that calls tools is followed by a fixed answer.
"""

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from credentials.models import ProviderConnection
from runs.models import Run
from tests.agents.providers.recordings import ABSENT, Recording, names, recording
from tests.deployments.conftest import MakeChat
from tests.deployments.wire import Answer, Visitor, serving
from tests.providers_server import ProviderServer, Reply, sse, text_reply
from workflows.models import Workflow

pytestmark = [ABSENT, pytest.mark.recordings, pytest.mark.django_db(transaction=True)]

AFTER_TOOLS = "That is all."
CHAT_COMPLETIONS = names("openai-chat", "openai-compat")
RESPONSES = names("openai-responses")
RESPONSES_AFTER = Reply(
    [
        sse(
            {
                "type": "response.output_text.delta",
                "output_index": 0,
                "content_index": 0,
                "delta": AFTER_TOOLS,
            },
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
            done=False,
        )
    ]
)
#: How a run ends that is no success, by the vendor's own word.
CUT = {"length": "OUTPUT_LIMIT", "incomplete": "OUTPUT_LIMIT", "content_filter": "PROVIDER_CONTENT_FILTERED"}


def tool_names(recorded: Recording) -> list[str]:
    return [call["name"] for call in recorded.expect["tool_calls"]]


def declare(workflow: Workflow, recorded: Recording) -> None:
    """Declare the tools that the recording calls. They lead nowhere: a failing tool is an ordinary result."""
    tools = [
        {"type": "http", "name": name, "description": "", "method": "POST", "url": "http://127.0.0.1:9/"}
        for name in dict.fromkeys(tool_names(recorded))
    ]
    assert workflow.published is not None
    workflow.published.graph["blocks"][1].update(tools=tools, thinking="medium")
    workflow.published.save()


def expected_code(recorded: Recording) -> str | None:
    """Why the run fails; None: it does not."""
    expect = recorded.expect
    if expect["error"]:
        return "an error of the provider"
    if expect["tool_calls"]:
        return CUT.get(expect["stop_reason"])
    return None if recorded.text.strip() else "EMPTY_ANSWER"


def check(recorded: Recording, answer: Answer, run: Run) -> None:
    assert "".join(frame["data"] for frame in answer.of("thinking")) == recorded.thinking
    starts = [frame["name"] for frame in answer.of("tool") if frame["phase"] == "start"]
    assert starts == tool_names(recorded)
    code = expected_code(recorded)
    if code is not None:
        assert answer.frames[-1]["event"] == "error"
        assert run.status == "failed"
        assert run.code == code or recorded.expect["error"] in run.detail
        return
    said = AFTER_TOOLS if recorded.expect["tool_calls"] else recorded.text
    assert answer.text == said
    assert answer.final["output"]["agent_1"]["content"] == said
    assert run.status == "completed"
    cut = recorded.expect["stop_reason"] in ("length", "incomplete") and not recorded.expect["tool_calls"]
    assert run.stop_reason == ("max_tokens" if cut else "end_turn")


def check_usage(recorded: Recording, run: Run) -> None:
    rounds = run.trace.filter(kind="RoundUsage").order_by("seq")
    if not rounds:
        return
    stated: dict[str, Any] = rounds[0].data["usage"]
    for name, number in recorded.expect["usage"].items():
        if number is not None:
            assert stated[name] == number, name


async def play(kind: str, recorded: Recording, after: Reply) -> tuple[Answer, Run]:
    async with ProviderServer() as server, serving() as client:
        await sync_to_async(ProviderConnection.objects.create)(
            name="local", kind=kind, base_url=server.base_url
        )
        server.reply(Reply([recorded.body]), after)
        answer = await Visitor(client, "support").say("Hello")
    return answer, await Run.objects.aget()


@pytest.mark.parametrize("name", CHAT_COMPLETIONS)
async def test_it_streams_recorded_chat_completions(
    name: str, workflow: Workflow, make_chat: MakeChat
) -> None:
    recorded = recording(name)
    await sync_to_async(declare)(workflow, recorded)
    await sync_to_async(make_chat)(include_thinking=True, include_tool_calls=True)
    answer, run = await play("openai-compat", recorded, text_reply(AFTER_TOOLS))
    check(recorded, answer, run)
    await sync_to_async(check_usage)(recorded, run)


@pytest.mark.parametrize("name", RESPONSES)
async def test_it_streams_recorded_responses(name: str, workflow: Workflow, make_chat: MakeChat) -> None:
    recorded = recording(name)
    await sync_to_async(declare)(workflow, recorded)
    await sync_to_async(make_chat)(include_thinking=True, include_tool_calls=True)
    answer, run = await play("openai", recorded, RESPONSES_AFTER)
    check(recorded, answer, run)
    await sync_to_async(check_usage)(recorded, run)
