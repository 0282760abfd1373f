from typing import Any

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from agents.conversation import (
    AssistantMessage,
    Message,
    ModelRequest,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from agents.providers.chat_completions.renderer import render_request, without_refused
from agents.providers.tool_names import names_of
from agents.providers.vendors import quirks_for

OPENAI = quirks_for("https://api.openai.com/v1")
LOCAL = quirks_for("http://127.0.0.1:9000/v1")
SCHEMA = {
    "type": "object",
    "properties": {"q": {"type": "string"}},
    "required": ["q"],
    "additionalProperties": False,
}
SEARCH = ToolSpec("search", "Finds.", SCHEMA)
VALID = TypeAdapter(CompletionCreateParamsStreaming)


def second_turn(vendor: str, *, model: str = "m", thinking: str = "hm", replay: Any = ()) -> ModelRequest:
    """A question, a call with its result, and the request for the next turn."""
    call = AssistantMessage("I look.", [ToolCall("c1", "search", '{"q":"x"}')], thinking, replay, vendor)
    messages: list[Message] = [UserMessage("hi"), call, ToolMessage("c1", "search", "found")]
    return ModelRequest(model, messages, instructions="Help.", tools=[SEARCH])


def test_it_renders_a_plain_request() -> None:
    assert render_request(ModelRequest("m", [UserMessage("hi")]), LOCAL) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_b091_text_before_a_call_and_its_result_are_in_the_next_request() -> None:
    body = render_request(second_turn("v"), LOCAL)
    assert body["messages"] == [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":"x"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]
    assert body["tools"] == [
        {"type": "function", "function": {"name": "search", "description": "Finds.", "parameters": SCHEMA}}
    ]


@pytest.mark.parametrize(
    "url", ["https://api.openai.com/v1", "https://api.deepseek.com/v1", "http://127.0.0.1:9/v1"]
)
def test_the_sdk_takes_a_second_turn(url: str) -> None:
    request = second_turn(quirks_for(url).vendor)
    full = ModelRequest(
        **{name: getattr(request, name) for name in ("model", "messages", "instructions", "tools")},
        thinking=Thinking.HIGH,
        temperature=0.2,
        max_output_tokens=100,
        response_schema=SCHEMA,
    )
    VALID.validate_python(render_request(full, quirks_for(url)))


def test_b098_dotted_names_are_translated_everywhere() -> None:
    messages: list[Message] = [
        UserMessage("q"),
        AssistantMessage(calls=[ToolCall("c", "catalog.get-item", "{}")]),
    ]
    request = ModelRequest("m", messages, tools=[ToolSpec("catalog.get-item", "", {"type": "object"})])
    body = render_request(request, LOCAL)
    assert body["tools"][0]["function"]["name"] == "catalog_get-item"
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "catalog_get-item"
    assert names_of(request).original("catalog_get-item") == "catalog.get-item"


def test_a_tool_that_is_gone_keeps_a_valid_name_in_history() -> None:
    messages: list[Message] = [UserMessage("q"), AssistantMessage(calls=[ToolCall("c", "old.tool", "{}")])]
    body = render_request(ModelRequest("m", messages, tools=[SEARCH]), LOCAL)
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "old_tool"


def test_questions_in_a_row_are_joined_so_that_roles_alternate() -> None:
    body = render_request(ModelRequest("m", [UserMessage("a"), UserMessage("b")]), LOCAL)
    assert body["messages"] == [{"role": "user", "content": "a\n\nb"}]


def test_the_limit_has_the_vendors_name() -> None:
    request = ModelRequest("m", [UserMessage("hi")], max_output_tokens=9)
    assert render_request(request, OPENAI)["max_completion_tokens"] == 9
    assert render_request(request, LOCAL)["max_tokens"] == 9


@pytest.mark.parametrize(
    ("url", "model", "level", "expected"),
    [
        ("https://api.openai.com/v1", "gpt-5-mini", Thinking.HIGH, {"reasoning_effort": "high"}),
        ("https://api.openai.com/v1", "gpt-4o", Thinking.HIGH, {}),
        ("https://api.openai.com/v1", "gpt-5-chat-latest", Thinking.HIGH, {}),
        ("https://api.openai.com/v1", "o4-mini", Thinking.OFF, {}),
        ("https://openrouter.ai/api/v1", "x/y", Thinking.LOW, {"reasoning": {"effort": "low"}}),
        ("https://openrouter.ai/api/v1", "x/y", Thinking.OFF, {"reasoning": {"enabled": False}}),
        ("https://api.deepseek.com/v1", "deepseek-chat", Thinking.LOW, {"thinking": {"type": "enabled"}}),
        ("https://api.deepseek.com/v1", "deepseek-chat", Thinking.OFF, {"thinking": {"type": "disabled"}}),
        ("https://dashscope.aliyuncs.com/v1", "qwen3", Thinking.OFF, {"enable_thinking": False}),
        ("http://localhost:11434/v1", "qwen3", Thinking.OFF, {"reasoning_effort": "none"}),
        ("http://127.0.0.1:9000/v1", "any", Thinking.HIGH, {}),
    ],
)
def test_a_vendor_is_told_how_much_to_think_in_its_own_way(
    url: str, model: str, level: Thinking, expected: dict[str, Any]
) -> None:
    body = render_request(ModelRequest(model, [UserMessage("hi")], thinking=level), quirks_for(url))
    told = {key: body[key] for key in body if key not in ("model", "messages", "stream", "stream_options")}
    assert told == expected


def test_a_schema_is_strict_only_if_it_can_be() -> None:
    def wanted(schema: dict[str, Any]) -> Any:
        return render_request(ModelRequest("m", [UserMessage("q")], response_schema=schema), OPENAI)[
            "response_format"
        ]

    assert wanted(SCHEMA) == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }
    assert (
        wanted({"type": "object", "properties": {"q": {"type": "string"}}})["json_schema"]["strict"] is False
    )
    nested = SCHEMA | {"properties": {"q": {"type": "array", "items": {"type": "object"}}}}
    assert wanted(nested)["json_schema"]["strict"] is False


def test_a_vendor_without_schemas_gets_the_schema_as_instructions() -> None:
    request = ModelRequest("m", [UserMessage("q")], instructions="Help.", response_schema=SCHEMA)
    body = render_request(request, quirks_for("https://api.deepseek.com"))
    assert body["response_format"] == {"type": "json_object"}
    assert body["messages"][0]["content"].startswith("Help.\n\nAnswer with JSON only")


# --- Reasoning given back -----------------------------------------------------------------------------------


def assistant_of(url: str, **more: Any) -> dict[str, Any]:
    quirks = quirks_for(url)
    rendered = render_request(second_turn(quirks.vendor, **more), quirks)["messages"]
    message: dict[str, Any] = next(message for message in rendered if message["role"] == "assistant")
    return message


def test_reasoning_goes_back_as_text_during_tool_use_where_the_vendor_wants_it() -> None:
    assert assistant_of("https://api.deepseek.com/v1")["reasoning_content"] == "hm"
    assert "reasoning_content" not in assistant_of("https://api.openai.com/v1")
    assert "reasoning_content" not in assistant_of("http://127.0.0.1:9000/v1")


def test_reasoning_of_earlier_questions_does_not_go_back() -> None:
    request = second_turn("deepseek")
    later = ModelRequest(
        "m", [*request.messages, AssistantMessage("done"), UserMessage("and?")], tools=[SEARCH]
    )
    rendered = render_request(later, quirks_for("https://api.deepseek.com"))["messages"]
    assert not any("reasoning_content" in message for message in rendered)


def test_reasoning_goes_back_as_parts_where_the_vendor_wants_it() -> None:
    assert assistant_of("https://api.mistral.ai/v1")["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "I look."},
    ]


def test_reasoning_details_go_back_untouched_to_the_model_they_came_from() -> None:
    detail = {"type": "reasoning.encrypted", "data": "E", "index": 0}
    replay = [{"type": "reasoning_detail", "model": "m", "detail": detail}]
    url = "https://openrouter.ai/api/v1"
    assert assistant_of(url, replay=replay)["reasoning_details"] == [detail]
    assert "reasoning_details" not in assistant_of(url, replay=replay, model="another")


def test_what_hung_on_a_call_hangs_on_it_again() -> None:
    replay = [
        {
            "type": "call_extra",
            "model": "m",
            "call": 0,
            "extra_content": {"google": {"thought_signature": "S"}},
        }
    ]
    message = assistant_of("https://generativelanguage.googleapis.com/v1beta/openai", replay=replay)
    assert message["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "S"}}


# --- Asking again -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("complaint", "gone"),
    [
        ("Unrecognized request argument supplied: stream_options", {"stream_options"}),
        ("Unsupported value: 'temperature' does not support 0.2 with this model.", {"temperature"}),
        ("unknown field reasoning_effort", {"reasoning_effort"}),
        ("extra fields not permitted: stream_options, temperature", {"stream_options", "temperature"}),
        ("the model is asleep", set()),
        ("Unknown model", set()),
    ],
)
def test_b069_what_a_refusal_names_is_left_out(complaint: str, gone: set[str]) -> None:
    body = {"model": "m", "stream_options": {}, "temperature": 0.2, "reasoning_effort": "low"}
    softer, refused = without_refused(body, complaint)
    assert set(body) - set(softer) == gone == set(refused)


def test_a_limit_under_the_wrong_name_is_renamed() -> None:
    complaint = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    softer, refused = without_refused({"model": "m", "max_tokens": 5}, complaint)
    assert softer == {"model": "m", "max_completion_tokens": 5}
    assert list(refused) == ["max_tokens"]
