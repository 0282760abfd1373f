"""Text as it enters the system: no NUL, no lone surrogates (agent-events-v1 section 2). Pure."""

import re

#: What stands where a character could not be kept.
REPLACEMENT = "\ufffd"

_UNSAFE = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")


def clean(text: str) -> str:
    """Return `text` with surrogate pairs joined, and NUL and lone surrogates replaced by U+FFFD."""
    if text.isascii():  # a flag of the string, not a search
        return text.replace("\x00", REPLACEMENT) if "\x00" in text else text
    if not _UNSAFE.search(text):
        return text
    return _UNSAFE.sub(REPLACEMENT, _PAIR.sub(_join, text))


def _join(match: re.Match[str]) -> str:
    high, low = match.groups()
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00))


def clean_json(value: object) -> object:
    """Return a JSON value with every string in it cleaned, keys included."""
    match value:
        case str():
            return clean(value)
        case list() | tuple():
            return [clean_json(item) for item in value]
        case dict():
            return {clean(str(key)): clean_json(item) for key, item in value.items()}
        case _:
            return value


class TextStream:
    """Clean deltas of one text: a high surrogate at the end of a delta waits for the next one."""

    def __init__(self) -> None:
        self._held = ""

    @property
    def waits(self) -> bool:
        """Half a character is held."""
        return bool(self._held)

    def feed(self, delta: str) -> str:
        """Return what may go out now; may be empty while half a character waits."""
        if self._held:
            delta, self._held = self._held + delta, ""
        if not delta.isascii() and "\ud800" <= delta[-1] <= "\udbff":
            delta, self._held = delta[:-1], delta[-1]
        return clean(delta)

    def flush(self) -> str:
        """Return what still waited, as U+FFFD."""
        held, self._held = self._held, ""
        return clean(held)
