"""US Social Security numbers. They have no check digit, so only `123-45-6789` in its grouping counts, or nine
digits in one piece after the words that name them."""

import re
from collections.abc import Iterator

from redaction.detectors.digits import find_numbers
from redaction.fold import Folded, Span

_NAMED = re.compile(
    r"(?:(?:\b|(?<!\[us)_)ssn(?:\b|_)|\bsocial[ _-]security\b).{0,24}\Z", re.IGNORECASE | re.DOTALL
)
_NAME_REACH = 48


def find(folded: Folded) -> Iterator[Span]:
    from stdnum.us import ssn

    for window in find_numbers(folded, 9):
        named = window.sizes == (3, 2, 4) or _NAMED.search(folded.before(window.start, _NAME_REACH))
        if named and ssn.is_valid(window.digits):
            yield window.start, window.end
