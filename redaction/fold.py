"""A text as detectors read it: without disguises, with a way back to the original.

Full-width and other digits become ASCII, spaces and dashes of every kind one kind, accents go, and what
nobody sees (zero-width characters, combining marks, control characters) is left out. Pure.
"""

import re
import unicodedata
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

Span = tuple[int, int]

_PLAIN = re.compile(r"[\t\n\r -~]*\Z")
_NO_NUMBER = re.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])"
    r"|(?:(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])([./-])(?:0?[1-9]|[12]\d|3[01])\1(?:19|20)\d\d)(?![-./]?\d))"
)
#: What each of them has, found fast.
_MAYBE_NO_NUMBER = re.compile(r"-[0-9A-Fa-f]{4}-|-\d\d-|[./-](?:19|20)\d\d")
_UNSEEN_LETTERS = "\u115f\u1160\u3164\uffa0"
_MARKS = ("Mn", "Me")
#: Sentence marks of scripts without spaces stay themselves: as ASCII they would glue sentences to an address.
_KEPT = "\u3001\u3002\uff01\uff0c\uff1b\uff1f"
_NAMED = {
    "\u2212": "-",
    "\u2043": "-",
    "\u2800": " ",
    "\u2028": "\n",
    "\u2029": "\n",
    "\x0b": "\n",
    "\x0c": "\n",
}


@lru_cache(maxsize=16384)
def fold_character(char: str) -> str:
    """Return what stands for one character: usually one, none for the unseen, more for ligatures."""
    if char in _NAMED:
        return _NAMED[char]
    category = unicodedata.category(char)
    if category in ("Cf", *_MARKS) or char in _UNSEEN_LETTERS:
        return ""
    if category == "Cc":
        return char if char in "\t\n\r" else ""
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category == "Zs":
        return " "
    if category == "Pd":
        return "-"
    if char in _KEPT:
        return char
    return _fold_letter(char, category)


def _fold_letter(char: str, category: str) -> str:
    # Composed syllables (Hangul) and kana stay whole; other letters lose their accents.
    form = unicodedata.normalize("NFKC" if category == "Lo" else "NFKD", char)
    return "".join(part for part in form if unicodedata.category(part) not in _MARKS)


class Folded:
    """`raw` as given, `text` as folded; `span()` leads from the second back to the first.

    `label` is the JSON key under which the text stood, if it stood under one.
    """

    def __init__(self, raw: str, label: str = "") -> None:
        self.raw = raw
        self.label = label
        self.text = raw
        #: For each character of `text` the one of `raw` it came from; None: the same.
        self._origin: list[int] | None = None
        #: What `detectors.digits` has found in it, by kind of run.
        self.runs: dict[re.Pattern[str], list[tuple[list[Span], int]]] = {}
        if not _PLAIN.match(raw):
            self._fold()

    def _fold(self) -> None:
        table = {ord(char): fold_character(char) for char in set(self.raw)}
        self.text = self.raw.translate(table)
        uneven = [chr(code) for code, folded in table.items() if len(folded) != 1]
        if uneven:
            self._origin = self._find_origins(re.compile("[" + re.escape("".join(uneven)) + "]"), table)

    def _find_origins(self, uneven: re.Pattern[str], table: dict[int, str]) -> list[int]:
        origin: list[int] = []
        done = 0
        for match in uneven.finditer(self.raw):
            here = match.start()
            origin.extend(range(done, here))
            origin.extend([here] * len(table[ord(match[0])]))
            done = here + 1
        origin.extend(range(done, len(self.raw)))
        return origin

    @cached_property
    def utf8(self) -> bytes:
        return self.text.encode()

    @cached_property
    def numbers(self) -> str:
        """The folded text with UUIDs and dates blanked, every character still at its place."""
        if not _MAYBE_NO_NUMBER.search(self.text):
            return self.text
        return _NO_NUMBER.sub(lambda match: "\0" * len(match[0]), self.text)

    def before(self, start: int, reach: int) -> str:
        """Return the folded text just before `start`; near the beginning also the key it stood under."""
        if start >= reach or not self.label:
            return self.text[max(0, start - reach) : start]
        return f'"{self.label}": {self.text[:start]}'[-reach:]

    def span(self, start: int, end: int) -> Span:
        """Return the piece of `raw` for a non-empty piece of `text`, with the marks that sit on its end."""
        if self._origin is None:
            return start, end
        first, last = self._origin[start], self._origin[end - 1] + 1
        while last < len(self.raw) and unicodedata.category(self.raw[last]) in _MARKS:
            last += 1
        return first, last


def character_offsets(encoded: bytes, offsets: list[int]) -> list[int]:
    """Turn rising byte offsets of UTF-8 into character offsets."""
    pieces = pairwise([0, *offsets])
    return list(accumulate(len(encoded[start:end].decode()) for start, end in pieces))
