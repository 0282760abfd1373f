"""The lists an admin writes into a chat: what a good entry is, and the sentence for a bad one. Pure."""

import re

from deployments import origins

MAX_ENTRIES = 200
MAX_SUGGESTION_CHARS = 200
_ADDRESS = re.compile(r"[^\s@,;<>]*@[a-z0-9-]+(\.[a-z0-9-]+)+", re.IGNORECASE | re.ASCII)


def check_suggestions(value: object) -> list[str]:
    """Return a sentence for each fault; an empty list: none."""
    if (faults := _check_texts(value)) or not isinstance(value, list):
        return faults
    return [
        f"“{entry[:20]}…” is longer than {MAX_SUGGESTION_CHARS} characters."
        for entry in value
        if len(entry) > MAX_SUGGESTION_CHARS
    ]


def check_emails(value: object) -> list[str]:
    """Entries are whole addresses, or `@example.com` for a domain."""
    if (faults := _check_texts(value)) or not isinstance(value, list):
        return faults
    return [
        f"{entry} is neither an address nor a domain like @example.com."
        for entry in value
        if not _ADDRESS.fullmatch(entry)
    ]


def check_origins(value: object) -> list[str]:
    if (faults := _check_texts(value)) or not isinstance(value, list):
        return faults
    return [fault for entry in value if (fault := origins.problem(entry))]


def _check_texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        return ["This must be a list of texts."]
    if len(value) > MAX_ENTRIES:
        return [f"This list has more than {MAX_ENTRIES} entries."]
    return ["An entry is empty."] if any(not entry.strip() for entry in value) else []
