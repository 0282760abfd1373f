"""The encoder: who is heard, turns and their text, thinking (sections 1, 3 and 4)."""

from typing import Any

import pytest

from streaming import sse
from streaming.agent_events_v1 import THINKING_LIMIT, Audience, Encoder, negotiated
from streaming.events import ToolStatus
from tests.streaming.client import decode, read
from tests.streaming.frames import TOOL_RUN, chunk, end, reset, start
from tests.streaming.runs import (
    ABANDONED,
    FINAL,
    INTERMEDIATE,
    agent,
    agent_output,
    call,
    completed,
    said,
    settled,
    succeeded,
    text,
    thinking,
    told,
    view,
)

API = Audience.API


# --- Negotiation --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header", ["agent-events-v1", " Agent-Events-V1 ", "other, AGENT-EVENTS-V1", "agent-events-v1,,"]
)
def test_it_negotiates(header: str) -> None:
    assert negotiated(header)


@pytest.mark.parametrize(
    "header", [None, "", ",", "agent-events-v2", "agent-events-v1;q=1", "xagent-events-v1"]
)
def test_it_does_not_negotiate(header: str | None) -> None:
    assert not negotiated(header)


# --- A tool turn --------------------------------------------------------------------------------------------


def test_it_tells_a_tool_turn_live() -> None:
    messages = told(view(agent()), *TOOL_RUN)
    assert messages[:-1] == [
        {"blockId": "agent_1", "event": "thinking", "data": "Hm. "},
        chunk("Let me "),
        chunk("look."),
        start(1),
        reset(),
        end(1),
        chunk("It is "),
        chunk("42."),
    ]


def test_it_tells_a_plain_client_the_settled_text_once() -> None:
    for audience in Audience:
        messages = told(view(agent(), audience=audience, negotiated=False), *TOOL_RUN)
        assert messages[:-1] == [chunk("It is 42.")]


def test_it_tells_the_settled_text_when_the_turn_completes_not_later() -> None:
    messages = told(view(agent(), negotiated=False), *TOOL_RUN[:-2])
    assert messages == [chunk("It is 42.")]


@pytest.mark.parametrize(
    ("thinking", "tool_calls", "kinds"),
    [
        (False, False, {None, "chunk_reset"}),
        (True, False, {None, "chunk_reset", "thinking"}),
        (False, True, {None, "chunk_reset", "tool"}),
    ],
)
def test_it_keeps_thinking_and_tools_apart(thinking: bool, tool_calls: bool, kinds: set[str | None]) -> None:
    messages = told(view(agent(), thinking=thinking, tool_calls=tool_calls), *TOOL_RUN[:-1])
    assert {message.get("event") for message in messages} == kinds


def test_it_resets_only_what_was_said() -> None:
    silent = [said("agent_1", call(1), INTERMEDIATE, settled(1)), said("agent_1", call(2), INTERMEDIATE)]
    assert reset() not in told(view(agent()), *silent)


def test_it_keeps_text_after_a_call_in_its_place() -> None:
    messages = told(view(agent()), said("agent_1", text("a"), call(1), text("b"), INTERMEDIATE, settled(1)))
    assert messages == [chunk("a"), start(1), chunk("b"), reset(), end(1)]


def test_it_abandons_an_attempt() -> None:
    messages = told(
        view(agent()),
        said("agent_1", thinking("Hm."), text("Hal"), call(1)),
        said("agent_1", ABANDONED),
        said("agent_1", settled(1, status=ToolStatus.ERROR)),
        said("agent_1", text("Hello"), FINAL),
    )
    assert messages[1:] == [chunk("Hal"), start(1), end(1, status="error"), reset(), chunk("Hello")]


# --- Thinking -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", ["x" * 1000, "é" * 333, "汉字" * 77])
def test_it_caps_thinking_by_the_run(delta: str) -> None:
    encoder, sent = Encoder(view(agent("a"), agent("b"))), 0
    for _ in range(THINKING_LIMIT // len(delta.encode()) + 5):
        for block_id in "ab":
            sent += sum(
                len(m["data"].encode())
                for m in encoder.encode(said(block_id, thinking(delta), text("t")))
                if "data" in m
            )
    assert THINKING_LIMIT - 3 < sent <= THINKING_LIMIT


def test_it_does_not_count_thinking_that_nobody_sees() -> None:
    messages = told(
        view(agent()),
        said("hidden", thinking("x" * THINKING_LIMIT)),
        said("agent_1", thinking("seen")),
    )
    assert [message["data"] for message in messages] == ["seen"]


# --- Who speaks ---------------------------------------------------------------------------------------------


def test_it_lets_only_selected_blocks_speak() -> None:
    assert told(view(agent("other")), *TOOL_RUN[:-1]) == []


def test_it_speaks_live_only_if_content_is_selected() -> None:
    messages = told(view(agent(path="model"), audience=API), *TOOL_RUN)
    assert [m.get("event") for m in messages] == ["thinking", "tool", "tool", "final"]


def test_it_lets_the_default_blocks_speak_on_an_api_without_a_selection() -> None:
    seen = view(audience=API, default=[agent("a")])
    messages = told(
        seen,
        said("a", text("Hi"), FINAL),
        said("b", text("no"), FINAL),
        completed("a", agent_output("Hi")),
        completed("c", {"text": "T"}, "template"),
        succeeded({"a": agent_output("Hi"), "c": {"text": "T"}}, "a", "c"),
    )
    assert messages[:-1] == [chunk("Hi", "a")]
    output = messages[-1]["data"]["output"]
    assert list(output["a"]) == ["content", "model", "tokens", "cost", "toolCalls", "providerTiming"]
    assert output["c"] == {"text": "T"}


def test_it_gives_a_chat_without_a_selection_nothing() -> None:
    messages = told(view(default=[agent()]), *TOOL_RUN)
    assert messages == [{"event": "final", "data": {"success": True, "executionId": "run_1", "output": {}}}]


# --- Field cases --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("negotiated", [True, False])
@pytest.mark.parametrize(
    "deltas", [["Write data: [DONE] at the end."], ["Write data: [DO", "NE] at the end."]]
)
def test_b013_it_keeps_text_that_looks_like_the_sentinel(deltas: list[str], negotiated: bool) -> None:
    content = "".join(deltas)
    messages = told(
        view(agent(), negotiated=negotiated),
        said("agent_1", text(*deltas), FINAL),
        succeeded({"agent_1": agent_output(content)}),
    )
    *shown, sentinel = decode(sse.frames(messages) + sse.DONE)
    assert read(shown).text("agent_1") == content
    assert sentinel == "[DONE]"


def test_b003_it_keeps_thinking_out_of_the_answer_with_the_policy_on_and_off() -> None:
    for policy, thought in ((True, "Hm. "), (False, "")):
        client = read(told(view(agent(), thinking=policy), *TOOL_RUN))
        assert client.thinking.get("agent_1", "") == thought
        assert client.text("agent_1") == "It is 42."


def test_b029_it_keeps_runs_apart() -> None:
    encoders = [Encoder(view(agent())) for _ in range(20)]
    told_to: list[list[dict[str, Any]]] = [[] for _ in encoders]
    for delta in range(30):
        for number, encoder in enumerate(encoders):
            told_to[number] += encoder.encode(said("agent_1", text(f"{number}:{delta} ")))
    for number, messages in enumerate(told_to):
        assert [message["chunk"] for message in messages] == [f"{number}:{delta} " for delta in range(30)]
