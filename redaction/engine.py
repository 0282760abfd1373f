"""Rules compiled into one masker. Pure: the same rules and text give the same result, whoever asks.

Matches that overlap are one piece, so that nothing any rule found stays visible; the longest of them, then
the first, says what stands in its place. Replacements are put in as they are and never read again.
"""

import dataclasses
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from redaction.detectors import DETECTORS
from redaction.detectors.base import Detector
from redaction.documents import MAX_DEPTH, is_document, mask_escaped, replace
from redaction.fold import Folded, Span
from redaction.spec import Match, RedactionFailed, RuleError, RuleSpec
from streaming.text import clean

__all__ = ["Masker", "Match", "RedactionFailed", "RuleError", "RuleSpec", "compile_rules"]

#: How often a text is looked at again after something was masked; once is nearly always enough.
MAX_PASSES = 4


def compile_rules(specs: Sequence[RuleSpec]) -> "Masker":
    """Return a masker for the rules, in order. Raises RuleError, which names the rule and the reason."""
    detectors: list[Detector] = []
    for index, spec in enumerate(specs):
        builder = DETECTORS.get(spec.kind)
        if builder is None:
            raise RuleError("kind", "there is no such kind of rule.", index=index, kind=spec.kind)
        try:
            detectors.append(builder(spec))
        except RuleError as error:
            raise RuleError(error.field, error.reason, index=index, kind=spec.kind) from error
    return Masker(specs, detectors)


class Masker:
    """Masks texts and JSON values. If a rule cannot run, every method raises RedactionFailed."""

    def __init__(self, rules: Sequence[RuleSpec], detectors: Sequence[Detector]) -> None:
        self.rules = tuple(rules)
        self._detectors = tuple(detectors)

    def mask(self, text: str, label: str = "") -> str:
        """Return the text with every match replaced; `label` is the JSON key it stood under."""
        text = clean(text)
        return "".join(_pieces(text, self.find(text, label)))

    def find(self, text: str, label: str = "") -> list[Match]:
        """Return what is masked, from left to right and apart; offsets count characters of clean text.

        What masking itself brings to light is found too: nothing is left to find in a masked text, so that
        masking it again changes nothing.
        """
        found = list(self._merge(self._find_all(text, label)))
        for _ in range(MAX_PASSES):
            more = self._find_between(text, found, label) if found else []
            if not more:
                break
            found = sorted([*found, *more], key=lambda match: match.start)
        return found

    def mask_document(self, text: str, label: str = "") -> str:
        """Mask a text that may be JSON: then also what its escapes hide, and so that it still parses.

        Without a match it comes back as it is, byte for byte.
        """
        if not is_document(text):
            return self.mask(text, label)
        text = mask_escaped(clean(text), self._mask_inside)
        return replace(text, [((at.start, at.end), at.replacement) for at in self.find(text, label)])

    def mask_json(self, value: Any, label: str = "") -> Any:
        """Return a JSON value with its strings and keys masked. A number that matches becomes a string."""
        return self._mask_json(value, label, 0)

    def _mask_json(self, value: Any, label: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise RedactionFailed("a value is nested too deeply to be masked")
        match value:
            case str():
                return self._mask_inside(value, label)
            case bool() | None:
                return value
            case int() | float():
                masked = self.mask(str(value), label)
                return value if masked == str(value) else masked
            case dict():
                return self._mask_dict(value, depth)
            case list() | tuple():
                return [self._mask_json(item, label, depth + 1) for item in value]
            case _:
                raise RedactionFailed("a value is no JSON and cannot be masked")

    def _mask_dict(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in value.items():
            masked = name = self.mask(str(key))
            count = 1
            # Two keys that look the same once masked are still two.
            while name in result:
                count += 1
                name = f"{masked} ({count})"
            result[name] = self._mask_json(item, str(key), depth + 1)
        return result

    def _mask_inside(self, text: str, label: str) -> str:
        return self.mask_document(text, label) if is_document(text) else self.mask(text, label)

    def _find_between(self, text: str, found: list[Match], label: str) -> list[Match]:
        """Look at the text as it is masked so far, and return matches in what is left of it."""
        pieces = _pieces(text, found)
        ends = [0, *accumulate(map(len, pieces))]
        more = []
        for match in self._merge(self._find_all("".join(pieces), label)):
            piece = bisect_right(ends, match.start) - 1
            # Every other piece is a replacement, which is never read again.
            if piece % 2 == 0 and match.end <= ends[piece + 1]:
                moved = (found[piece // 2 - 1].end if piece else 0) - ends[piece]
                more.append(dataclasses.replace(match, start=match.start + moved, end=match.end + moved))
        return more

    def _find_all(self, text: str, label: str) -> list[tuple[Span, int]]:
        folded = Folded(text, label)
        found: list[tuple[Span, int]] = []
        for index, detect in enumerate(self._detectors):
            try:
                found += ((span, index) for span in detect(folded))
            # Whatever a detector raises may quote the text, so it must not become a cause or a context.
            except Exception:
                failed = True
            else:
                failed = False
            if failed:
                raise RedactionFailed(f"redaction rule {index + 1} ({self.rules[index].kind}) could not run")
        found.sort()
        return found

    def _merge(self, found: list[tuple[Span, int]]) -> Iterator[Match]:
        """Join what overlaps. `found` is sorted by start."""
        at = 0
        while at < len(found):
            (start, end), _ = best = found[at]
            at += 1
            while at < len(found) and found[at][0][0] < end:
                end = max(end, found[at][0][1])
                best = min(best, found[at], key=_precedence)
                at += 1
            rule = self.rules[best[1]]
            yield Match(start, end, best[1], rule.kind, rule.stands_in)


def _pieces(text: str, found: Sequence[Match]) -> list[str]:
    """What stays and what stands in for a match, in turn."""
    pieces: list[str] = []
    done = 0
    for match in found:
        pieces += text[done : match.start], match.replacement
        done = match.end
    return [*pieces, text[done:]]


def _precedence(found: tuple[Span, int]) -> tuple[int, int, int]:
    (start, end), index = found
    return start - end, start, index
