import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.conversation import AssistantMessage, Message, ModelRequest, ToolCall, ToolMessage, UserMessage
from agents.providers.base import ProviderEvent, TurnStop
from agents.providers.demo import DemoProvider
from agents.tools.builtin import BUILTINS
from tests.agents.providers.reading import Outcome, outcome

CALCULATOR, CURRENT_TIME = BUILTINS["calculator"].spec, BUILTINS["current_time"].spec


async def played(request: ModelRequest) -> list[ProviderEvent]:
    batches = [batch async for batch in DemoProvider("demo", delay=0).stream(request)]
    assert all(batches)
    return [event for batch in batches for event in batch]


async def said(question: str, *more: Message, **fields: object) -> Outcome:
    return outcome(await played(ModelRequest("demo", [UserMessage(question), *more], **fields)))  # type: ignore[arg-type] # fields by name


async def test_it_says_that_it_is_a_demo_thinks_and_streams_word_by_word() -> None:
    events = await played(ModelRequest("any", [UserMessage("Hello there")]))
    result = outcome(events)
    assert result.text.startswith("This is a demo answer")
    assert "“Hello there”" in result.text
    assert "This is a demo" in result.thinking
    assert len(events) > 20
    assert result.ended.usage.output_tokens == len(events) - 1
    assert events == await played(ModelRequest("any", [UserMessage("Hello there")]))


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("what is 2+2?", "2+2"),
        ("(3 * 4) please", "(3 * 4)"),
        ("2^10", "2**10"),
        ("add 1.5 + 2.25 now", "1.5 + 2.25"),
    ],
)
async def test_it_lets_the_calculator_compute_what_the_question_holds(question: str, expression: str) -> None:
    result = await said(question, tools=[CALCULATOR, CURRENT_TIME])
    assert result.text.startswith("This is a demo")
    (call,) = result.calls
    assert (call["name"], json.loads(call["arguments"])) == ("calculator", {"expression": expression})
    assert result.ended.stop is TurnStop.TOOL_CALLS
    assert not (await BUILTINS["calculator"].call({"expression": expression})).is_error


async def test_it_asks_for_the_time_if_there_is_nothing_to_compute() -> None:
    result = await said("hi", tools=[CALCULATOR, CURRENT_TIME])
    assert [call["name"] for call in result.calls] == ["current_time"]


async def test_it_makes_up_a_calculation_if_it_has_nothing_else() -> None:
    result = await said("hi", tools=[CALCULATOR])
    assert [call["name"] for call in result.calls] == ["calculator"]


async def test_it_answers_with_the_tools_result() -> None:
    call = AssistantMessage("This is a demo.", [ToolCall("demo_call", "calculator", "{}")])
    result = await said("2+2?", call, ToolMessage("demo_call", "calculator", "4"), tools=[CALCULATOR])
    assert result.calls == []
    assert "`calculator` says: 4" in result.text


async def test_it_calls_no_tool_that_is_not_there() -> None:
    assert (await said("2+2")).calls == []


SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "count": {"type": "integer", "minimum": 3},
        "kind": {"enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "inner": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]},
    },
    "required": ["title", "count", "kind", "tags", "inner"],
}


async def test_it_gives_json_of_the_schema_it_is_asked_for() -> None:
    result = await said("hi", response_schema=SCHEMA)
    jsonschema.validate(json.loads(result.text), SCHEMA)


@given(st.text())
async def test_any_question_gets_a_turn_that_ends(question: str) -> None:
    assert (await said(question, tools=[CALCULATOR])).ended.closed
