"""Masking inside a text that is JSON, token by token: what has no match keeps its bytes. Pure."""

import json
import re
from collections.abc import Callable
from typing import Any

#: Deeper than this is not read as JSON but as plain text.
MAX_DEPTH = 200

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|-?\d[\d.eE+-]*|[\[\]{}]', re.DOTALL)
_COLON = re.compile(r"\s*:")


def is_document(text: str) -> bool:
    """Say whether the text is a JSON object or list that can be masked token by token."""
    start = text.lstrip()[:1]
    if not start or start not in "[{" or _depth(text) > MAX_DEPTH:
        return False
    try:
        json.loads(text, parse_int=_ignore, parse_float=_ignore)
    except (ValueError, RecursionError):
        return False
    return True


def mask_tokens(text: str, mask: Callable[[str, str], str]) -> str:
    """Return the JSON text with `mask(value, key)` applied to each string, key and number."""
    key = ""
    parts: list[str] = []
    done = 0
    for token in _TOKEN.finditer(text):
        written = token[0]
        if written in "[]{}":
            continue
        is_string = written[0] == '"'
        value = json.loads(written) if is_string else written
        is_key = is_string and _COLON.match(text, token.end()) is not None
        masked = mask(value, "" if is_key else key)
        key = value if is_key else key
        if masked != value:
            parts += text[done : token.start()], json.dumps(masked, ensure_ascii=False)
            done = token.end()
    return "".join([*parts, text[done:]]) if parts else text


def _depth(text: str) -> int:
    """An upper bound of the nesting: brackets in strings count too."""
    deepest = depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _ignore(number: str) -> Any:
    return None
