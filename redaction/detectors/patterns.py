"""An admin's own pattern, on RE2: linear in the text whatever the pattern. Matches of nothing are no matches.

It is tried on the text as it is and on the folded one, so that a disguise does not help.
"""

from collections.abc import Iterator
from time import monotonic
from typing import Any

import re2

from redaction.detectors.base import Detector
from redaction.fold import Folded, Span, character_offsets, fold_character
from redaction.spec import RuleError, RuleSpec

MAX_PATTERN = 2000
#: A pattern that finds very many matches, each by reading far ahead, is given up after this many seconds.
MAX_SECONDS = 2.0


def build(spec: RuleSpec) -> Detector:
    if not spec.pattern:
        raise RuleError("pattern", "a pattern is needed.")
    if len(spec.pattern) > MAX_PATTERN:
        raise RuleError("pattern", f"the pattern has more than {MAX_PATTERN} characters.")
    raw = compile_pattern(spec.pattern)
    folded = _compile_folded(spec.pattern) or raw

    def detect(text: Folded) -> Iterator[Span]:
        yield from find_spans(raw, text.raw)
        if text.text != text.raw:
            for start, end in find_spans(folded, text.text):
                yield text.span(start, end)

    return detect


def compile_pattern(pattern: str, *, case_sensitive: bool = True, groups: bool = False) -> Any:
    """Compile for bytes, or raise RuleError that says what RE2 does not take."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = not groups
    options.case_sensitive = case_sensitive
    options.max_mem = 32 << 20
    try:
        return re2.compile(pattern.encode(), options)
    except UnicodeEncodeError as error:
        raise RuleError("pattern", "the pattern holds a half character.") from error
    except re2.error as error:
        raise RuleError("pattern", explain(error)) from error


def _compile_folded(pattern: str) -> Any:
    """The same pattern with its letters folded as the text's are; None if it has no other form."""
    other = "".join(fold_character(char) if char.isalpha() else char for char in pattern)
    try:
        return None if other == pattern else compile_pattern(other)
    except RuleError:
        return None


def find_spans(pattern: Any, text: str) -> list[Span]:
    """Return all non-empty matches of a bytes pattern as character spans, from left to right."""
    encoded = text.encode()
    deadline = monotonic() + MAX_SECONDS
    offsets: list[int] = []
    for match in pattern.finditer(encoded):
        if match.start() < match.end():
            offsets += match.span()
        if monotonic() > deadline:
            raise TimeoutError
    if not text.isascii():
        offsets = character_offsets(encoded, offsets)
    return list(zip(offsets[::2], offsets[1::2], strict=True))


def explain(error: Exception) -> str:
    """Say in words what RE2 refused, with the place it names."""
    raw = error.args[0] if error.args else ""
    text = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
    operator = text.partition(": ")[2]
    if operator.startswith(("(?=", "(?!", "(?<")) and not operator.startswith("(?<n"):
        return f"look-around is not supported by RE2: {operator}"
    if (text.startswith("invalid escape sequence: \\") and operator[1:2].isdigit()) or "(?P" in operator:
        return f"references to groups are not supported by RE2: {operator}"
    return f"not a pattern that RE2 understands: {text}"
