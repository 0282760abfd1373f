"""CPF (11 digits) and CNPJ (14 digits, or with letters since July 2026), both with their check digits."""

import re
from collections.abc import Iterator

from redaction.detectors.digits import find_numbers, is_glued
from redaction.detectors.patterns import compile_pattern
from redaction.fold import Folded, Span

_GAP = r"[ \t\r\n./\-]{0,3}"
_LETTERED = rf"[0-9A-Z]{{2}}{_GAP}[0-9A-Z]{{3}}{_GAP}[0-9A-Z]{{3}}{_GAP}[0-9A-Z]{{4}}{_GAP}\d\d"
_CNPJ = re.compile(rf"(?<![0-9A-Za-z])(?=({_LETTERED})(?![0-9A-Za-z]))", re.IGNORECASE)
#: The same, roughly and fast: most texts end here.
_ANY_CNPJ = compile_pattern(rf"\b{_LETTERED}\b", case_sensitive=False)
_SEPARATORS = re.compile(r"[^0-9A-Za-z]+")


def find_cpf(folded: Folded) -> Iterator[Span]:
    from stdnum.br import cpf

    for window in find_numbers(folded, 11):
        if cpf.is_valid(window.digits):
            yield window.start, window.end


def find_cnpj(folded: Folded) -> Iterator[Span]:
    from stdnum.br import cnpj

    for window in find_numbers(folded, 14):
        if cnpj.is_valid(window.digits):
            yield window.start, window.end
    if not _ANY_CNPJ.search(folded.utf8):
        return
    for match in _CNPJ.finditer(folded.text):
        start, end = match.span(1)
        number = _SEPARATORS.sub("", match[1]).upper()
        if _is_mixed(number) and not is_glued(folded.text, start, end) and cnpj.is_valid(number):
            yield start, end


def _is_mixed(number: str) -> bool:
    return any(char.isalpha() for char in number) and any(char.isdigit() for char in number[:12])
