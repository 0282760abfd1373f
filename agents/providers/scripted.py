"""A provider that says what it is told: the double for tests of every package."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence

from agents.conversation import ModelRequest, ToolCall
from agents.providers.base import CallDelta, CallStarted, ProviderEvent, ResponseEnded, TurnStop
from streaming.events import TextDelta, ThinkingDelta, Usage

#: A batch to say, a moment to wait for, or an error to raise.
Step = Sequence[ProviderEvent] | asyncio.Event | Exception
Turn = Sequence[Step]


class ScriptedProvider:
    """Plays one turn a request, in order. `requests` is what it was asked, `closed` how many streams ended.

    Raises AssertionError if it is asked more often than it was told.
    """

    def __init__(self, turns: Iterable[Turn], *, name: str = "scripted", vendor: str = "scripted") -> None:
        self.name = name
        self.vendor = vendor
        self.requests: list[ModelRequest] = []
        self.closed = 0
        self._turns = list(turns)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        self.requests.append(request)
        number = len(self.requests)
        assert number <= len(self._turns), f"asked {number} times, told {len(self._turns)} turns"
        try:
            for step in self._turns[number - 1]:
                match step:
                    case Exception():
                        raise step
                    case asyncio.Event():
                        await step.wait()
                    case _:
                        yield list(step)
        finally:
            self.closed += 1


def turn(
    *texts: str,
    thinking: Sequence[str] = (),
    calls: Sequence[ToolCall] = (),
    stop: TurnStop | None = None,
    usage: Usage | None = None,
    model: str = "",
) -> Turn:
    """Return a whole turn: a batch for each delta of thinking and text, one for the calls, one at the end."""
    batches: list[list[ProviderEvent]] = [[ThinkingDelta(text)] for text in thinking]
    batches += [[TextDelta(text)] for text in texts]
    if calls:
        batches.append(_calls(calls))
    end = stop or (TurnStop.TOOL_CALLS if calls else TurnStop.STOP)
    batches.append([ResponseEnded(True, end, usage or Usage(10, 5, 15), model, str(end))])
    return batches


def _calls(calls: Sequence[ToolCall]) -> list[ProviderEvent]:
    events: list[ProviderEvent] = []
    for index, call in enumerate(calls):
        events.append(CallStarted(index, call.id, call.name))
        if call.arguments:
            events.append(CallDelta(index, call.arguments))
    return events
