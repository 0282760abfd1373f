"""Names, places and what else needs a language model: presidio's recognisers as one more kind of rule.

An optional extra, imported when a rule uses it: it takes seconds to load and some ten milliseconds a KB.
`words` of the rule are entity names (`PERSON`, `LOCATION`); `regions` its one language, English by default.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Protocol

from redaction.detectors.base import Detector
from redaction.fold import Folded, Span
from redaction.spec import RuleError, RuleSpec

MISSING = "presidio is not installed; install it with: pip install presidio-analyzer"
LEAST_SCORE = 0.4


class Result(Protocol):
    start: int
    end: int
    score: float


class Analyzer(Protocol):
    """The part of presidio_analyzer.AnalyzerEngine that is used."""

    def analyze(self, text: str, language: str, entities: list[str] | None) -> Iterable[Result]: ...


def build(spec: RuleSpec) -> Detector:
    """Raises RuleError if the extra is missing or the rule names more than one language."""
    if len(spec.regions) > 1:
        raise RuleError("regions", "name one language, such as en.")
    language = spec.regions[0].lower() if spec.regions else "en"
    return detector(load_analyzer(language), language, list(spec.words) or None)


def detector(analyzer: Analyzer, language: str, entities: list[str] | None) -> Detector:
    """Find what the analyzer is reasonably sure of, in the text as it is: models read accents and scripts."""

    def detect(text: Folded) -> Iterator[Span]:
        for result in analyzer.analyze(text=text.raw, language=language, entities=entities):
            if result.score >= LEAST_SCORE and result.start < result.end:
                yield result.start, result.end

    return detect


@lru_cache(maxsize=4)
def load_analyzer(language: str) -> Any:
    try:
        from presidio_analyzer import AnalyzerEngine
    except ImportError as error:
        raise RuleError("kind", MISSING) from error
    try:
        return AnalyzerEngine(supported_languages=[language])
    # Whatever the extra or its model says is for the admin who saves the rule.
    except Exception as error:
        raise RuleError("regions", f"presidio could not load the language {language}: {error}") from error
