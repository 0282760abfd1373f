"""The hidden half of a world (agent-events-v1 section 9): everything that a visitor may not learn, drawn anew
for each world of a pair, around the words and calls that the scene makes public.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from agents.errors import ProviderError
from agents.providers.base import (
    CallDelta,
    CallStarted,
    ProviderEvent,
    ReplayPart,
    ResponseEnded,
    ResponseFailed,
    TurnStop,
)
from agents.providers.scripted import Step
from streaming.codes import FALLBACK_CODES, RunCode
from streaming.events import TextDelta, ThinkingDelta, Usage
from tests.noninterference.scenes import SHOWN_TOOLS, Call, Scene, Story, Turn
from tests.noninterference.stage import HIDDEN_TOOLS, Halt, Puppets

#: Values that a rule of the kind finds; one of them stands wherever the scene's text has a place for it.
FOUND = {
    "words": ("quartz", "Onyx", "lapis lazuli", "JADE-77"),
    "email": ("a@example.org", "demo.user@mail.example.com", "x.y+z@example.net"),
}
_WORDS = ("maple", "cedar", "elm", "birch", "oak", "juniper", "willow", "larch")


@dataclass(frozen=True)
class Spoken:
    """One call as a model makes it. `does` is what its tool will do; "" for arguments that are no JSON."""

    name: str
    does: str


class Hidden:
    """Makes the scripts of a scene's models. `seed` decides all that is hidden."""

    def __init__(self, scene: Scene, seed: int, puppets: Puppets) -> None:
        self._scene = scene
        self._story = Story(scene)
        self._random = Random(seed)
        self._puppets = puppets
        self.extra_tools = [name for name in HIDDEN_TOOLS if self._random.random() < 0.5]

    # --- Words and numbers ----------------------------------------------------------------------------------

    def word(self) -> str:
        return f"{self._random.choice(_WORDS)}-{self._random.randrange(10 ** self._random.randrange(1, 7))}"

    def number(self, most: int) -> int:
        return self._random.randrange(most)

    def one_of(self, *choices: Any) -> Any:
        return self._random.choice(choices)

    def shuffled(self, items: Sequence[Any]) -> list[Any]:
        return self._random.sample(items, len(items))

    def words(self, most: int = 3) -> tuple[str, ...]:
        return tuple(self.word() for _ in range(self.number(most)))

    def _deltas(self, texts: Sequence[str], *, as_they_are: bool) -> tuple[str, ...]:
        """Public text: delta by delta where deltas are public, else cut anew, with values that rules hide."""
        values = FOUND[self._scene.rule] if self._scene.redaction == "rules" else ("it",)
        filled = [text.replace("{}", self.one_of(*values)) for text in texts]
        if as_they_are:
            return tuple(filled)
        return tuple(self._cut("".join(filled)))

    def _cut(self, text: str) -> Iterator[str]:
        while text:
            size = 1 + self.number(9)
            yield text[:size]
            text = text[size:]

    # --- Turns ----------------------------------------------------------------------------------------------

    def script(self) -> list[list[Step]]:
        """The turns of the answering model; what comes before the last one is intermediate."""
        turns = [self.intermediate(turn) for turn in self._story.turns]
        if not (self._scene.sees_drafts or self._scene.sees_thinking or self._scene.sees_tools):
            # Nobody sees these turns, so there may be any number of them.
            turns += [self.intermediate(Turn((), (), ())) for _ in range(self.number(3))]
        return [*turns, *_LAST.get(self._scene.ending, _answer)(self)]

    def spare_script(self) -> list[list[Step]]:
        """What the next model of a chain says when the first one has failed."""
        return _answer(self)

    def other_script(self, failure: RunCode | None) -> list[list[Step]]:
        """The turns of a block that nobody selected; `failure` is how it fails."""
        script = [
            [*self._aside(), self.calls(self._anything()), self.end("calls")] for _ in range(self.number(3))
        ]
        end = [TextDelta(self.word())], self.end()
        return [*script, [*self._aside(), *(end if failure is None else [self.failed(failure)])]]

    def _aside(self) -> list[Step]:
        thoughts: list[Step] = [[ThinkingDelta(word)] for word in self.words()]
        return thoughts + [[TextDelta(word)] for word in self.words()]

    def _anything(self) -> list[Spoken]:
        names = [*self.extra_tools, self.word()]
        return [Spoken(self.one_of(*names), self.one_of("work", "fail", "raise", "")) for _ in range(2)]

    def intermediate(self, turn: Turn) -> list[Step]:
        return [*self.said(turn.thinking, turn.texts), self.calls(self.spoken(turn.calls)), self.end("calls")]

    def said(self, thinking: Sequence[str], texts: Sequence[str], *, final: bool = False) -> list[Step]:
        """Thinking, then text: as the scene has it where it is public, else anything."""
        scene = self._scene
        thoughts = self.words()
        if scene.sees_thinking:
            thoughts = self._deltas(thinking, as_they_are=not scene.settled)
        spoken = self.words()
        if scene.sees_drafts or (final and scene.ending != "no structure"):
            spoken = self._deltas(texts, as_they_are=scene.sees_drafts)
        steps: list[Step] = [[ThinkingDelta(text)] for text in thoughts]
        if self.number(2):
            steps.append([ReplayPart({"signature": self.word()})])
        return steps + [[TextDelta(text)] for text in spoken]

    def spoken(self, calls: Sequence[Call], *, unknown: int = 2) -> list[Spoken]:
        """The scene's calls among others that a visitor is never told of; at least one."""
        made_up = [Spoken(self.word(), self.one_of("work", "")) for _ in range(self.number(unknown))]
        if not self._scene.sees_tools:
            others = [*SHOWN_TOOLS, *self.extra_tools, self.word()]
            made_up += [Spoken(self.one_of(*others), self.one_of("work", "fail")) for _ in range(2)]
            return made_up[self.number(2) :]
        found = [Spoken(call.name, "work" if call.works else self._failure()) for call in calls]
        for one in made_up or ([] if found else [Spoken(self.word(), "work")]):
            found.insert(self.number(len(found) + 1), one)
        return found

    def _failure(self) -> str:
        return str(self.one_of("fail", "raise", ""))

    def calls(self, calls: Sequence[Spoken], say: str = "") -> list[ProviderEvent]:
        events: list[ProviderEvent] = []
        for index, call in enumerate(calls):
            events.append(CallStarted(index, self.one_of("", self.word(), "provider-id"), call.name))
            events += [CallDelta(index, piece) for piece in self._cut(self._arguments(call.does, say))]
        return events

    def _arguments(self, does: str, say: str) -> str:
        if not does:
            return '{"do": "' + self.word()
        return json.dumps({"do": does, "say": say or self.word()})

    def end(self, how: str = "") -> list[ProviderEvent]:
        """The end of a closed turn, with numbers and names that nobody sees."""
        stops = {"calls": self.one_of(TurnStop.TOOL_CALLS, TurnStop.STOP), "length": TurnStop.LENGTH}
        stop = stops.get(how, TurnStop.CONTENT_FILTER if how == "filter" else TurnStop.STOP)
        return [ResponseEnded(True, stop, self.usage(), self.word(), self.word())]

    def usage(self) -> Usage:
        count = [self.number(10**5) for _ in range(5)]
        return Usage(count[0], count[1], count[2], count[3], count[4], bool(self.number(2)))

    def failed(self, code: RunCode) -> Step:
        """The same failure, told inside the stream or raised."""
        if self.number(2):
            return [ResponseFailed(code, self.word(), self.usage())]
        return ProviderError(code, self.word(), provider=self.word())

    def halt(self) -> Halt:
        return Halt(self._puppets)

    @property
    def story(self) -> Story:
        return self._story

    @property
    def scene(self) -> Scene:
        return self._scene


# --- Last turns ---------------------------------------------------------------------------------------------


def _answer(hidden: Hidden) -> list[list[Step]]:
    story = hidden.story
    how = "length" if hidden.scene.ending == "answer cut by length" else ""
    return [[*hidden.said(story.thinking, story.texts, final=True), hidden.end(how)]]


def _refused(hidden: Hidden) -> list[list[Step]]:
    return [[ProviderError(hidden.scene.code, hidden.word(), provider=hidden.word())]]


def _failed(hidden: Hidden) -> list[list[Step]]:
    return [[*_draft(hidden), hidden.failed(hidden.scene.code)]]


def _cut(hidden: Hidden) -> list[list[Step]]:
    unclosed: Step = [ResponseEnded(False, TurnStop.STOP, hidden.usage(), hidden.word())]
    return [[*_draft(hidden), hidden.one_of(unclosed, hidden.failed(RunCode.PROVIDER_STREAM_BROKEN))]]


def _fallback(hidden: Hidden) -> list[list[Step]]:
    """The first model's share; the next one answers."""
    call = [hidden.calls(hidden.spoken([hidden.story.call]))]
    code = hidden.one_of(*sorted(FALLBACK_CODES))
    return [[*_draft(hidden), *call, hidden.failed(code)]]


def _stopped_in_text(hidden: Hidden) -> list[list[Step]]:
    return [[*_draft(hidden), hidden.halt()]]


def _stopped_in_call(hidden: Hidden) -> list[list[Step]]:
    return [[*_draft(hidden), hidden.calls(hidden.spoken([hidden.story.call])), hidden.halt()]]


def _stopped_in_tool(hidden: Hidden) -> list[list[Step]]:
    waiting = [Spoken(hidden.story.call.name, "wait")]
    return [[*_draft(hidden), hidden.calls(waiting), hidden.end("calls")]]


def _endless(hidden: Hidden) -> list[list[Step]]:
    """Fifteen failures in a row, however they are spread over turns."""
    if hidden.scene.sees_tools:
        return _silent(hidden, [[Spoken(hidden.story.call.name, "fail")] * 3] * 5)
    turns = hidden.one_of(1, 3, 5, 15)
    names = [*SHOWN_TOOLS, *hidden.extra_tools, hidden.word()]
    call = [Spoken(hidden.one_of(*names), "fail") for _ in range(15)]
    size = 15 // turns
    return _silent(hidden, [call[at : at + size] for at in range(0, 15, size)])


def _repetition(hidden: Hidden) -> list[list[Step]]:
    """The same call with the same result until the platform refuses it; then the answer."""
    number = 7 if hidden.scene.sees_tools else hidden.one_of(1, 2, 8)
    call = [Spoken(hidden.story.call.name, "work")]
    return [*_silent(hidden, [call] * number, say=hidden.word()), *_answer(hidden)]


def _silent(hidden: Hidden, turns: Sequence[Sequence[Spoken]], say: str = "") -> list[list[Step]]:
    return [[*hidden.said((), ()), hidden.calls(calls, say), hidden.end("calls")] for calls in turns]


def _too_many_rounds(hidden: Hidden) -> list[list[Step]]:
    return [[*_draft(hidden), hidden.calls(hidden.spoken([hidden.story.call])), hidden.end("calls")]]


def _empty(hidden: Hidden) -> list[list[Step]]:
    how = "filter" if hidden.scene.ending == "filtered" else ""
    thinking = hidden.said(hidden.story.thinking, ())
    return [[step for step in thinking if not _is_text(step)] + [hidden.end(how)]]


def _calls_cut(hidden: Hidden) -> list[list[Step]]:
    return [[*_draft(hidden), hidden.calls(hidden.spoken([hidden.story.call])), hidden.end("length")]]


def _no_structure(hidden: Hidden) -> list[list[Step]]:
    text = hidden.one_of(hidden.word(), json.dumps({"mood": hidden.number(9), "why": hidden.word()}))
    return [[*hidden.said(hidden.story.thinking, ()), [TextDelta(text)], hidden.end()]]


def _fault(hidden: Hidden) -> list[list[Step]]:
    return [[*_draft(hidden), RuntimeError(hidden.word())]]


def _draft(hidden: Hidden) -> list[Step]:
    return hidden.said(hidden.story.thinking, hidden.story.texts)


def _is_text(step: Step) -> bool:
    return isinstance(step, list) and isinstance(step[0], TextDelta)


_LAST = {
    "refused": _refused,
    "failed": _failed,
    "cut": _cut,
    "fallback": _fallback,
    "stopped in text": _stopped_in_text,
    "stopped in a call": _stopped_in_call,
    "stopped in a tool": _stopped_in_tool,
    "endless failures": _endless,
    "repetition": _repetition,
    "too many rounds": _too_many_rounds,
    "empty": _empty,
    "filtered": _empty,
    "calls cut by length": _calls_cut,
    "no structure": _no_structure,
    "fault of ours": _fault,
}
