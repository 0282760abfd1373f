"""E-mail addresses, also with letters of other scripts, quoted, or with the sign written `%40` or `&#64;`.

In Chinese, Japanese, Korean and Thai text letters of those scripts beside an address count as the
sentence, not the address, unless they stand right beside the sign.
"""

import re
from collections.abc import Iterator

from redaction.detectors.base import UNSPACED
from redaction.fold import Folded, Span

_AT = re.compile(r"@|%40|&#0*64;|&#[xX]0*40;|&commat;")
_ATOM = r"\w.!#$%&'*+/=?^`{|}~-"
# Read backwards from the sign: possessive, so that each address costs its own length.
_BEFORE = re.compile(rf'(?:"[^"\n]{{1,64}}"|[{_ATOM}]*+)')
_BEFORE_SPACED = re.compile(rf"[^\W{UNSPACED}](?:(?![{UNSPACED}])[{_ATOM}])*+")
_DOMAIN = re.compile(r"[\w.-]*+")
_DOMAIN_SPACED = re.compile(rf"(?:(?![{UNSPACED}])[\w.-])*+")
_LABEL = re.compile(r"[^\W_](?:[\w-]*[^\W_])?\Z")
_TOP = re.compile(r"(?:[^\W\d_]{2,}|xn--[\w-]+)\Z")
_ADDRESS = re.compile(r"\[[0-9A-Fa-f:.]{2,45}\]")
_LEADING_MARKS = re.compile(r"[^\w\"]*")


def find(folded: Folded) -> Iterator[Span]:
    text = folded.text
    if "@" not in text and "%40" not in text and "&" not in text:
        return
    limit = 0
    for sign in _AT.finditer(text):
        end = domain_end(text, sign.end())
        start = _local_start(text, limit, sign.start())
        limit = sign.end()
        if end and start < sign.start():
            yield start, end


def _local_start(text: str, limit: int, at: int) -> int:
    backwards = text[limit:at][::-1]
    match = _BEFORE_SPACED.match(backwards) or _BEFORE.match(backwards)
    start = at - (match.end() if match else 0)
    marks = _LEADING_MARKS.match(text, start, at)
    return marks.end() if marks and marks.end() < at else start


def domain_end(text: str, start: int) -> int:
    """Return where the domain (or `[address]`) that begins at `start` ends, 0 if there is none."""
    if literal := _ADDRESS.match(text, start):
        return literal.end()
    for pattern in (_DOMAIN_SPACED, _DOMAIN):
        match = pattern.match(text, start)
        end = _labels_end(match[0]) if match else 0
        if end:
            return start + end
    return 0


def _labels_end(run: str) -> int:
    """Return where the leading labels end that make a domain: two or more, the last one of letters."""
    labels: list[str] = []
    for label in run.split("."):
        cut = label.rstrip("-_")
        if not _LABEL.match(cut):
            break
        labels.append(cut)
        if cut != label:
            break
    while len(labels) > 1 and not _TOP.match(labels[-1]):
        labels.pop()
    return len(".".join(labels)) if len(labels) > 1 else 0
