"""IBANs: a country's own length and structure, and the check digits (mod 97)."""

import re
from collections.abc import Iterator
from functools import lru_cache

from redaction.detectors.patterns import compile_pattern
from redaction.fold import Folded, Span

_GAP = r"[ \t\r\n.\-]{0,3}"
# Found from its first digit: digits are rarer than letters.
_CHECK_DIGITS = re.compile(rf"\d{_GAP}\d")
_COUNTRY = re.compile(rf"[A-Za-z]{_GAP}[A-Za-z]{_GAP}\Z")
_CANDIDATE = re.compile(rf"[A-Za-z]{_GAP}[A-Za-z]{_GAP}\d{_GAP}\d(?:{_GAP}[0-9A-Za-z]){{11,30}}")
_REACH = 8
_ANY = compile_pattern(rf"[A-Za-z]{_GAP}[A-Za-z]{_GAP}[0-9]{_GAP}[0-9]")
_SEPARATORS = re.compile(r"[^0-9A-Za-z]+")
_SIZE = re.compile(r"(\d+)!")


def find(folded: Folded) -> Iterator[Span]:
    if not _ANY.search(folded.utf8):
        return
    from stdnum import iban

    text = folded.text
    for digits in _CHECK_DIGITS.finditer(text):
        at = digits.start()
        country = _COUNTRY.search(text, max(0, at - _REACH), at)
        length = length_of(_SEPARATORS.sub("", country[0]).upper()) if country else 0
        candidate = _CANDIDATE.match(text, country.start()) if country and length else None
        if candidate:
            number = _SEPARATORS.sub("", candidate[0])[:length]
            if len(number) == length and iban.is_valid(number, check_country=False):
                yield candidate.start(), candidate.start() + _end_of(candidate[0], length)


@lru_cache(maxsize=1024)
def length_of(country: str) -> int:
    """Return how long a country's IBANs are, 0 if it has none."""
    from stdnum import numdb

    info = numdb.get("iban").info(country + "00")[0][1]
    sizes = _SIZE.findall(info.get("bban", ""))
    return 4 + sum(map(int, sizes)) if sizes else 0


def _end_of(candidate: str, length: int) -> int:
    """Return where the first `length` letters and digits of the candidate end."""
    for at, char in enumerate(candidate):
        length -= char.isalnum()
        if not length:
            return at + 1
    return len(candidate)
