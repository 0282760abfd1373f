"""Web addresses: anything with `scheme://`, `www.…`, and bare domains under the common endings."""

import re
from collections.abc import Callable, Iterator

from redaction.detectors.base import UNSPACED
from redaction.fold import Folded, Span

_SCHEME = re.compile(r"(?<![0-9A-Za-z])(?:[A-Za-z][0-9A-Za-z+.-]{1,30}://|www\.(?=[^\W_]))", re.IGNORECASE)
_LABEL = r"[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
_COMMON = (
    "com|org|net|edu|gov|mil|int|info|biz|app|dev|cloud|online|site|shop|store|tech|xyz|io|ai|me|tv|"
    "(?:com?|org|net|gov|edu|ac)\\.[A-Za-z]{2}"
)
_BARE = re.compile(
    rf"(?<![0-9A-Za-z@_.-])(?:{_LABEL}\.){{1,8}}(?:{_COMMON})(?![0-9A-Za-z_-]|\.[0-9A-Za-z]|@)", re.IGNORECASE
)
_MARK = "\\u3001\\u3002\\uff01\\uff0c\\uff1b\\uff1f"
_HOSTS = (
    re.compile(rf"(?:(?![{UNSPACED}])[^\s<>\"`/?#{_MARK}])++"),
    re.compile(rf"[^\s<>\"`/?#{_MARK}]++"),
)
_REST = re.compile(rf"[/?#:][^\s<>\"`{{}}|\\^{_MARK}]*+")
_TRAILING = ".,;:!?'*_~"
_BRACKETS = {")": "(", "]": "["}


def find(folded: Folded) -> Iterator[Span]:
    text = folded.text
    if "." not in text and "://" not in text:
        return
    yield from _find(text, _SCHEME, _host_end)
    yield from _find(text, _BARE, lambda text, at: at)


def _find(text: str, beginning: re.Pattern[str], host_end: Callable[[str, int], int]) -> Iterator[Span]:
    free = 0
    for begin in beginning.finditer(text):
        if begin.start() >= free and (end := host_end(text, begin.end())):
            free = max(free, _end(text, begin.start(), end))
            yield begin.start(), free


def _host_end(text: str, at: int) -> int:
    """Return where the host that begins at `at` ends, 0 if there is none."""
    match = _HOSTS[0].match(text, at) or _HOSTS[1].match(text, at)
    return match.end() if match else 0


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
