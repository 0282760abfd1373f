"""The encoder, rule by rule: sections 1, 3, 4 and 5."""

from typing import Any

import pytest

from streaming.agent_events_v1 import THINKING_LIMIT, Audience, Encoder, negotiated
from streaming.codes import ENDED_BY_RULE, PUBLIC_RUN_SENTENCES, RunCode
from streaming.events import RunEvent, ToolStatus
from tests.streaming.client import read
from tests.streaming.runs import (
    ABANDONED,
    FINAL,
    INTERMEDIATE,
    agent,
    agent_output,
    block,
    broke,
    call,
    completed,
    failed,
    said,
    settled,
    started,
    succeeded,
    text,
    thinking,
    told,
    tool_call,
    view,
)

API = Audience.API

#: A tool turn with a preamble, then the answer.
TOOL_RUN: tuple[RunEvent, ...] = (
    started("agent_1"),
    said("agent_1", thinking("Hm. ")),
    said("agent_1", text("Let me ", "look."), call(1)),
    said("agent_1", INTERMEDIATE),
    said("agent_1", settled(1)),
    said("agent_1", text("It is ")),
    said("agent_1", text("42."), FINAL),
    completed("agent_1", agent_output("It is 42.", tool_call(1))),
    succeeded({"agent_1": agent_output("It is 42.", tool_call(1))}),
)


def chunk(content: str, block_id: str = "agent_1") -> dict[str, Any]:
    return {"blockId": block_id, "chunk": content}


def reset(block_id: str = "agent_1") -> dict[str, Any]:
    return {"blockId": block_id, "event": "chunk_reset"}


def start(number: int, name: str = "lookup", block_id: str = "agent_1") -> dict[str, Any]:
    return {"blockId": block_id, "event": "tool", "phase": "start", "id": f"call_{number}", "name": name}


def end(
    number: int, name: str = "lookup", status: str = "success", block_id: str = "agent_1"
) -> dict[str, Any]:
    return {**start(number, name, block_id), "phase": "end", "status": status}


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


# --- Tools --------------------------------------------------------------------------------------------------

UNKNOWN = (
    said("agent_1", call(1, "MAPLE", declared=False), call(2), INTERMEDIATE),
    said("agent_1", settled(1, "MAPLE", ToolStatus.ERROR, declared=False), settled(2)),
)


def test_it_tells_a_chat_nothing_of_a_tool_that_does_not_exist() -> None:
    assert told(view(agent()), *UNKNOWN) == [start(1), end(1)]


def test_it_calls_a_tool_that_does_not_exist_unknown_on_the_api() -> None:
    assert told(view(agent(), audience=API), *UNKNOWN) == [
        start(1, "unknown_tool"),
        start(2),
        end(1, "unknown_tool", "error"),
        end(2),
    ]


def test_it_numbers_a_chats_calls_by_what_is_seen() -> None:
    messages = told(
        view(agent("b")),
        said("a", call(1), INTERMEDIATE, settled(1)),
        said("b", call(2, "MAPLE", declared=False), call(3), INTERMEDIATE, settled(3)),
        succeeded({"b": agent_output("", tool_call(2, "MAPLE", "error"), tool_call(3))}),
    )
    assert messages[:2] == [start(1, block_id="b"), end(1, block_id="b")]
    shown = messages[-1]["data"]["output"]["b"]["toolCalls"]
    assert shown == {"list": [{"id": "call_1", "name": "lookup", "status": "success"}], "count": 1}


def test_it_keeps_the_runs_ids_on_the_api() -> None:
    messages = told(
        view(agent("b"), audience=API),
        said("a", call(1), INTERMEDIATE, settled(1)),
        said("b", call(2), INTERMEDIATE, settled(2)),
    )
    assert messages == [start(2, block_id="b"), end(2, block_id="b")]


def test_it_tells_each_end_once() -> None:
    batch = said("agent_1", call(1), call(1), INTERMEDIATE, settled(1), settled(1), settled(7))
    assert told(view(agent()), batch) == [start(1), end(1)]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (RunCode.RUN_TIMEOUT, "error"),
        (RunCode.RUN_CANCELLED, "cancelled"),
        (RunCode.RUN_INTERRUPTED, "cancelled"),
        (RunCode.BLOCK_FAILED, "cancelled"),
    ],
)
def test_it_closes_open_chips_before_the_terminal(code: RunCode, status: str) -> None:
    messages = told(view(agent()), said("agent_1", call(1), INTERMEDIATE), broke(code))
    assert messages[:-1] == [start(1), end(1, status=status)]
    assert messages[-1]["event"] == "error"


def test_it_closes_the_failing_blocks_chips_as_errors() -> None:
    messages = told(
        view(agent("a"), agent("b")),
        said("a", call(1)),
        said("b", call(2)),
        failed("a"),
        broke(RunCode.PROVIDER_STREAM_BROKEN),
    )
    assert messages[3:-1] == [end(1, status="error", block_id="a"), end(2, status="cancelled", block_id="b")]


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


# --- Blocks that do not stream ------------------------------------------------------------------------------


def test_it_tells_other_blocks_when_they_complete() -> None:
    output = {"text": "Plain é", "data": {"items": [{"n": 1}], "none": []}, "empty": "", "no": None}
    paths = ("text", "data", "data.items[0]", "data.items.0.n", "empty", "no", "missing")
    selected = [block("http_1", path) for path in paths]
    messages = told(view(*selected), completed("http_1", output, "http"), succeeded({"http_1": output}))
    assert [message["chunk"] for message in messages[:-1]] == [
        "Plain é",
        '{\n  "items": [\n    {\n      "n": 1\n    }\n  ],\n  "none": []\n}',
        '{\n  "n": 1\n}',
        "1",
        "null",
    ]
    assert messages[-1]["data"]["output"]["http_1"] == {
        "text": "Plain é",
        "data": output["data"],
        "data.items[0]": {"n": 1},
        "data.items.0.n": 1,
        "empty": "",
        "no": None,
    }


STRUCTURED = agent_output('{"mood": "good"}', mood="good", score={"x": 1})


@pytest.mark.parametrize(
    ("paths", "chunks"),
    [
        (["content"], ['{"mood": "good"}']),
        (["mood", "score"], ["good", '{\n  "x": 1\n}']),
        (["mood", "content"], ['{"mood": "good"}']),
    ],
)
@pytest.mark.parametrize("negotiated", [True, False])
def test_it_tells_a_structured_answer_when_it_is_complete(
    paths: list[str], chunks: list[str], negotiated: bool
) -> None:
    selected = [agent(path=path, live=False) for path in paths]
    messages = told(
        view(*selected, tool_calls=False, negotiated=negotiated),
        said("agent_1", text('{"mo', 'od": "good"}'), FINAL),
        completed("agent_1", STRUCTURED),
        succeeded({"agent_1": STRUCTURED}),
    )
    assert [message["chunk"] for message in messages[:-1]] == chunks
    assert list(messages[-1]["data"]["output"]["agent_1"]) == paths


def test_it_tells_the_numbers_of_a_structured_answer_in_the_final_frame_only() -> None:
    selected = [agent(path=path, live=False) for path in ("model", "tokens.total", "mood")]
    messages = told(
        view(*selected, audience=API), completed("agent_1", STRUCTURED), succeeded({"agent_1": STRUCTURED})
    )
    assert messages[:-1] == [chunk("good")]
    assert messages[-1]["data"]["output"]["agent_1"]["tokens.total"] == 15


def test_it_counts_duplicates_once() -> None:
    selected = [block("b", "x[0]"), block("b", "x[0]"), block("b", "x.0")]
    messages = told(view(*selected), completed("b", {"x": ["v"]}, "http"), succeeded({"b": {"x": ["v"]}}))
    assert messages[:-1] == [chunk("v", "b")]
    assert messages[-1]["data"]["output"] == {"b": {"x[0]": "v"}}


# --- The terminal -------------------------------------------------------------------------------------------


def test_it_shows_a_chat_the_selected_paths_and_its_calls() -> None:
    data = told(view(agent()), *TOOL_RUN)[-1]["data"]
    assert data == {
        "success": True,
        "executionId": "run_1",
        "output": {
            "agent_1": {
                "content": "It is 42.",
                "toolCalls": {"list": [{"id": "call_1", "name": "lookup", "status": "success"}], "count": 1},
            }
        },
    }


@pytest.mark.parametrize(("tool_calls", "negotiated"), [(False, True), (True, False)])
def test_it_adds_a_chats_calls_only_with_policy_and_protocol(tool_calls: bool, negotiated: bool) -> None:
    messages = told(view(agent(), tool_calls=tool_calls, negotiated=negotiated), *TOOL_RUN)
    assert messages[-1]["data"]["output"] == {"agent_1": {"content": "It is 42."}}


@pytest.mark.parametrize(
    "path", ["model", "tokens", "cost", "providerTiming.duration", "toolCalls.list[0].result"]
)
@pytest.mark.parametrize("live", [True, False])
def test_it_shows_no_chat_what_is_private_whatever_was_saved(path: str, live: bool) -> None:
    messages = told(view(agent(path=path, live=live)), *TOOL_RUN)
    assert messages == [{"event": "final", "data": {"success": True, "executionId": "run_1", "output": {}}}]


def test_it_shows_the_api_an_agent_whole() -> None:
    selected = [agent(path=path) for path in ("content", "toolCalls.list[0].result", "missing")]
    data = told(view(*selected, audience=API, negotiated=False), *TOOL_RUN)[-1]["data"]
    whole = agent_output("It is 42.", tool_call(1))
    del whole["providerTiming"]["timeSegments"][0]["thinking"]
    assert data["output"] == {"agent_1": {**whole, "toolCalls.list[0].result": "MAPLE-31"}}
    assert list(data["output"]["agent_1"]["toolCalls"]["list"][0]) == list(tool_call(1))


def test_it_strips_thinking_also_where_a_path_points_into_it() -> None:
    selected = agent(path="providerTiming.timeSegments[0].thinking")
    assert "LARCH" not in str(told(view(selected, audience=API, thinking=False), *TOOL_RUN))


def test_it_never_shows_the_api_a_name_that_the_model_made_up() -> None:
    output = agent_output("", tool_call(1, "MAPLE", "error"), tool_call(2))
    messages = told(view(agent(), audience=API, tool_calls=False), *UNKNOWN, succeeded({"agent_1": output}))
    assert "'MAPLE'" not in str(messages)


def test_it_leaves_out_a_branch_that_was_not_taken() -> None:
    messages = told(view(agent("a"), agent("b")), succeeded({"b": agent_output("B")}))
    assert list(messages[-1]["data"]["output"]) == ["b"]


def test_it_keeps_the_order_of_the_selection() -> None:
    outputs = {"a": agent_output("A"), "b": agent_output("B")}
    messages = told(view(agent("b"), agent("a")), succeeded(outputs))
    assert list(messages[-1]["data"]["output"]) == ["b", "a"]


@pytest.mark.parametrize("code", RunCode)
@pytest.mark.parametrize("audience", Audience)
def test_it_ends_a_run_that_did_not_complete(code: RunCode, audience: Audience) -> None:
    (terminal,) = told(view(agent(), audience=audience), broke(code, {"agent_1": agent_output("")}))
    reason = PUBLIC_RUN_SENTENCES[code] if audience is Audience.CHAT else "BIRCH-7"
    if code in ENDED_BY_RULE:
        data = terminal["data"]
        assert list(data) == ["success", "error", "code", "executionId", "output"]
        assert (data["success"], data["error"], data["code"]) == (False, reason, code.value)
        assert data["output"]["agent_1"]["content"] == ""
    else:
        assert terminal == {"event": "error", "error": reason, "code": code.value}


def test_it_always_has_a_reason() -> None:
    (terminal,) = told(view(agent(), audience=API), broke(RunCode.BLOCK_FAILED, detail=""))
    assert terminal["error"] == PUBLIC_RUN_SENTENCES[RunCode.BLOCK_FAILED]


@pytest.mark.parametrize("audience", Audience)
def test_it_tells_of_a_failing_block_that_has_spoken(audience: Audience) -> None:
    messages = told(view(agent(), audience=audience), said("agent_1", text("Hal")), failed("agent_1"))
    sentence = PUBLIC_RUN_SENTENCES[RunCode.PROVIDER_STREAM_BROKEN]
    reason = sentence if audience is Audience.CHAT else "BIRCH-7"
    assert messages[1:] == [{"blockId": "agent_1", "event": "stream_error", "error": reason}]


def test_it_keeps_quiet_about_a_failing_block_that_said_nothing() -> None:
    assert told(view(agent()), failed("agent_1")) == []
    assert told(view(agent(), negotiated=False), said("agent_1", text("Hal")), failed("agent_1")) == []
    unseen = said("agent_1", thinking("Hm."), call(1, declared=False))
    assert told(view(agent(), thinking=False), unseen, failed("agent_1")) == []
    assert told(view(agent()), said("other", text("x")), failed("other")) == []


@pytest.mark.parametrize("declared", [True, False])
def test_it_takes_back_text_of_a_turn_that_is_known_to_be_intermediate(declared: bool) -> None:
    batch = said("agent_1", text("Let me "), call(1, declared=declared))
    client = read(told(view(agent()), batch, broke(RunCode.RUN_CANCELLED)))
    assert client.text("agent_1") == ""


def test_it_leaves_partial_text_of_a_turn_that_nobody_can_know() -> None:
    before = said("agent_1", text("Let me "), call(1), INTERMEDIATE, settled(1))
    client = read(told(view(agent()), before, said("agent_1", text("Hal")), broke(RunCode.RUN_CANCELLED)))
    assert client.text("agent_1") == "Hal"


def test_it_says_nothing_after_the_terminal() -> None:
    encoder = Encoder(view(agent()))
    assert encoder.encode(succeeded({}))
    assert encoder.encode(said("agent_1", text("x"))) == []
    with pytest.raises(AssertionError, match="ends once"):
        encoder.encode(succeeded({}))
