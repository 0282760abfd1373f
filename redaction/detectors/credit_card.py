"""Payment card numbers: 12 to 19 digits with a valid check digit (Luhn), however they are grouped.

A number with a wrong check digit is no card number and stays. Sixteen digits in one piece or in fours may
begin as they like; other lengths and groupings must begin as an issuer's numbers of that length do.
"""

import re
from collections.abc import Iterator

from redaction.detectors.digits import NUMBER_RUN, Window, is_fraction, is_glued, runs, windows
from redaction.fold import Folded, Span

_MAESTRO = r"50|5[6-9]|6"
_LONG = r"3(?:0[0-59]|[5689])|6|8[12]|220|9792|" + _MAESTRO
_ISSUERS = {
    12: _MAESTRO,
    13: r"4|" + _MAESTRO,
    14: r"3(?:0[0-5]|[689])|" + _MAESTRO,
    15: r"1|3[47]|" + _MAESTRO,
    16: r"4|5|2(?:2[2-9]|[3-6]|7[01]|720)|" + _LONG,
    17: _LONG,
    18: _LONG,
    19: r"4|" + _LONG,
}
_BEGINS = {length: re.compile(begin) for length, begin in _ISSUERS.items()}
_YEAR = re.compile(r"(?:19|20)\d\d")
_FOURS = (4, 4, 4, 4)


def find(folded: Folded) -> Iterator[Span]:
    text = folded.text
    for groups in runs(folded, NUMBER_RUN, 12):
        for window in windows(text, groups, 12, 19, 8):
            if _is_card(window) and _stands_alone(text, window):
                yield window.start, window.end


def _is_card(window: Window) -> bool:
    return _looks_like_card(window) and _check_digit_holds(window.digits)


def _stands_alone(text: str, window: Window) -> bool:
    return not is_fraction(text, window) and not is_glued(text, window.start, window.end)


def _looks_like_card(window: Window) -> bool:
    digits, sizes = window.digits, window.sizes
    if digits[0] == "0":
        return False
    if sizes == (16,):
        return True
    if sizes == _FOURS and not all(_YEAR.match(digits, at) for at in (0, 4, 8, 12)):
        return True
    # In the middle of other numbers a card begins with four digits; alone it may be cut anywhere.
    if not window.whole and sizes[0] < 4:
        return False
    return _BEGINS[len(digits)].match(digits) is not None


def _check_digit_holds(digits: str) -> bool:
    from stdnum import luhn

    return luhn.is_valid(digits)
