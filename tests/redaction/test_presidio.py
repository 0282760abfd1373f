"""The presidio extra, with an analyzer of our own in its place: its results are matches like all others."""

import builtins
from dataclasses import dataclass
from typing import Any

import pytest

from redaction import presidio
from redaction.engine import RuleError, RuleSpec, compile_rules


@dataclass
class Found:
    start: int
    end: int
    score: float


class FakeAnalyzer:
    """Knows one name, and is unsure about another."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str] | None]] = []

    def analyze(self, text: str, language: str, entities: list[str] | None) -> list[Found]:
        self.asked.append((language, entities))
        sure, unsure = text.find("Ana Souza"), text.find("Paris")
        return [Found(sure, sure + 9, 0.85)] * (sure >= 0) + [Found(unsure, unsure + 5, 0.1)] * (unsure >= 0)


@pytest.fixture
def analyzer(monkeypatch: pytest.MonkeyPatch) -> FakeAnalyzer:
    fake = FakeAnalyzer()
    monkeypatch.setattr(presidio, "load_analyzer", lambda language: fake)
    return fake


def test_it_masks_what_the_analyzer_is_sure_of(analyzer: FakeAnalyzer) -> None:
    rules = compile_rules([RuleSpec("presidio", regions=("PT",), words=("PERSON",)), RuleSpec("email")])
    assert rules.mask("Ana Souza <ana@example.org>, Paris") == "[presidio] <[email]>, Paris"
    assert set(map(repr, analyzer.asked)) == {"('pt', ['PERSON'])"}


def test_it_asks_for_everything_in_english_by_default(analyzer: FakeAnalyzer) -> None:
    compile_rules([RuleSpec("presidio")]).mask("x")
    assert analyzer.asked == [("en", None)]


def test_it_takes_one_language(analyzer: FakeAnalyzer) -> None:
    with pytest.raises(RuleError, match="one language"):
        compile_rules([RuleSpec("presidio", regions=("en", "pt"))])


def test_it_says_how_to_install_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_presidio(name: str, *args: Any, **options: Any) -> Any:
        if name == "presidio_analyzer":
            raise ImportError(name)
        return real_import(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without_presidio)
    presidio.load_analyzer.cache_clear()
    with pytest.raises(RuleError, match="pip install presidio-analyzer") as caught:
        compile_rules([RuleSpec("presidio")])
    assert caught.value.field == "kind"
