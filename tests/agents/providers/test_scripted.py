import asyncio

import pytest

from agents.conversation import ModelRequest, ToolCall, UserMessage
from agents.errors import ProviderError
from agents.providers.base import ProviderEvent, TurnStop
from agents.providers.scripted import ScriptedProvider, turn
from streaming.codes import RunCode
from streaming.events import TextDelta
from tests.agents.providers.reading import outcome

ASK = ModelRequest("m", [UserMessage("hi")])


async def said(provider: ScriptedProvider) -> list[ProviderEvent]:
    return [event async for batch in provider.stream(ASK) for event in batch]


async def test_it_says_what_it_is_told_and_notes_what_it_was_asked() -> None:
    provider = ScriptedProvider(
        [turn("a", "b", thinking=["t"], calls=[ToolCall("c", "f", "{}")]), turn("done")]
    )
    first, second = outcome(await said(provider)), outcome(await said(provider))
    assert (first.text, first.thinking, first.calls) == (
        "ab",
        "t",
        [{"id": "c", "name": "f", "arguments": "{}"}],
    )
    assert first.ended.stop is TurnStop.TOOL_CALLS
    assert second.text == "done"
    assert provider.requests == [ASK, ASK]
    assert provider.closed == 2


async def test_it_fails_as_told() -> None:
    error = ProviderError(RunCode.PROVIDER_OVERLOADED, "busy")
    with pytest.raises(ProviderError) as raised:
        await said(ScriptedProvider([[[TextDelta("a")], error]]))
    assert raised.value is error


async def test_it_waits_as_told_and_knows_when_it_was_closed() -> None:
    provider = ScriptedProvider([[[TextDelta("a")], asyncio.Event()]])
    stream = provider.stream(ASK)
    assert await anext(stream) == [TextDelta("a")]
    await stream.aclose()
    assert provider.closed == 1


async def test_it_is_not_asked_more_than_it_was_told() -> None:
    with pytest.raises(AssertionError, match="asked 1 times, told 0 turns"):
        await said(ScriptedProvider([]))
