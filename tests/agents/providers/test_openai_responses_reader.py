import json
from typing import Any

import pytest

from agents.providers.base import (
    CallDelta,
    CallStarted,
    ProviderEvent,
    ResponseEnded,
    ResponseFailed,
    TurnStop,
)
from agents.providers.openai_responses.reader import ResponsesReader
from agents.providers.tool_names import ToolNames
from streaming.codes import RunCode
from streaming.events import TextDelta, ThinkingDelta, Usage
from tests.agents.providers.reading import Outcome, outcome, read, read_whole
from tests.providers_server import sse


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def ended(status: str = "completed", **fields: Any) -> dict[str, Any]:
    return event(status, response={"status": status, "model": "gpt-x", **fields})


def text(delta: str, place: int = 0) -> dict[str, Any]:
    return event("output_text.delta", output_index=place, content_index=0, delta=delta)


def summary(delta: str, part: int, place: int = 0) -> dict[str, Any]:
    return event("reasoning_summary_text.delta", output_index=place, summary_index=part, delta=delta)


def call_item(id: str, name: str, arguments: str = "") -> dict[str, Any]:
    return {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name, "arguments": arguments}


def events_of(*documents: object, reader: ResponsesReader | None = None) -> list[ProviderEvent]:
    return read(reader or ResponsesReader(), [sse(*documents, done=False)])


def said(*documents: object) -> Outcome:
    return outcome(events_of(*documents))


def test_each_delta_is_one_event_and_parts_of_a_summary_stand_apart() -> None:
    assert events_of(summary("a", 0), summary("b", 0), summary("c", 1), text("x"), text("y"), ended()) == [
        ThinkingDelta("a"),
        ThinkingDelta("b"),
        ThinkingDelta("\n\nc"),
        TextDelta("x"),
        TextDelta("y"),
        ResponseEnded(True, TurnStop.STOP, Usage(), "gpt-x", "completed"),
    ]


def test_summaries_of_several_items_stand_apart_too() -> None:
    assert said(summary("a", 0, 0), summary("b", 0, 2), ended()).thinking == "a\n\nb"


def test_a_call_is_announced_when_its_item_is_and_its_arguments_come_once() -> None:
    arguments = event("function_call_arguments.delta", output_index=1, item_id="rotated", delta='{"a":1}')
    done = event("output_item.done", output_index=1, item=call_item("c", "add", '{"a":1}'))
    assert events_of(
        event("output_item.added", output_index=1, item=call_item("c", "add")), arguments, done, ended()
    ) == [
        CallStarted(0, "c", "add"),
        CallDelta(0, '{"a":1}'),
        ResponseEnded(True, TurnStop.TOOL_CALLS, Usage(), "gpt-x", "completed"),
    ]


def test_b098_a_translated_name_comes_back_as_ours() -> None:
    reader = ResponsesReader(ToolNames(["catalog.get-item"]))
    item = event("output_item.added", output_index=0, item=call_item("c", "catalog_get-item"))
    assert events_of(item, ended(), reader=reader)[0] == CallStarted(0, "c", "catalog.get-item")


def test_b088_the_end_marker_inside_text_and_arguments_is_text() -> None:
    result = said(
        text("[DONE]"),
        event("output_item.done", output_index=1, item=call_item("c", "note", '{"status":"[DONE]"}')),
        ended(),
    )
    assert result.text == "[DONE]"
    assert result.calls[0]["arguments"] == '{"status":"[DONE]"}'


def test_half_characters_join_across_deltas() -> None:
    body = b"".join(
        b'data: {"type":"response.output_text.delta","delta":"%s"}\n\n' % half
        for half in (rb"a\ud83d", rb"\ude00b")
    )
    assert read_whole(ResponsesReader, body).text == "a😀b"


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", TurnStop.LENGTH),
        ("content_filter", TurnStop.CONTENT_FILTER),
        (None, TurnStop.LENGTH),
    ],
)
def test_b083_an_incomplete_response_is_closed_and_says_why(reason: str | None, stop: TurnStop) -> None:
    end = said(text("a"), ended("incomplete", incomplete_details={"reason": reason})).ended
    assert (end.closed, end.stop, end.raw_stop) == (True, stop, "incomplete")


def test_b083_without_its_last_event_a_turn_is_not_closed() -> None:
    assert said(text("a")).ended.closed is False


def test_the_end_marker_of_other_vendors_closes_a_turn() -> None:
    assert read_whole(ResponsesReader, sse(text("a"))).ended.closed


@pytest.mark.parametrize(
    "document",
    [
        {"type": "error", "code": "context_length_exceeded", "message": "too long"},
        {"type": "error", "error": {"code": "context_length_exceeded", "message": "too long"}},
        {"error": {"code": "context_length_exceeded", "message": "too long"}},
        ended("failed", error={"code": "context_length_exceeded", "message": "too long"}),
    ],
)
def test_b059_an_error_has_its_code_in_every_shape(document: dict[str, Any]) -> None:
    result = said(text("a"), document)
    assert result.text == "a"
    assert result.failed.code is RunCode.CONTEXT_WINDOW_EXCEEDED


def test_an_error_instead_of_a_stream_is_read() -> None:
    failed = read_whole(
        ResponsesReader, json.dumps({"error": {"message": "no", "code": 429}}).encode()
    ).failed
    assert failed.code is RunCode.PROVIDER_RATE_LIMITED


def test_a_whole_response_instead_of_a_stream_is_read() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}
    document = {"object": "response", "status": "completed", "model": "m", "output": [message]}
    result = read_whole(ResponsesReader, json.dumps(document, indent=1).encode())
    assert result.text == "Hi"
    assert result.ended == ResponseEnded(True, TurnStop.STOP, Usage(), "m", "completed")


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_response_that_failed_without_a_word_is_a_failure(status: str) -> None:
    failed = said(ended(status)).failed
    assert failed == ResponseFailed(RunCode.PROVIDER_UNAVAILABLE, f"the response was {status}")


def test_encrypted_reasoning_is_kept_with_its_place() -> None:
    def reasoning(place: int, secret: str) -> dict[str, Any]:
        item = {
            "type": "reasoning",
            "id": secret,
            "summary": [],
            "encrypted_content": secret,
            "status": "completed",
        }
        return event("output_item.done", output_index=place, item=item)

    def call(place: int, id: str) -> dict[str, Any]:
        return event("output_item.done", output_index=place, item=call_item(id, "f", "{}"))

    result = outcome(
        read(
            ResponsesReader(model="gpt-x"),
            [
                sse(
                    reasoning(0, "A"),
                    call(1, "c1"),
                    reasoning(2, "B"),
                    text("t", 3),
                    reasoning(4, "C"),
                    ended(),
                    done=False,
                )
            ],
        )
    )
    assert [
        (p.data["item"]["encrypted_content"], p.data["calls_before"], p.data["after_text"])
        for p in result.replay
    ] == [
        ("A", 0, False),
        ("B", 1, False),
        ("C", 1, True),
    ]
    assert result.replay[0].data["item"] == {
        "type": "reasoning",
        "id": "A",
        "summary": [],
        "encrypted_content": "A",
    }
    assert {part.data["model"] for part in result.replay} == {"gpt-x"}


def test_reasoning_that_nobody_can_use_is_not_kept() -> None:
    item = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "s"}]}
    result = said(event("output_item.done", output_index=0, item=item), ended())
    assert result.replay == []
    assert result.thinking == "s"
