"""The public half of a world: what a chat is, how its answer goes and ends, and what may be seen of it.

Everything here is the same in both worlds of a pair; what they hide is told by `hidden`.
"""

from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

from runs.control import CancelReason
from streaming.codes import RunCode

#: Names that tools have where visitors may read them.
SHOWN_TOOLS = ("lookup_order", "check_stock")
#: What a provider can fail with, before its first byte or after it.
PROVIDER_CODES = (
    RunCode.PROVIDER_AUTH,
    RunCode.PROVIDER_RATE_LIMITED,
    RunCode.PROVIDER_OVERLOADED,
    RunCode.PROVIDER_BAD_REQUEST,
    RunCode.PROVIDER_UNAVAILABLE,
    RunCode.PROVIDER_STREAM_BROKEN,
    RunCode.PROVIDER_CONTENT_FILTERED,
    RunCode.CONTEXT_WINDOW_EXCEEDED,
)
#: How an answer ends. Each has its function in `hidden.LAST`, or is a fault of the set-up.
ENDINGS = (
    "answer",
    "answer cut by length",
    "unknown tool",
    "refused",
    "failed",
    "cut",
    "fallback",
    "stopped in text",
    "stopped in a call",
    "stopped in a tool",
    "endless failures",
    "repetition",
    "too many rounds",
    "empty",
    "filtered",
    "calls cut by length",
    "no structure",
    "fault of ours",
    "no such provider",
    "rule that fails",
    "rule that is none",
    "other block failed",
)
REDACTION = ("none", "none", "rules")
STOPS = (CancelReason.USER, CancelReason.TIMEOUT, CancelReason.SHUTDOWN)


@dataclass(frozen=True)
class Call:
    """A declared call whose name and status a visitor may see. `works`: it succeeds."""

    name: str
    works: bool


@dataclass(frozen=True)
class Turn:
    """A model call that ends in tool calls; texts are retracted by its end."""

    thinking: tuple[str, ...]
    texts: tuple[str, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Scene:
    """`seed` decides words and counts; `asked` are the endpoints asked beside the message."""

    negotiated: bool
    thinking: bool
    tools: bool
    redaction: str
    ending: str
    locked: bool
    listed_site: bool
    seed: int
    asked: frozenset[str] = field(default_factory=frozenset)

    @property
    def sees_thinking(self) -> bool:
        return self.negotiated and self.thinking

    @property
    def sees_tools(self) -> bool:
        return self.negotiated and self.tools

    @property
    def settled(self) -> bool:
        """Rules are active: text waits for the end of its turn."""
        return self.redaction != "none" or self.ending in ("rule that fails", "rule that is none")

    @property
    def sees_drafts(self) -> bool:
        """Text of turns that turn out to be no answer goes out, and is retracted."""
        return self.negotiated and not self.settled and self.ending != "no structure"

    @property
    def rule(self) -> str:
        """The kind of the rule that hides values."""
        return ("words", "email")[self.seed % 2]

    @property
    def stop(self) -> CancelReason | None:
        return STOPS[self.seed % len(STOPS)] if self.ending.startswith("stopped") else None

    @property
    def code(self) -> RunCode:
        return PROVIDER_CODES[self.seed % len(PROVIDER_CODES)]


class Story:
    """The words of a scene, drawn once from its seed."""

    def __init__(self, scene: Scene) -> None:
        self._random = Random(scene.seed)
        self.turns = tuple(self._turn(scene) for _ in range(self._turns(scene)))
        self.thinking = self.words(2)
        self.texts = self.words(3, least=1)
        self.call = Call(self._random.choice(SHOWN_TOOLS), works=self._random.random() < 0.5)
        self.question = " ".join(self.words(3, least=2))

    def words(self, most: int, least: int = 0) -> tuple[str, ...]:
        """Deltas; `{}` is where a value stands that rules hide."""
        kinds = (
            "open ",
            "it is ",
            "é😀 ",
            "\n",
            '"quoted" ',
            "a\u2028b ",
            "[DONE] ",
            "data: ",
            "see {} now ",
        )
        number = least + self._random.randrange(most - least + 1)
        return tuple(f"{self._random.choice(kinds)}{self._random.randrange(100)}" for _ in range(number))

    def _turns(self, scene: Scene) -> int:
        """How many turns come before the last one. Endless failures are turns enough."""
        match scene.ending:
            case "endless failures":
                return 0
            case "unknown tool":
                return 1 + self._random.randrange(2)
            case _:
                return self._random.randrange(3)

    def _turn(self, scene: Scene) -> Turn:
        least = 0 if scene.ending == "unknown tool" else 1
        calls = tuple(
            Call(self._random.choice(SHOWN_TOOLS), works=self._random.random() < 0.7)
            for _ in range(least + self._random.randrange(2))
        )
        return Turn(self.words(2), self.words(2), calls)


@dataclass(frozen=True)
class Pair:
    """Two worlds of one scene: seeds of what each of them hides."""

    scene: Scene
    left: int
    right: int


def pairs(
    endpoints: tuple[str, ...] = (), *, negotiated: bool | None = None, tools: bool | None = None
) -> st.SearchStrategy[Pair]:
    """Every scene with two worlds. `endpoints` to choose from; the last two arguments fix what they name."""
    scenes = st.builds(
        Scene,
        negotiated=st.booleans() if negotiated is None else st.just(negotiated),
        thinking=st.booleans(),
        tools=st.booleans() if tools is None else st.just(tools),
        redaction=st.sampled_from(REDACTION),
        ending=st.sampled_from(ENDINGS),
        locked=st.booleans(),
        listed_site=st.booleans(),
        seed=st.integers(0, 2**24),
        asked=st.frozensets(st.sampled_from(endpoints), max_size=3) if endpoints else st.just(frozenset()),
    )
    seeds = st.tuples(st.integers(0, 2**16), st.integers(0, 2**16)).filter(lambda two: two[0] != two[1])
    return st.builds(lambda scene, two: Pair(scene, *two), scenes, seeds)
