"""Settled mode (agent-events-v1 section 8): what an agent says, masked, a turn at a time.

Everything of a turn waits for its end, so a value that the stream cut anywhere is masked whole; every way of
cutting gives the same events. Text goes out only for a final turn, once. A turn that never ends says
nothing. Pure.
"""

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from redaction.engine import Masker
from streaming.events import (
    AgentEvent,
    AgentFinished,
    RoundUsage,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolSettled,
    TurnEnd,
    TurnEnded,
    Warned,
)


class SettledTurns:
    """Folds an agent block's events into masked ones. Raises RedactionFailed; feed nothing after it."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._forget_turn()

    def feed(self, events: Iterable[AgentEvent]) -> list[AgentEvent]:
        """Take a batch and return what may go out now; often nothing."""
        out: list[AgentEvent] = []
        for event in events:
            self._take(event, out)
        return out

    def _forget_turn(self) -> None:
        self._thinking: list[str] = []
        self._text: list[str] = []
        #: Masked events of the open turn, in their order.
        self._waiting: list[AgentEvent] = []

    def _take(self, event: AgentEvent, out: list[AgentEvent]) -> None:
        match event:
            case ThinkingDelta():
                self._thinking.append(event.text)
            case TextDelta():
                self._text.append(event.text)
            case ToolCallDelta():
                pass  # the whole arguments come with ToolCallReady
            case TurnEnded():
                out += self._end_turn(event)
            case ToolCallStarted():
                self._waiting.append(replace(event, name=self._mask_name(event.name, event.declared)))
            case ToolCallReady():
                self._waiting += self._mask_arguments(event)
            case RoundUsage():
                self._waiting.append(event)
            case ToolSettled() | Warned():
                self._pass(event, out)
            case AgentFinished():
                out.append(replace(event, content=self._masker.mask_document(event.content)))
            case _:
                assert_never(event)

    def _pass(self, event: ToolSettled | Warned, out: list[AgentEvent]) -> None:
        """Between turns these go out at once; inside one they keep their place behind what waits."""
        masked = self._mask_result(event) if isinstance(event, ToolSettled) else self._mask_warning(event)
        (self._waiting if self._waiting else out).append(masked)

    def _end_turn(self, end: TurnEnded) -> list[AgentEvent]:
        thinking = self._masker.mask_document("".join(self._thinking))
        text = self._masker.mask_document("".join(self._text)) if end.kind is TurnEnd.FINAL else ""
        out: list[AgentEvent] = [ThinkingDelta(thinking)] if thinking else []
        usage = [event for event in self._waiting if isinstance(event, RoundUsage)]
        calls = [event for event in self._waiting if not isinstance(event, RoundUsage)]
        out += calls
        out += [TextDelta(text)] if text else []
        out += [*usage, end]
        self._forget_turn()
        return out

    def _mask_arguments(self, event: ToolCallReady) -> list[AgentEvent]:
        """One fragment that is the whole, so that it can be masked; none for empty arguments."""
        arguments = self._masker.mask_document(event.arguments)
        ready = replace(event, arguments=arguments)
        return [ToolCallDelta(event.index, event.id, arguments), ready] if arguments else [ready]

    def _mask_name(self, name: str, declared: bool) -> str:
        """A declared name was chosen by who made the tool; any other is the model's own words."""
        return name if declared else self._masker.mask(name)

    def _mask_result(self, event: ToolSettled) -> ToolSettled:
        return replace(
            event,
            name=self._mask_name(event.name, event.declared),
            output=self._masker.mask_document(event.output),
        )

    def _mask_warning(self, event: Warned) -> Warned:
        return replace(
            event, facts=self._masker.mask_json(event.facts), message=self._masker.mask(event.message)
        )
