"""A settled run told again says what it said, settled, and nothing a client may not see."""

from typing import Any

import pytest

from streaming.agent_events_v1 import Audience, View
from streaming.codes import RunCode
from streaming.events import RunEnded, RunStatus
from streaming.replay import replay
from streaming.selection import Selected

CALL = {
    "id": "call_1",
    "name": "lookup",
    "status": "success",
    "arguments": '{"code": "ELM-5"}',
    "result": "MAPLE-31",
}
UNKNOWN = {**CALL, "id": "call_2", "name": "unknown_tool", "status": "error"}
OUTPUT = {
    "content": "On its way.",
    "model": "local/llama-3",
    "tokens": {"input": 1},
    "cost": {"total_cost_usd": 0.1},
    "toolCalls": {"list": [CALL, UNKNOWN], "count": 2},
    "providerTiming": {"timeSegments": []},
}
ANSWER = Selected("agent_1", "content", agent=True, live=True)


def view(**changes: Any) -> View:
    values: dict[str, Any] = {
        "audience": Audience.CHAT,
        "negotiated": True,
        "thinking": True,
        "tool_calls": False,
        "selected": (ANSWER,),
    }
    return View(**values | changes)


def ended(code: RunCode | None = None, outputs: dict[str, Any] | None = None) -> RunEnded:
    return RunEnded(
        run_id="run_1",
        status=RunStatus.COMPLETED if code is None else RunStatus.FAILED,
        success=code is None,
        code=code,
        detail="MAPLE-31",
        outputs={"agent_1": OUTPUT} if outputs is None else outputs,
        terminal_blocks=("agent_1",),
        duration_ms=5,
    )


@pytest.mark.parametrize("negotiated", [True, False])
def test_it_says_the_answer_once_and_then_the_terminal(negotiated: bool) -> None:
    assert replay(ended(), view(negotiated=negotiated)) == [
        {"blockId": "agent_1", "chunk": "On its way."},
        {
            "event": "final",
            "data": {
                "success": True,
                "executionId": "run_1",
                "output": {"agent_1": {"content": "On its way."}},
            },
        },
    ]


def test_it_lists_the_tools_that_a_visitor_may_see_in_the_final_frame_only() -> None:
    messages = replay(ended(), view(tool_calls=True))
    assert [message.get("event") for message in messages] == [None, "final"]
    assert messages[-1]["data"]["output"]["agent_1"]["toolCalls"] == {
        "list": [{"id": "call_1", "name": "lookup", "status": "success"}],
        "count": 1,
    }


def test_a_caller_of_the_api_gets_the_whole_block() -> None:
    messages = replay(ended(), view(audience=Audience.API, selected=(), default=(ANSWER,)))
    assert messages[0] == {"blockId": "agent_1", "chunk": "On its way."}
    assert messages[-1]["data"]["output"]["agent_1"]["toolCalls"]["count"] == 2


def test_a_structured_answer_is_a_chunk_as_well() -> None:
    field = Selected("agent_1", "answer", agent=True, live=False)
    messages = replay(ended(outputs={"agent_1": {**OUTPUT, "answer": [1]}}), view(selected=(field,)))
    assert messages[0]["chunk"] == "[\n  1\n]"


def test_another_block_is_a_chunk_as_well() -> None:
    text = Selected("text_1", "text", agent=False, live=False)
    messages = replay(ended(outputs={"text_1": {"text": "Done."}}), view(selected=(text,)))
    assert messages[0] == {"blockId": "text_1", "chunk": "Done."}


def test_a_failure_is_told_again() -> None:
    (message,) = replay(ended(RunCode.PROVIDER_STREAM_BROKEN, outputs={}), view())
    assert (message["event"], message["code"]) == ("error", "PROVIDER_STREAM_BROKEN")
    assert "MAPLE-31" not in str(message)


def test_an_erased_answer_says_nothing_but_the_terminal() -> None:
    (message,) = replay(ended(outputs={}), view())
    assert message["data"]["output"] == {}
