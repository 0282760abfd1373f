"""Phone numbers that exist by the numbering plans: with `+` or 00 of any country, else of the rule's regions.

No phone numbers: dates, UUIDs, versions and addresses with dots, prices, decimal fractions, and what a
JSON key calls an id, a time or an amount.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from redaction.detectors.base import Detector
from redaction.detectors.digits import Window, is_fraction, runs, windows
from redaction.fold import Folded, Span
from redaction.spec import RuleError, RuleSpec

_RUN = re.compile(r"\d+(?:[ \t.()\-/]{1,4}\d+)*+")
_LEAD = re.compile(r"(?:\(?(\+) ?\(? ?|\()\Z")
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){2,3}")
_THOUSANDS = re.compile(r"\d{1,2}(?:([ .,])\d{3})(?:\1\d{3})*")
_DECIMAL = re.compile(r"\d+\.\d{7,}")
_OTHER_NUMBERS = (_DOTTED, _THOUSANDS, _DECIMAL)
_GROUPED = re.compile(r"\d{3}(?:[ .,]\d{3})+")
_MONEY_BEFORE = re.compile(r"(?:[$€£¥₹]|\b[A-Z]{3}) ?\Z")
_MONEY_AFTER = re.compile(r" ?(?:[$€£¥₹%]|(?:USD|EUR|GBP|BRL|JPY|CHF)\b)")
_KEY = re.compile(r'"([^"\\]{1,64})"\s{0,8}:\s{0,8}(?:\[[\d\s,"]{0,160})?"?\Z')
_ID_KEY = re.compile(
    r"(?:^|[_\-. ])(?i:ids?|uuid|ts|timestamp|at|time|date|version|price|amount|total|count)\Z"
    r"|(?:Ids?|ID|At|Time|Date)\Z"
)
_KINDS = (
    *("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "personal_number", "voip", "pager"),
    *("uan", "voicemail"),
)
_LEAST, _MOST = 7, 15
#: National forms may carry a trunk or carrier prefix on top.
_MOST_WRITTEN = 18


def build(spec: RuleSpec) -> Detector:
    import phonenumbers

    regions = tuple(region.upper() for region in spec.regions)
    for region in regions:
        if region not in phonenumbers.SUPPORTED_REGIONS:
            raise RuleError("regions", f"'{region}' is no country that has phone numbers; write BR, US, …")
    return lambda text: (text.span(start, end) for start, end in _find(text, regions))


def _find(folded: Folded, regions: tuple[str, ...]) -> Iterator[Span]:
    text = folded.text
    for groups in runs(folded, _RUN, _LEAST):
        free = 0
        for window in windows(text, groups, _LEAST, _MOST_WRITTEN, 8):
            if window.start >= free and (start := _start_of(folded, window, regions)) is not None:
                yield start, window.end
                free = window.end


def _start_of(folded: Folded, window: Window, regions: tuple[str, ...]) -> int | None:
    """Return where the number begins, its `+` or bracket included; None if the window is no number."""
    text, start = folded.text, window.start
    lead = _LEAD.search(text, max(0, start - 4), start)
    begin = lead.start() if lead else start
    if lead and lead[1] and _exists_abroad(window.digits):
        return begin
    if window.digits.startswith("00") and _exists_abroad(window.digits[2:]):
        return begin
    if not any(_exists_in(region, window.digits) for region in regions):
        return None
    return None if _means_something_else(folded, window) else begin


def _means_something_else(folded: Folded, window: Window) -> bool:
    text, (start, end) = folded.text, window[:2]
    written = text[start:end]
    if _touches_letter(text, start, end) or any(form.fullmatch(written) for form in _OTHER_NUMBERS):
        return True
    if len(window.sizes) == 1:
        return is_fraction(text, window) or _is_id(folded, start)
    return bool(_GROUPED.fullmatch(written)) and _is_price(text, start, end)


def _is_price(text: str, start: int, end: int) -> bool:
    return bool(_MONEY_BEFORE.search(text, max(0, start - 5), start) or _MONEY_AFTER.match(text, end))


def _touches_letter(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return any(char.isascii() and (char.isalpha() or char == "_") for char in around)


def _is_id(folded: Folded, start: int) -> bool:
    key = _KEY.search(folded.before(start, 256))
    return bool(key and _ID_KEY.search(key[1]))


def _exists_abroad(digits: str) -> bool:
    """Say whether the digits, country code first, are a number that exists."""
    return _LEAST <= len(digits) <= _MOST and _has_country(digits) and _is_valid("+" + digits, None)


def _has_country(digits: str) -> bool:
    return any(
        (plan := _plan_of_code(int(digits[:size]))) is not None and plan.fullmatch(digits, size)
        for size in (1, 2, 3)
    )


def _exists_in(region: str, digits: str) -> bool:
    return bool(_plan_at_home(region).fullmatch(digits)) and _is_valid(digits, region)


def _is_valid(number: str, region: str | None) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=300)
def _plan_at_home(region: str) -> re.Pattern[str]:
    """What may be dialled in a region: trunk prefix or its own country code, and a national number."""
    import phonenumbers

    metadata = phonenumbers.PhoneMetadata.metadata_for_region(region)
    assert metadata is not None, "build() refuses unknown regions"
    prefix = metadata.national_prefix_for_parsing or ""
    begin = f"(?:{prefix}|0|{metadata.country_code})" if prefix else f"(?:0|{metadata.country_code})"
    return re.compile(f"{begin}?{_national([metadata])}")


@lru_cache(maxsize=300)
def _plan_of_code(code: int) -> re.Pattern[str] | None:
    """The national numbers behind a country code; None if there is no such code."""
    import phonenumbers

    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(code, ())
    find_plan = phonenumbers.PhoneMetadata.metadata_for_region_or_calling_code
    plans = [find_plan(code, region) for region in regions]
    return re.compile("0?" + _national(plans)) if plans else None


def _national(plans: Iterable[Any]) -> str:
    """One alternative for each kind of number. Only saves work: the library decides."""
    kinds = (getattr(plan, name) for plan in plans if plan for name in _KINDS)
    patterns = {kind.national_number_pattern for kind in kinds if kind and kind.national_number_pattern}
    return "(?:" + "|".join(sorted(patterns)) + ")"
