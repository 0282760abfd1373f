"""Marked secrets: random words that stand for what is hidden, and the search for them. Pure."""

import base64
import re
import secrets
from collections.abc import Iterator

#: A word or number of ours; numbers may stand within others.
_WORD = re.compile(rb"mark[0-9a-f]{24}", re.IGNORECASE)
_NUMBER = re.compile(rb"(?=([1-9][0-9]{14}))")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{24,}")


class Marks:
    """`at("tool results")` is a new word; wherever it comes out, that is what came out."""

    def __init__(self) -> None:
        self._places: dict[bytes, str] = {}

    def at(self, place: str) -> str:
        """A word that no text holds by chance: small letters and digits, 96 random bits."""
        mark = f"mark{secrets.token_hex(12)}"
        self._places[mark.encode()] = place
        return mark

    def number(self, place: str) -> int:
        """The same as a number of fifteen digits."""
        mark = 10**14 + secrets.randbelow(9 * 10**14)
        self._places[b"%d" % mark] = place
        return mark

    def found(self, data: bytes) -> list[str]:
        """The places whose marks are in `data`, as they are or in base64, each once."""
        forms = [data, *_decoded(data)]
        marks = {mark.lower() for form in forms for mark in (*_WORD.findall(form), *_NUMBER.findall(form))}
        return sorted({self._places[mark] for mark in marks if mark in self._places})


def _decoded(data: bytes) -> Iterator[bytes]:
    """What may be base64, decoded from each of the four places where a group can begin."""
    for token in _BASE64.findall(data):
        plain = token.replace(b"-", b"+").replace(b"_", b"/")
        for start in range(4):
            groups = plain[start:]
            yield base64.b64decode(groups + b"A" * (-len(groups) % 4))
