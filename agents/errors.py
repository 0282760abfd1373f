"""The one small error tree of the agent core. Foreign errors are mapped to it at the edge, once.

AgentError
├── ProviderError   the model's side failed; mapped in the provider adapter
└── LimitReached    a rule of ours ended the run
"""

from collections.abc import Sequence

import msgspec

from streaming.codes import RunCode


class ModelFailure(msgspec.Struct, frozen=True):
    """One failed model of a fallback chain; `model` is `provider/model`."""

    model: str
    code: RunCode
    detail: str


class AgentError(Exception):
    """A run cannot go on. `code` is public; `detail` is the literal reason, for owners and the log only."""

    def __init__(
        self,
        code: RunCode,
        detail: str,
        *,
        provider: str | None = None,
        model_failures: Sequence[ModelFailure] = (),
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.provider = provider
        self.model_failures = tuple(model_failures)


class ProviderError(AgentError):
    """The provider refused, failed or broke off."""


class LimitReached(AgentError):
    """`MAX_TOOL_ROUNDS`, `OUTPUT_LIMIT`, `EMPTY_ANSWER` and the like."""
