"""Keys and tokens: by the marks of their issuers, as JWT or PEM, or as the value of a name that says so."""

import re
from collections.abc import Iterator

from redaction.detectors.patterns import compile_pattern
from redaction.fold import Folded, Span

_B = r"[0-9A-Za-z_-]"
_TAIL = rf"(?:\.{_B}{{8,}})*+"
_MARKED = re.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}|AGE-SECRET-KEY-[0-9A-Z]{20,}"
    rf"|(?:gh[pousr]_|github_pat_|AIza|ya29\.|xox[abeoprs]-|xapp-|eyJ{_B}{{8,}}\.){_B}{{16,}}{_TAIL}"
    r")"
)
#: These beginnings are also those of ordinary words; what follows must look random.
_LIKELY = re.compile(
    r"(?<![0-9A-Za-z])(?:[spr]k[-_]|glpat-|gldt-|hf_|npm_|st_|whsec_|dop_v1_|pypi-|lin_api_|figd_|ntn_|shpat_|SG\.|r8_)"
    rf"{_B}{{16,}}{_TAIL}"
)
_NAMED = re.compile(
    r"(?:(?:api|private|access)[_ -]?key|secret|token|passw(?:or)?d|pwd|credential|authorization|bearer)"
    r"[\"'`\w-]{0,20}[ \t]{0,3}(?:[:=]>?|\bis\b)?[ \t]{0,3}(?:bearer[ \t]+|basic[ \t]+)?[\"'`]?"
    r"([0-9A-Za-z+/_.~=-]{16,})",
    re.IGNORECASE,
)
#: The same beginnings, roughly and fast: most texts end here.
_ANY = compile_pattern(
    r"(?i)api[_ -]?key|private[_ -]?key|access[_ -]?key|secret|token|passw|pwd|credential|authorization|bearer|://"
    r"|AKIA|ASIA|AROA|AIDA|AGE-|gh[pousr]_|github_|AIza|ya29|xox|xapp|eyJ"
    r"|[spr]k[-_]|glpat|gldt|hf_|npm_|st_|whsec|dop_v1|pypi-|lin_api|figd_|ntn_|shpat|SG\.|r8_"
)
_IN_URL = re.compile(r"://[^\s/@:]{0,64}:([^\s/@]{1,256})@")
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def find(folded: Folded) -> Iterator[Span]:
    text = folded.text
    if not folded.label and not _ANY.search(folded.utf8):
        return
    yield from (match.span() for match in _MARKED.finditer(text))
    yield from (match.span() for match in _LIKELY.finditer(text) if _is_random(match[0]))
    yield from _find_named(folded)
    yield from (match.span(1) for match in _IN_URL.finditer(text))
    yield from _pem_blocks(text)


def _find_named(folded: Folded) -> Iterator[Span]:
    named = f'"{folded.label}": ' if folded.label else ""
    for match in _NAMED.finditer(named + folded.text):
        start, end = match.span(1)
        if start >= len(named) and _is_random(match[1]):
            yield start - len(named), end - len(named)


def _is_random(value: str) -> bool:
    """Tell a key from a long word: it mixes digits and letters."""
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _pem_blocks(text: str) -> Iterator[Span]:
    """A block that was cut off before its end is masked to the end of the text."""
    at = 0
    while begin := _PEM_BEGIN.search(text, at):
        end = _PEM_END.search(text, begin.end())
        at = end.end() if end else len(text)
        yield begin.start(), at
