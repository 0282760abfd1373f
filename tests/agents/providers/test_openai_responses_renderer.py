from typing import Any

import pytest
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
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
from agents.providers.openai_responses.renderer import render_request, without_refused
from agents.providers.vendors import quirks_for

OPENAI = quirks_for("https://api.openai.com/v1")
SCHEMA = {
    "type": "object",
    "properties": {"q": {"type": "string"}},
    "required": ["q"],
    "additionalProperties": False,
}
SEARCH = ToolSpec("search", "Finds.", SCHEMA)
VALID = TypeAdapter(ResponseCreateParamsStreaming)


def reasoning(
    secret: str, calls_before: int = 0, *, after_text: bool = False, model: str = "gpt-5"
) -> dict[str, Any]:
    item = {"type": "reasoning", "id": f"rs_{secret}", "summary": [], "encrypted_content": secret}
    return {
        "type": "reasoning",
        "model": model,
        "calls_before": calls_before,
        "after_text": after_text,
        "item": item,
    }


def second_turn(replay: Any = (), **fields: Any) -> ModelRequest:
    calls = [ToolCall("c1", "search", '{"q":"x"}'), ToolCall("c2", "search", "")]
    messages: list[Message] = [
        UserMessage("hi"),
        AssistantMessage("I look.", calls, "hm", replay, "openai"),
        ToolMessage("c1", "search", "found"),
        ToolMessage("c2", "search", "nothing", is_error=True),
    ]
    return ModelRequest("gpt-5", messages, instructions="Help.", tools=[SEARCH], **fields)


def kinds(request: ModelRequest) -> list[str]:
    """What the items are, shortly."""
    items = render_request(request, OPENAI)["input"]
    return [item.get("encrypted_content") or item.get("call_id") or item["role"] for item in items]


def test_it_renders_a_second_turn_that_the_sdk_takes() -> None:
    request = second_turn(
        [reasoning("A"), {"type": "phase", "model": "gpt-5", "phase": "commentary"}],
        thinking=Thinking.HIGH,
        summaries=True,
        temperature=0.2,
        max_output_tokens=100,
        response_schema=SCHEMA,
    )
    body = render_request(request, OPENAI)
    assert body == {
        "model": "gpt-5",
        "stream": True,
        "store": False,
        "instructions": "Help.",
        "input": [
            {"role": "user", "content": "hi"},
            {"type": "reasoning", "id": "rs_A", "summary": [], "encrypted_content": "A"},
            {"role": "assistant", "content": "I look.", "phase": "commentary"},
            {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"q":"x"}'},
            {"type": "function_call", "call_id": "c2", "name": "search", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "found"},
            {"type": "function_call_output", "call_id": "c2", "output": "nothing"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "search",
                "description": "Finds.",
                "parameters": SCHEMA,
                "strict": False,
            }
        ],
        "temperature": 0.2,
        "max_output_tokens": 100,
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}},
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "high", "summary": "auto"},
    }
    VALID.validate_python(body)


def test_reasoning_stands_before_what_it_led_to() -> None:
    replay = [reasoning("A"), reasoning("B", after_text=True), reasoning("C", 1, after_text=True)]
    assert kinds(second_turn(replay)) == ["user", "A", "assistant", "B", "c1", "C", "c2", "c1", "c2"]


def test_reasoning_goes_only_to_the_model_and_vendor_it_came_from() -> None:
    assert "A" not in kinds(second_turn([reasoning("A", model="o4-mini")]))
    elsewhere = render_request(second_turn([reasoning("A")]), quirks_for("https://api.x.ai/v1"))
    assert not any("encrypted_content" in item for item in elsewhere["input"])


@pytest.mark.parametrize(
    ("model", "thinking", "summaries", "expected"),
    [
        ("gpt-5", Thinking.LOW, True, {"effort": "low", "summary": "auto"}),
        ("gpt-5", Thinking.LOW, False, {"effort": "low"}),
        ("gpt-5", Thinking.OFF, True, None),
        ("gpt-4o", Thinking.HIGH, True, None),
    ],
)
def test_summaries_are_asked_for_only_when_thinking_can_reach_somebody(
    model: str, thinking: Thinking, summaries: bool, expected: dict[str, str] | None
) -> None:
    body = render_request(
        ModelRequest(model, [UserMessage("q")], thinking=thinking, summaries=summaries), OPENAI
    )
    assert body.get("reasoning") == expected


def test_b098_dotted_names_are_translated() -> None:
    request = ModelRequest(
        "m", [UserMessage("q")], tools=[ToolSpec("catalog.get-item", "", {"type": "object"})]
    )
    assert render_request(request, OPENAI)["tools"][0]["name"] == "catalog_get-item"


FULL = {
    "model": "m",
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "temperature": 0.2,
}


@pytest.mark.parametrize(
    ("complaint", "refused", "left"),
    [
        (
            "Your organization must be verified to generate reasoning summaries.",
            "reasoning.summary",
            {**FULL, "reasoning": {"effort": "low"}},
        ),
        (
            "Encrypted content is not supported with this model.",
            "include",
            {k: FULL[k] for k in FULL if k != "include"},
        ),
        (
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "reasoning",
            {k: FULL[k] for k in FULL if k != "reasoning"},
        ),
        (
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature",
            {k: FULL[k] for k in FULL if k != "temperature"},
        ),
    ],
)
def test_what_a_refusal_speaks_of_is_left_out(complaint: str, refused: str, left: dict[str, Any]) -> None:
    assert without_refused(FULL, complaint) == (left, [refused])


def test_a_refusal_that_speaks_of_nothing_optional_changes_nothing() -> None:
    assert without_refused(FULL, "No such model") == (FULL, [])
