"""What blocks that do not stream say, and what the terminal holds (section 5)."""

import pytest

from streaming.agent_events_v1 import Audience, Encoder
from streaming.codes import ENDED_BY_RULE, PUBLIC_RUN_SENTENCES, RunCode
from tests.streaming.client import read
from tests.streaming.frames import TOOL_RUN, UNKNOWN_TOOL_TURN, chunk
from tests.streaming.runs import (
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
    succeeded,
    text,
    thinking,
    told,
    tool_call,
    view,
)

API = Audience.API


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
    messages = told(
        view(agent(), audience=API, tool_calls=False), *UNKNOWN_TOOL_TURN, succeeded({"agent_1": output})
    )
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
