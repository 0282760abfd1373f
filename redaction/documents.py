"""Masking inside a text that is JSON: escapes hide nothing, and what parsed before parses afterwards. Pure.

Only what has a match changes: all other bytes, numbers and spaces included, stay as they were written.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from redaction.fold import Span

#: Deeper than this is not read as JSON but as plain text.
MAX_DEPTH = 200

_BRACKET = re.compile(r"[\[\]{}]")
_STRING = r'"(?:[^"\\]|\\.)*+"'
_STRINGS = re.compile(_STRING, re.DOTALL)
_TOKENS = re.compile(rf"{_STRING}|-?\d[\d.eE+-]*", re.DOTALL)
_COLON = re.compile(r"\s*:")


def is_document(text: str) -> bool:
    """Say whether the text is a JSON object or list."""
    start = text.lstrip()[:1]
    if not start or start not in "[{" or _depth(text) > MAX_DEPTH:
        return False
    try:
        json.loads(text, parse_int=_ignore, parse_float=_ignore)
    except (ValueError, RecursionError):
        return False
    return True


def mask_escaped(text: str, mask: Callable[[str, str], str]) -> str:
    """Return the JSON text with `mask(value, key)` applied to each string that is written with escapes."""
    if "\\" not in text:
        return text
    key = ""
    parts: list[str] = []
    done = 0
    for token in _STRINGS.finditer(text):
        written = token[0]
        is_key = _COLON.match(text, token.end()) is not None
        value: str = json.loads(written) if "\\" in written else written[1:-1]
        if "\\" in written and (masked := mask(value, "" if is_key else key)) != value:
            parts += text[done : token.start()], json.dumps(masked, ensure_ascii=False)
            done = token.end()
        key = value if is_key else key
    return "".join([*parts, text[done:]]) if parts else text


def replace(text: str, replacements: Sequence[tuple[Span, str]]) -> str:
    """Put replacements (from left to right, apart) into JSON text, quoted where a number stood."""
    if not replacements:
        return text
    numbers = [token.span() for token in _TOKENS.finditer(text) if text[token.start()] != '"']
    starts = [start for start, _ in numbers]
    parts: list[str] = []
    done = 0
    for (start, end), replacement in replacements:
        at = bisect_right(starts, start) - 1
        if at >= 0 and end <= numbers[at][1]:
            start, end = numbers[at]
            replacement = json.dumps(replacement, ensure_ascii=False)
        if start >= done:
            parts += text[done:start], replacement
            done = end
    return "".join([*parts, text[done:]])


def _depth(text: str) -> int:
    """An upper bound of the nesting: brackets in strings count too."""
    deepest = depth = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _ignore(number: str) -> Any:
    return None
