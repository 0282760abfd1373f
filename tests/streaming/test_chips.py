"""Tool calls as a client sees them: names, ids, and one end for every start (section 4)."""

import pytest

from streaming.agent_events_v1 import Audience
from streaming.codes import RunCode
from tests.streaming.frames import UNKNOWN_TOOL_TURN, end, start
from tests.streaming.runs import (
    INTERMEDIATE,
    agent,
    agent_output,
    broke,
    call,
    failed,
    said,
    settled,
    succeeded,
    told,
    tool_call,
    view,
)

API = Audience.API


def test_it_tells_a_chat_nothing_of_a_tool_that_does_not_exist() -> None:
    assert told(view(agent()), *UNKNOWN_TOOL_TURN) == [start(1), end(1)]


def test_it_calls_a_tool_that_does_not_exist_unknown_on_the_api() -> None:
    assert told(view(agent(), audience=API), *UNKNOWN_TOOL_TURN) == [
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
