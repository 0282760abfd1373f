"""CPF (11 digits) and CNPJ (14 digits, or with letters since July 2026), both with their check digits."""

import re
from collections.abc import Iterator

from redaction.detectors.digits import SLASHED_RUN, SPACED_RUN, find_numbers, is_glued
from redaction.fold import Folded, Span

_GAP = r"[ \t\r\n./\-]{0,3}"
_CNPJ = re.compile(
    rf"(?<![0-9A-Za-z])(?=([0-9A-Z]{{2}}{_GAP}[0-9A-Z]{{3}}{_GAP}[0-9A-Z]{{3}}{_GAP}[0-9A-Z]{{4}}{_GAP}\d\d)"
    r"(?![0-9A-Za-z]))",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[^0-9A-Za-z]+")


def find_cpf(folded: Folded) -> Iterator[Span]:
    from stdnum.br import cpf

    for window in find_numbers(folded, SPACED_RUN, 11):
        if cpf.is_valid(window.digits):
            yield window.start, window.end


def find_cnpj(folded: Folded) -> Iterator[Span]:
    from stdnum.br import cnpj

    for window in find_numbers(folded, SLASHED_RUN, 14):
        if cnpj.is_valid(window.digits):
            yield window.start, window.end
    for match in _CNPJ.finditer(folded.text):
        start, end = match.span(1)
        number = _SEPARATORS.sub("", match[1]).upper()
        if _is_mixed(number) and not is_glued(folded.text, start, end) and cnpj.is_valid(number):
            yield start, end


def _is_mixed(number: str) -> bool:
    return any(char.isalpha() for char in number) and any(char.isdigit() for char in number[:12])
