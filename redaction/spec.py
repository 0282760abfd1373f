"""What a rule says, what it finds, and how it fails. Pure."""

from dataclasses import dataclass

from agents.errors import AgentError
from streaming.codes import RunCode


@dataclass(frozen=True)
class RuleSpec:
    """One rule: a kind of `redaction.detectors.DETECTORS` and what that kind needs.

    `regions` are two-letter countries (phone) or languages (presidio), `pattern` is RE2 (regex), `words` are
    words and phrases (words) or entity names (presidio). An empty `replacement` means `[kind]`.
    """

    kind: str
    regions: tuple[str, ...] = ()
    pattern: str = ""
    words: tuple[str, ...] = ()
    replacement: str = ""

    @property
    def stands_in(self) -> str:
        return self.replacement or f"[{self.kind}]"


@dataclass(frozen=True)
class Match:
    """A piece of text that is masked, `text[start:end]`, and the rule whose replacement stands there."""

    start: int
    end: int
    rule_index: int
    kind: str
    replacement: str


class RuleError(ValueError):
    """A rule cannot be used as it is. `field` is what to correct of the RuleSpec; `index` counts from 0."""

    def __init__(self, field: str, reason: str, *, index: int = 0, kind: str = "") -> None:
        super().__init__(f"redaction rule {index + 1} ({kind}): {reason}" if kind else reason)
        self.field = field
        self.reason = reason
        self.index = index
        self.kind = kind


class RedactionFailed(AgentError):
    """A rule could not run, so nothing may go out. Says which rule, never a word of the text."""

    def __init__(self, reason: str) -> None:
        super().__init__(RunCode.BLOCK_FAILED, reason)
