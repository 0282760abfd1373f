"""One call of one tool: whatever happens is a result."""

import asyncio
import logging
from typing import Any

import pytest

from agents.conversation import ToolCall
from agents.tools.base import ToolResult
from agents.tools.call import MAX_RESULT, call_tool, cap
from tests.agents.doubles import Doing, saying

SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "to": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
    "required": ["id"],
}


async def result_of(tool: Doing | None, arguments: str = "{}") -> ToolResult:
    return await call_tool(tool, ToolCall("c1", "note", arguments), ["note", "look"])


async def test_it_runs_the_tool_with_its_arguments() -> None:
    tool = saying("note", "noted")

    assert await result_of(tool, '{"a": [1, "x"]}') == ToolResult("noted")
    assert tool.calls == [{"a": [1, "x"]}]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"a": 1', "at character 7"),
        ("{'a': 1}", "at character 1"),
        ("[1, 2]", "not a JSON object"),
        ('"text"', "not a JSON object"),
        ('{"a": NaN}', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("9" * 5000, "no JSON"),
    ],
)
async def test_b078_arguments_that_cannot_be_parsed_say_what_is_wrong_and_nothing_runs(
    arguments: str, says: str
) -> None:
    tool = saying("note")

    result = await result_of(tool, arguments)

    assert result.is_error
    assert says in result.text
    assert tool.calls == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("{}", "'id' is a required property"),
        ('{"id": "7"}', "arguments.id: '7' is not of type 'integer'"),
        ('{"id": 7, "to": {"name": 1}}', "arguments.to.name: 1 is not of type 'string'"),
    ],
)
async def test_arguments_that_do_not_fit_the_schema_say_where(arguments: str, says: str) -> None:
    tool = Doing("note", saying("note").call, SCHEMA)

    result = await result_of(tool, arguments)

    assert result.is_error
    assert says in result.text
    assert tool.calls == []


@pytest.mark.parametrize(
    ("pattern", "value", "fits"),
    [
        ("^ORD-[0-9]+$", "ORD-7", True),
        ("^ORD-[0-9]+$", "7", False),
        ("^(a+)+$", "a" * 5000 + "!", False),
        ("(?=look)ahead", "anything", True),
    ],
)
async def test_patterns_are_matched_in_linear_time(pattern: str, value: str, fits: bool) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string", "pattern": pattern}}}

    result = await result_of(Doing("note", saying("note").call, schema), f'{{"id": "{value}"}}')

    assert result.is_error is not fits
    assert ("does not match" in result.text or "…" in result.text) is not fits


@pytest.mark.parametrize(
    "schema", [{"$ref": "http://127.0.0.1:9/schema"}, {"$ref": "#/nowhere"}, {"type": 7}, {"properties": 1}]
)
@pytest.mark.filterwarnings("ignore")
async def test_a_schema_that_cannot_be_used_is_an_error_and_fetches_nothing(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", fetched.append)
    tool = Doing("note", saying("note").call, schema)

    result = await result_of(tool)

    assert "schema cannot be used" in result.text
    assert tool.calls == []
    assert fetched == []


async def test_an_exception_is_a_result_and_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def break_down(arguments: dict[str, Any]) -> ToolResult:
        raise KeyError("s3cret")

    with caplog.at_level(logging.ERROR):
        result = await result_of(Doing("note", break_down))

    assert result == ToolResult("note failed unexpectedly (KeyError).", is_error=True)
    assert "tool note raised" in caplog.text


async def test_a_cancel_is_no_result() -> None:
    async def cancelled(arguments: dict[str, Any]) -> ToolResult:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await result_of(Doing("note", cancelled))


async def test_b103_a_huge_result_is_cut_with_a_marker() -> None:
    result = await result_of(saying("note", "ü" * 5_000_000))

    assert result.text == "ü" * MAX_RESULT + f"\n[cut: {5_000_000 - MAX_RESULT} more characters]"
    assert not result.is_error


async def test_b062_a_result_is_clean_text() -> None:
    assert (await result_of(saying("note", "abc\x00def\ud800"))).text == "abc\ufffddef\ufffd"


async def test_b062_arguments_are_clean_text() -> None:
    tool = saying("note")

    await result_of(tool, '{"a": "x\\ud800\\u0000y", "\\ud83d\\ude00": 1}')

    assert tool.calls == [{"a": "x\ufffd\ufffdy", "😀": 1}]


async def test_b093_an_unknown_tool_is_named_with_those_there_are() -> None:
    result = await result_of(None)

    assert result == ToolResult("There is no tool named 'note'. Available tools: note, look.", is_error=True)


def test_a_short_text_is_not_cut() -> None:
    assert cap("abc", 3) == "abc"
    assert cap("abcd", 3) == "abc\n[cut: 1 more characters]"
