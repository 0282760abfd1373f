import json
from typing import Any

import pytest

from agents.providers.base import CallDelta, CallStarted, ReplayPart, ResponseEnded, ResponseFailed, TurnStop
from agents.providers.chat_completions.reader import ChatCompletionsReader
from agents.providers.tool_names import ToolNames
from streaming.codes import RunCode
from streaming.events import TextDelta, ThinkingDelta, Usage
from tests.agents.providers.reading import Outcome, outcome, read, read_whole
from tests.providers_server import chunk, sse


def said(*documents: object, done: bool = True) -> Outcome:
    return read_whole(ChatCompletionsReader, sse(*documents, done=done))


def call_chunk(*calls: tuple[int | None, str, str, str]) -> dict[str, Any]:
    deltas = [
        {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}
        for index, id, name, arguments in calls
    ]
    return chunk({"tool_calls": deltas})


# --- Text and thinking --------------------------------------------------------------------------------------


def test_each_delta_is_one_event_in_the_order_it_came() -> None:
    body = sse(
        chunk({"reasoning_content": "hm", "content": "a"}), chunk({"content": "b"}), chunk(finish="stop")
    )
    assert read(ChatCompletionsReader(), [body]) == [
        ThinkingDelta("hm"),
        TextDelta("a"),
        TextDelta("b"),
        ResponseEnded(True, TurnStop.STOP, Usage(), "test-model", "stop"),
    ]


def test_b004_a_final_chunk_that_repeats_the_message_says_nothing_twice() -> None:
    final = chunk(finish="stop")
    final["choices"][0]["message"] = {"role": "assistant", "content": "One two."}
    result = said(
        *[chunk({"reasoning_content": "r"})] * 3,
        chunk({"content": "One "}),
        chunk({"content": "two."}),
        final,
    )
    assert (result.text, result.thinking) == ("One two.", "rrr")


def test_b004_a_final_chunk_with_nothing_but_the_message_says_nothing_twice() -> None:
    final = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "One two."}}]}
    assert said(chunk({"content": "One "}), chunk({"content": "two."}), final).text == "One two."


def test_a_message_without_any_delta_is_the_answer() -> None:
    final = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "One two."}}]}
    assert said(final).text == "One two."


def test_b006_the_answer_behind_a_closing_tag_cut_in_two_arrives() -> None:
    result = said(
        chunk({"content": "<think>x</thi"}), chunk({"content": "nk>ANSWER 42"}), chunk(finish="stop")
    )
    assert (result.thinking, result.text) == ("x", "ANSWER 42")


def test_b006_a_comparison_arrives_delta_by_delta() -> None:
    words = ["if ", "a ", "< ", "b ", "and ", "c ", "> ", "d ", "then"]
    events = read(
        ChatCompletionsReader(), [sse(*(chunk({"content": word}) for word in words), chunk(finish="stop"))]
    )
    assert events[:-1] == [TextDelta(word) for word in words]


@pytest.mark.parametrize("finish", ["stop", "length"])
def test_b008_thinking_that_is_never_closed_is_no_answer(finish: str) -> None:
    result = said(chunk({"content": "<think>partial"}), chunk(finish=finish))
    assert (result.thinking, result.text) == ("partial", "")
    assert result.ended.closed


def test_b009_a_call_written_into_the_text_too_is_shown_to_nobody() -> None:
    markup = '<tool_call>{"name":"find_order","arguments":{"code":"ELM-5"}}</tool_call>'
    both = chunk(
        {
            "content": "I look." + markup,
            "tool_calls": [
                {"index": 0, "id": "c", "function": {"name": "find_order", "arguments": '{"code":"ELM-5"}'}}
            ],
        },
        "tool_calls",
    )
    result = said(both)
    assert result.text == "I look."
    assert [call["name"] for call in result.calls] == ["find_order"]


def test_b013_b088_the_end_marker_inside_text_and_arguments_is_text() -> None:
    result = said(
        chunk({"content": "Write data: [DONE] at the end, "}),
        chunk({"content": "[DO"}),
        chunk({"content": "NE]"}),
        chunk({"content": "[DONE]"}),
        call_chunk((0, "c", "note", '{"status":"[DONE]"}')),
        chunk(finish="tool_calls"),
    )
    assert result.text == "Write data: [DONE] at the end, [DONE][DONE]"
    assert result.calls[0]["arguments"] == '{"status":"[DONE]"}'


def test_b014_line_breaks_and_separators_inside_text_stay() -> None:
    deltas = ["line1\n", "\n", "a\u2028b", "x\u000by", "end\r\n"]
    events = read(
        ChatCompletionsReader(), [sse(*(chunk({"content": delta}) for delta in deltas), chunk(finish="stop"))]
    )
    assert events[:-1] == [TextDelta(delta) for delta in deltas]


def test_b090_a_read_that_ends_inside_a_character_of_arguments_loses_nothing() -> None:
    text = json.dumps({"q": "漢字" * 3000}, ensure_ascii=False)
    body = sse(call_chunk((0, "c", "find", text)), chunk(finish="tool_calls"))
    pieces = [body[at : at + 4096] for at in range(0, len(body), 4096)]
    assert outcome(read(ChatCompletionsReader(), pieces)).calls[0]["arguments"] == text


def test_b090_an_invalid_byte_is_one_replacement_character_and_the_stream_goes_on() -> None:
    body = sse(chunk({"content": "a?b"}), chunk({"content": "c"}), chunk(finish="stop")).replace(
        b"?", b"\xff"
    )
    assert read_whole(ChatCompletionsReader, body).text == "a\ufffdbc"


def test_only_choice_0_counts_wherever_it_stands() -> None:
    both = {"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]}
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}
    result = said(both, other, chunk(finish="stop"))
    assert result.text == "yes"
    assert result.ended.raw_stop == "stop"


# --- Calls --------------------------------------------------------------------------------------------------


def test_b073_three_calls_with_index_0_are_three_calls() -> None:
    chunks = [call_chunk((0, f"c{n}", "add", f'{{"n":{n}}}')) for n in (1, 2, 3)]
    result = said(*chunks, chunk(finish="tool_calls"))
    assert [(call["id"], call["arguments"]) for call in result.calls] == [
        ("c1", '{"n":1}'),
        ("c2", '{"n":2}'),
        ("c3", '{"n":3}'),
    ]


def test_text_may_follow_a_call() -> None:
    body = sse(call_chunk((0, "c", "f", "{}")), chunk({"content": "more"}), chunk(finish="tool_calls"))
    assert read(ChatCompletionsReader(), [body])[:-1] == [
        CallStarted(0, "c", "f"),
        CallDelta(0, "{}"),
        TextDelta("more"),
    ]


def test_b098_a_translated_name_comes_back_as_ours() -> None:
    body = sse(call_chunk((0, "c", "catalog_get-item", "{}")), chunk(finish="tool_calls"))
    reader = ChatCompletionsReader(ToolNames(["catalog.get-item"]))
    assert outcome(read(reader, [body])).calls[0]["name"] == "catalog.get-item"


@pytest.mark.parametrize("finish", ["stop", None, "function_call", "tool_calls"])
def test_b081_calls_are_complete_whatever_the_finish_reason_says(finish: str | None) -> None:
    result = said(call_chunk((0, "c", "f", "{}")), *([chunk(finish=finish)] if finish else []))
    assert len(result.calls) == 1
    assert result.ended.closed
    assert result.ended.raw_stop == finish


# --- Ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("documents", [[chunk({"content": "a"})] * 2, [call_chunk((0, "c", "f", "{}"))], []])
def test_b083_without_finish_reason_and_end_marker_a_turn_is_not_closed(documents: list[object]) -> None:
    assert said(*documents, done=False).ended.closed is False


@pytest.mark.parametrize(
    ("raw", "stop"),
    [
        ("stop", TurnStop.STOP),
        ("eos", TurnStop.STOP),
        ("tool_calls", TurnStop.TOOL_CALLS),
        ("function_call", TurnStop.TOOL_CALLS),
        ("length", TurnStop.LENGTH),
        ("model_length", TurnStop.LENGTH),
        ("MAX_TOKENS", TurnStop.LENGTH),
        ("content_filter", TurnStop.CONTENT_FILTER),
        ("SAFETY", TurnStop.CONTENT_FILTER),
    ],
)
def test_a_finish_reason_closes_the_turn(raw: str, stop: TurnStop) -> None:
    ended = said(chunk({"content": "a"}), chunk(finish=raw), done=False).ended
    assert (ended.closed, ended.stop, ended.raw_stop) == (True, stop, raw)


def test_the_last_finish_reason_counts_and_empty_ones_are_none() -> None:
    result = said(chunk(finish=""), chunk({"content": "a"}, "stop"), chunk(finish="length"), chunk())
    assert result.ended.raw_stop == "length"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("error", RunCode.PROVIDER_UNAVAILABLE),
        ("insufficient_system_resource", RunCode.PROVIDER_OVERLOADED),
        ("abort", RunCode.PROVIDER_STREAM_BROKEN),
    ],
)
def test_a_finish_reason_that_says_the_vendor_failed_is_a_failure(raw: str, code: RunCode) -> None:
    assert said(chunk({"content": "a"}), chunk(finish=raw)).failed.code is code


def test_b069_usage_after_the_finish_reason_counts() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    ended = said(chunk({"content": "a"}), chunk(finish="stop"), {"choices": [], "usage": usage}).ended
    assert ended.usage == Usage(10, 2, 12)


def test_usage_of_a_choice_counts() -> None:
    final = chunk(finish="stop")
    final["choices"][0]["usage"] = {"prompt_tokens": 10, "cached_tokens": 4}
    assert said(final).ended.usage == Usage(input_tokens=10, cached_tokens=4)


def test_a_broken_connection_fails_an_open_turn_and_leaves_a_finished_one() -> None:
    reader = ChatCompletionsReader()
    reader.feed(sse(chunk({"content": "a"}), done=False))
    assert reader.fail(RunCode.PROVIDER_STREAM_BROKEN, "reset") == [
        ResponseFailed(RunCode.PROVIDER_STREAM_BROKEN, "reset")
    ]
    reader = ChatCompletionsReader()
    reader.feed(sse(chunk({"content": "a"}, "stop"), done=False))
    (ended,) = reader.fail(RunCode.PROVIDER_STREAM_BROKEN, "reset")
    assert isinstance(ended, ResponseEnded)
    assert ended.closed


# --- Errors -------------------------------------------------------------------------------------------------

TOO_LONG = {"message": "too long", "code": "context_length_exceeded"}


@pytest.mark.parametrize(
    "body",
    [
        sse({"error": TOO_LONG}),
        sse(TOO_LONG),
        sse({"object": "error", **TOO_LONG}),
        sse({"choices": [], "error": TOO_LONG}),
        sse({"choices": [{"index": 0, "delta": {}, "error": TOO_LONG}]}),
        b"event: error\n" + sse(TOO_LONG),
        b"error: " + json.dumps(TOO_LONG).encode() + b"\n\n",
        json.dumps({"error": TOO_LONG}).encode(),
        json.dumps({"error": TOO_LONG}, indent=2).encode(),
    ],
)
def test_b059_an_error_inside_the_stream_has_its_code_in_every_shape(body: bytes) -> None:
    failed = read_whole(ChatCompletionsReader, body).failed
    assert failed.code is RunCode.CONTEXT_WINDOW_EXCEEDED
    assert failed.detail.startswith("too long")


def test_b011_an_error_after_text_keeps_the_text_and_the_usage() -> None:
    result = said(
        chunk({"content": "a"}, usage={"prompt_tokens": 3}),
        chunk({"content": "b"}),
        {"error": {"message": "slow down", "code": 429}},
    )
    assert result.text == "ab"
    assert result.failed.code is RunCode.PROVIDER_RATE_LIMITED
    assert result.failed.usage == Usage(input_tokens=3)


def test_an_event_that_cannot_be_read_fails_the_turn() -> None:
    body = (
        sse(chunk({"content": "a"}), done=False)
        + b'data: {"choices": [{"delta\n\n'
        + sse(chunk({"content": "b"}))
    )
    result = read_whole(ChatCompletionsReader, body)
    assert result.text == "a"
    assert result.failed.code is RunCode.PROVIDER_STREAM_BROKEN


def test_noise_between_events_is_no_error() -> None:
    body = b"data: ping\n\n" + sse(chunk({"content": "a"}, "stop"), {}, {"type": "ping"})
    assert read_whole(ChatCompletionsReader, body).text == "a"


def test_events_run_together_are_read_apart() -> None:
    body = sse(chunk({"content": "a"}), chunk({"content": "b"}), chunk(finish="stop")).replace(b"\n\n", b"\n")
    result = read_whole(ChatCompletionsReader, body)
    assert result.text == "ab"
    assert result.ended.closed


def test_a_page_instead_of_a_stream_is_a_failure_that_shows_it() -> None:
    failed = read_whole(ChatCompletionsReader, b"<html>\n<h1>Welcome</h1></html>").failed
    assert failed.code is RunCode.PROVIDER_STREAM_BROKEN
    assert "<h1>Welcome" in failed.detail


def test_a_whole_completion_instead_of_a_stream_is_read() -> None:
    document = {
        "model": "m",
        "choices": [
            {"index": 0, "message": {"content": "Hi", "reasoning_content": "hm"}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    result = read_whole(ChatCompletionsReader, json.dumps(document, indent=1).encode())
    assert (result.text, result.thinking) == ("Hi", "hm")
    assert result.ended == ResponseEnded(True, TurnStop.STOP, Usage(1, 1), "m", "stop")


def test_an_endless_line_is_a_failure() -> None:
    reader = ChatCompletionsReader()
    (failed,) = [event for _ in range(40) for event in reader.feed(b"x" * 1024 * 1024)]
    assert isinstance(failed, ResponseFailed)
    assert failed.code is RunCode.PROVIDER_STREAM_BROKEN


# --- What goes back -----------------------------------------------------------------------------------------


def test_reasoning_details_are_gathered_for_the_next_request() -> None:
    def details(*values: dict[str, Any]) -> dict[str, Any]:
        return chunk({"reasoning_details": list(values)})

    body = sse(
        details({"type": "reasoning.text", "text": "a", "index": 0, "format": "f"}),
        details({"type": "reasoning.text", "text": "b", "index": 0, "format": "f"}),
        details({"type": "reasoning.text", "signature": "S", "index": 0, "format": "f"}),
        details({"type": "reasoning.encrypted", "data": "E", "index": 1, "id": "x"}),
        chunk(finish="tool_calls"),
    )
    replay = outcome(read(ChatCompletionsReader(model="m"), [body])).replay
    assert [part.data["detail"] for part in replay] == [
        {"type": "reasoning.text", "text": "ab", "index": 0, "format": "f", "signature": "S"},
        {"type": "reasoning.encrypted", "data": "E", "index": 1, "id": "x"},
    ]
    assert {part.data["model"] for part in replay} == {"m"}


def test_what_a_vendor_hangs_on_a_call_goes_back_with_it() -> None:
    signed = call_chunk((0, "a", "f", "{}"), (1, "b", "g", "{}"))
    signed["choices"][0]["delta"]["tool_calls"][1]["extra_content"] = {"google": {"thought_signature": "S"}}
    assert said(signed, chunk(finish="tool_calls")).replay == [
        ReplayPart(
            {
                "type": "call_extra",
                "model": "",
                "call": 1,
                "extra_content": {"google": {"thought_signature": "S"}},
            }
        )
    ]
