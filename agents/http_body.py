"""The body of an answer, for readers of text: inflated within a limit, and decoded if it is text. Pure."""

import re
import zlib

from streaming.text import clean

_TEXT_TYPES = re.compile(
    r"text/|application/(json|xml|javascript|x-javascript|x-www-form-urlencoded|yaml|x-yaml|graphql|x-ndjson|toml)"
    r"|.*\+(json|xml|yaml)$"
)
#: Types whose bytes may well be text; anything else that is not named as text is described.
_UNSURE_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown"})
#: Codecs that decode in linear time. Python knows others that do not, and some that are no text at all.
_CHARSETS = re.compile(
    r"(utf[-_]?(8|16|32)([-_]?(le|be|sig))?|(us-)?ascii|iso[-_]?8859[-_]\d+|latin[-_]?\d|(windows-|cp)\d+"
    r"|koi8[-_][ru]|shift[-_]?jis|euc[-_](jp|kr)|gb(2312|k|18030)|big5)",
    re.IGNORECASE,
)
#: More broken characters than one in so many, and it is no text.
_BROKEN = 100
_GZIP = b"\x1f\x8b"


class UnknownEncoding(ValueError):
    """The answer is encoded in a way that was not asked for, or badly."""


class Inflater:
    """Decodes `Content-Encoding`, and never makes more than it is asked for."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        if self._encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
            raise UnknownEncoding(
                f"the answer is encoded as {self._encoding[:40]!r}, which cannot be read here"
            )
        self._plain = self._encoding in {"", "identity"}
        self._stream: zlib._Decompress | None = None
        self._ended = False

    def feed(self, data: bytes, limit: int) -> bytes:
        """At most `limit` bytes of what `data` holds; the rest is lost when the limit is met."""
        if self._plain:
            return data[:limit]
        made = b""
        while data and len(made) < limit and not self._ended:
            self._stream = self._stream or self._new_stream(data)
            try:
                made += self._stream.decompress(data, limit - len(made))
            except zlib.error as error:
                raise UnknownEncoding(f"the answer's {self._encoding} encoding is broken") from error
            if not self._stream.eof:
                break
            # Another gzip member may follow; anything else after the end is padding.
            data, self._stream = self._stream.unused_data, None
            self._ended = not data.startswith(_GZIP)
        return made

    def _new_stream(self, data: bytes) -> "zlib._Decompress":
        if self._encoding == "deflate":
            # Servers send both: with the zlib header the standard asks for, and without.
            return zlib.decompressobj(zlib.MAX_WBITS if data[0] & 0x0F == 8 else -zlib.MAX_WBITS)
        return zlib.decompressobj(zlib.MAX_WBITS | 16)


def decoded(body: bytes, kind: str, charset: str | None) -> str | None:
    """The body as text, or None if it is none. A few broken bytes become U+FFFD."""
    if not (_TEXT_TYPES.match(kind) or kind in _UNSURE_TYPES):
        return None
    text = _decode(body, charset or "utf-8")
    broken = text.count("\ufffd") + text.count("\0")
    return None if broken * _BROKEN > len(text) + _BROKEN else clean(text)


def _decode(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset if _CHARSETS.fullmatch(charset) else "utf-8", errors="replace")
    except LookupError:
        return body.decode(errors="replace")
