"""The models of an agent in the order they are asked, and how each failed (section 4, fallback models)."""

from collections.abc import Sequence

from agents.errors import ModelFailure, ProviderError
from agents.spec import ModelChoice
from streaming.codes import FALLBACK_CODES
from streaming.events import Warned, WarningKind


class Chain:
    """Goes forward only: later rounds go on with the model that worked."""

    def __init__(self, models: Sequence[ModelChoice]) -> None:
        self._models = models
        self._index = 0
        self.failures: list[ModelFailure] = []

    @property
    def current(self) -> ModelChoice:
        return self._models[self._index]

    def advance(self, error: ProviderError) -> Warned:
        """Give up the current model for the next one. Raises ProviderError if there is none to go to."""
        failed = self.current
        self.failures.append(ModelFailure(failed.label, error.code, error.detail))
        if error.code not in FALLBACK_CODES or self._index + 1 == len(self._models):
            raise self._given_up(failed, error) from error
        self._index += 1
        facts = {"from": failed.label, "to": self.current.label, "code": error.code.value}
        message = f"{failed.label} failed ({error.code}); {self.current.label} starts this round again"
        return Warned(WarningKind.MODEL_FALLBACK, facts, message)

    def _given_up(self, failed: ModelChoice, error: ProviderError) -> ProviderError:
        failures = self.failures if len(self._models) > 1 else ()
        return ProviderError(error.code, error.detail, provider=failed.provider.name, model_failures=failures)
