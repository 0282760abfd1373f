"""IP addresses of both versions. Four small numbers with dots are one, whatever they were meant as."""

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address

from redaction.fold import Folded, Span

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_V4 = re.compile(rf"(?<![0-9A-Za-z_])(?<!\d\.)(?:{_OCTET}\.){{3}}{_OCTET}(?![0-9A-Za-z_]|\.\d)")
_V6 = re.compile(r"(?<![0-9A-Za-z_:.])[0-9A-Fa-f:][0-9A-Fa-f:.]*+(?![G-Zg-z_])")
_LONGEST = 45


def find(folded: Folded) -> Iterator[Span]:
    text = folded.text
    if "." in text:
        for match in _V4.finditer(text):
            yield match.span()
    if ":" in text:
        for match in _V6.finditer(text):
            if length := _v6_length(match[0]):
                yield match.start(), match.start() + length


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
