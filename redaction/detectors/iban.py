"""IBANs: a country's own length and structure, and the check digits (mod 97)."""

import re
from collections.abc import Iterator
from functools import lru_cache

from redaction.fold import Folded, Span

_GAP = r"[ \t\r\n.\-]{0,3}"
_CANDIDATE = re.compile(rf"(?=([A-Za-z]{_GAP}[A-Za-z]{_GAP}\d{_GAP}\d(?:{_GAP}[0-9A-Za-z]){{11,30}}))")
_START = re.compile(r"[A-Za-z][^0-9A-Za-z]{0,3}\d")
_SEPARATORS = re.compile(r"[^0-9A-Za-z]+")
_SIZE = re.compile(r"(\d+)!")


def find(folded: Folded) -> Iterator[Span]:
    if not _START.search(folded.text):
        return
    from stdnum import iban

    for match in _CANDIDATE.finditer(folded.text):
        number = _SEPARATORS.sub("", match[1])
        length = length_of(number[:2].upper())
        if length and len(number) >= length and iban.is_valid(number[:length], check_country=False):
            yield match.start(1), match.start(1) + _end_of(match[1], length)


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
