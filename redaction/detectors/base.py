"""The one interface of all detectors: a folded text in, pieces of its original out. Pure."""

from collections.abc import Callable, Iterable

from redaction.fold import Folded, Span
from redaction.spec import RuleSpec

#: Returns pieces of `Folded.raw`, in any order; they may overlap but are never empty.
Detector = Callable[[Folded], Iterable[Span]]

#: Makes a detector from a rule, or raises RuleError.
Builder = Callable[[RuleSpec], Detector]

#: Scripts written without spaces: a letter of theirs beside a value does not belong to it.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)


def simple(find: Callable[[Folded], Iterable[Span]]) -> Builder:
    """A builder for a kind that needs nothing but its name; `find` returns pieces of `Folded.text`."""

    def detect(text: Folded) -> Iterable[Span]:
        return (text.span(start, end) for start, end in find(text))

    return lambda spec: detect
