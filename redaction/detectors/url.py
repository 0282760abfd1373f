"""Web addresses: anything with `scheme://`, `www.…`, and bare domains under the common endings."""

import re
from collections.abc import Iterator

from redaction.detectors.base import UNSPACED
from redaction.fold import Folded, Span

# An address is found from the sign in it, which is rarer than a word's beginning; then it is read backwards.
_SIGN = re.compile(r"://|[wW]{3}\.(?=[^\W_])")
_SCHEME_BACKWARDS = re.compile(r"[0-9A-Za-z+.-]{0,30}[A-Za-z](?![0-9A-Za-z])")
_SCHEME_REACH = 32
_COMMON = (
    "com|org|net|edu|gov|mil|int|info|biz|app|dev|cloud|online|site|shop|store|tech|xyz|io|ai|me|tv|"
    "(?:com?|org|net|gov|edu|ac)\\.[A-Za-z]{2}"
)
_ENDING = re.compile(rf"\.(?:{_COMMON})(?![0-9A-Za-z_-]|\.[0-9A-Za-z]|@)", re.IGNORECASE)
_LABEL = r"[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
_LABELS_BACKWARDS = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{0,7}}(?![0-9A-Za-z@_.-])")
_LABELS_REACH = 300
_MARK = "\u3001\u3002\uff01\uff0c\uff1b\uff1f"
_HOSTS = (
    re.compile(rf"(?:(?![{UNSPACED}])[^\s<>\"`/?#{_MARK}])++"),
    re.compile(rf"[^\s<>\"`/?#{_MARK}]++"),
)
_REST = re.compile(rf"[/?#:][^\s<>\"`{{}}|\\^{_MARK}]*+")
_TRAILING = ".,;:!?'*_~"
_BRACKETS = {")": "(", "]": "["}


def find(folded: Folded) -> Iterator[Span]:
    text = folded.text
    if "://" in text or "www." in text.lower():
        yield from _find_marked(text)
    yield from _find_bare(text)


def _find_marked(text: str) -> Iterator[Span]:
    """Yield the addresses with a scheme or www; one inside another is not another."""
    free = 0
    for sign in _SIGN.finditer(text):
        start = _start(text, sign)
        if start is None or start < free:
            continue
        if host := _HOSTS[0].match(text, sign.end()) or _HOSTS[1].match(text, sign.end()):
            free = _end(text, start, host.end())
            yield start, free


def _start(text: str, sign: re.Match[str]) -> int | None:
    at = sign.start()
    if sign[0] != "://":
        return None if at and text[at - 1].isascii() and text[at - 1].isalnum() else at
    scheme = _SCHEME_BACKWARDS.match(text[max(0, at - _SCHEME_REACH) : at][::-1])
    return at - scheme.end() if scheme else None


def _find_bare(text: str) -> Iterator[Span]:
    free = 0
    for ending in _ENDING.finditer(text):
        at = ending.start()
        labels = _LABELS_BACKWARDS.match(text[max(0, at - _LABELS_REACH) : at][::-1])
        if labels and at - labels.end() >= free:
            free = _end(text, at - labels.end(), ending.end())
            yield at - labels.end(), free


def _end(text: str, start: int, end: int) -> int:
    """Return where the address ends: path and query included, sentence marks and foreign brackets not."""
    if rest := _REST.match(text, end):
        end = rest.end()
    missing = {
        close: text.count(close, start, end) - text.count(open_, start, end)
        for close, open_ in _BRACKETS.items()
    }
    while text[end - 1] in _TRAILING or missing.get(text[end - 1], 0) > 0:
        end -= 1
        if text[end] in missing:
            missing[text[end]] -= 1
    return end
