"""One model call of a round, in numbers. A round has as many attempts as models were asked for it."""

from agents.errors import ProviderError
from agents.providers.base import ResponseEnded, ResponseFailed
from agents.spec import ModelChoice
from agents.spending import Spent, completed
from agents.timeline import Timeline, milliseconds
from agents.turn import Turn, failure
from streaming.events import PromptSize, RoundUsage, Usage


class Attempt:
    """Begins when it is made. `first` is the instant at which the model first said something."""

    def __init__(self, choice: ModelChoice, turn: Turn, prompt: PromptSize, timeline: Timeline) -> None:
        self.choice = choice
        self.turn = turn
        self.raised: ProviderError | None = None
        self.first: float | None = None
        self._prompt = prompt
        self._timeline = timeline
        self._started = timeline.now()
        self._ended: float | None = None

    def end(self) -> None:
        """Nothing more comes, however it went."""
        self._ended = self._timeline.now()
        self._timeline.add("model", self.model, self._started)

    @property
    def error(self) -> ProviderError | None:
        """Why it failed; None if its turn is closed."""
        return self.raised or failure(self.turn, self.choice.provider.name)

    @property
    def model(self) -> str:
        """`provider/model`, as it answered."""
        end = self.turn.end
        answered = end.model if isinstance(end, ResponseEnded) else ""
        return f"{self.choice.provider.name}/{answered}" if answered else self.choice.label

    @property
    def stated(self) -> Usage:
        """What the provider has said of its use so far."""
        end = self.turn.end
        return end.usage if isinstance(end, ResponseEnded | ResponseFailed) else Usage()

    def added_to(self, spent: Spent) -> Spent:
        """`spent` with this attempt, as far as it has come; what was not stated is estimated."""
        prompt = self._prompt
        sent = prompt.system_chars + prompt.tools_chars + prompt.history_chars
        return spent.plus(self.choice.price, completed(self.stated, sent, self.turn.size))

    @property
    def refused(self) -> bool:
        """It failed before the model said anything or any use was stated: nothing was spent."""
        return self.error is not None and self.turn.size == 0 and self.stated == Usage()

    def round_usage(self, round: int, tool_calls: int) -> RoundUsage:
        ended = self._timeline.now() if self._ended is None else self._ended
        first = None if self.first is None else milliseconds(self.first - self._started)
        latency = milliseconds(ended - self._started)
        return RoundUsage(round, self.model, self.stated, latency, first, tool_calls, self._prompt)
