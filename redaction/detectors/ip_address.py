"""IP addresses of both versions. Four small numbers with dots are one, whatever they were meant as."""

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address

from redaction.detectors.patterns import compile_pattern
from redaction.fold import Folded, Span

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_DOTTED = re.compile(r"\d[\d.]*+")
_THREE_PARTS = compile_pattern(r"[0-9]\.[0-9]{1,3}\.[0-9]")
_V4 = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}")
_TWO_COLONS = re.compile(r":[0-9A-Fa-f.]{0,15}:")
_V6 = re.compile(r"(?<![0-9A-Za-z_:.])[0-9A-Fa-f:][0-9A-Fa-f:.]*+(?![G-Zg-z_])")
_LONGEST = 45


def find(folded: Folded) -> Iterator[Span]:
    text = folded.text
    if _THREE_PARTS.search(folded.utf8):
        for match in _DOTTED.finditer(text):
            end = match.start() + len(match[0].rstrip("."))
            if _V4.fullmatch(text, match.start(), end) and not _is_in_word(text, match.start(), end):
                yield match.start(), end
    if _TWO_COLONS.search(text):
        for match in _V6.finditer(text):
            if length := _v6_length(match[0]):
                yield match.start(), match.start() + length


def _is_in_word(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return any(char.isascii() and (char.isalnum() or char == "_") for char in around)


def _v6_length(candidate: str) -> int:
    """Return how much of the candidate is an address, 0 if nothing is. `abc::def` without a digit is code."""
    if candidate.count(":") < 2 or len(candidate) > _LONGEST + 2:
        return 0
    for end in range(len(candidate), len(candidate) - 3, -1):
        part = candidate[:end]
        if part.strip(":") and any(char.isdigit() for char in part) and _is_v6(part):
            return end
    return 0


def _is_v6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True
