"""Words and phrases of an admin: whole words, in any case, disguises ignored, any space between them.

Whole means that no other letter or digit touches it, apart from scripts written without spaces.
"""

import re
from collections.abc import Iterator
from typing import Any

from redaction.detectors.base import UNSPACED, Detector
from redaction.detectors.patterns import compile_pattern
from redaction.fold import Folded, Span, character_offsets
from redaction.spec import RuleError, RuleSpec

MAX_WORDS = 1000
MAX_WORD = 200
_UNSPACED = re.compile(f"[{UNSPACED}]")
_OUTSIDE = rf"[^\pL\pN_]|[{UNSPACED}]"


def build(spec: RuleSpec) -> Detector:
    words = [" ".join(Folded(word).text.split()) for word in spec.words]
    if not words:
        raise RuleError("words", "at least one word is needed.")
    if len(words) > MAX_WORDS or any(len(word) > MAX_WORD for word in words):
        raise RuleError("words", f"at most {MAX_WORDS} words of {MAX_WORD} characters each.")
    if not all(words):
        raise RuleError("words", "a word must not be empty.")
    patterns = _compile(words)

    def detect(text: Folded) -> Iterator[Span]:
        encoded = text.utf8
        for pattern, bounded in patterns:
            offsets = _find(pattern, encoded, bounded)
            if not text.text.isascii():
                offsets = character_offsets(encoded, offsets)
            for start, end in zip(offsets[::2], offsets[1::2], strict=True):
                yield text.span(start, end)

    return detect


def _compile(words: list[str]) -> list[tuple[Any, bool]]:
    """One pattern for each way of being bounded; in it the longest word is tried first."""
    bounded: dict[tuple[bool, bool], set[str]] = {}
    for word in words:
        bounded.setdefault((_is_bounded(word[0]), _is_bounded(word[-1])), set()).add(word)
    patterns = []
    for (left, right), group in sorted(bounded.items()):
        choices = "|".join(_escape(word) for word in sorted(group, key=lambda word: (-len(word), word)))
        before = f"(?:^|{_OUTSIDE})" if left else ""
        after = f"(?:$|{_OUTSIDE})" if right else ""
        pattern = compile_pattern(f"{before}({choices}){after}", case_sensitive=False, groups=True)
        patterns.append((pattern, left))
    return patterns


def _escape(word: str) -> str:
    return r"\s+".join("".join(_escape_character(char) for char in part) for part in word.split())


def _escape_character(char: str) -> str:
    return char if char.isalnum() else rf"\x{{{ord(char):x}}}"


def _is_bounded(edge: str) -> bool:
    return edge.isalnum() and not _UNSPACED.match(edge)


def _find(pattern: Any, encoded: bytes, bounded: bool) -> list[int]:
    """Return starts and ends in turn. `bounded`: the pattern looks at the character before the word."""
    offsets: list[int] = []
    at = 0
    while match := pattern.search(encoded, at):
        start, end = match.span(1)
        offsets += [start, end]
        # The last character of a word may be what bounds the next one.
        at = max(_last_character(encoded, end), start + 1) if bounded else end
    return offsets


def _last_character(encoded: bytes, end: int) -> int:
    at = end - 1
    while encoded[at] & 0xC0 == 0x80:
        at -= 1
    return at
