"""From rows and from the studio file to rules, and back. Rows are whatever has the fields of `RedactionRule`.

What belongs to another kind is refused, not ignored: a pattern on an e-mail rule would look as if it
did something.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from redaction.detectors import DETECTORS
from redaction.engine import Masker, compile_rules
from redaction.spec import RuleError, RuleSpec
from streaming.text import clean

MAX_REPLACEMENT = 100
#: What each kind may say beside kind, replacement and active.
FIELDS: dict[str, tuple[str, ...]] = {
    "phone": ("regions",),
    "regex": ("pattern",),
    "words": ("words",),
    "presidio": ("words", "regions"),
}
_OWN_FIELDS = ("regions", "pattern", "words")


class Rule(Protocol):
    """The fields of a stored rule."""

    kind: str
    regions: Any
    pattern: str
    words: Any
    replacement: str
    active: bool


class RuleFileError(ValueError):
    """A mistake in a rule of the studio file, at `path` (`chats[0].redaction[2].pattern`)."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def masker_of(rows: Iterable[Rule]) -> Masker | None:
    """Return a masker for the active rules, in the order of the rows; None if there are none.

    Raises RuleError if a stored rule cannot be compiled: the run must fail then, not go on without it.
    """
    specs = [spec_of(row) for row in rows if row.active]
    return compile_rules(specs) if specs else None


def spec_of(row: Rule) -> RuleSpec:
    """Raises RuleError for lists that are no lists of strings."""
    return RuleSpec(
        kind=row.kind,
        regions=_strings(row.regions, "regions"),
        pattern=row.pattern,
        words=_strings(row.words, "words"),
        replacement=row.replacement,
    )


def mistakes(row: Rule) -> dict[str, str]:
    """Return what is wrong with a rule, by field; empty if it can run."""
    if row.kind not in DETECTORS:
        return {"kind": "There is no such kind of rule."}
    wrong = {
        name: f"A rule of kind {row.kind} has no {name}."
        for name in _OWN_FIELDS
        if getattr(row, name) and name not in FIELDS.get(row.kind, ())
    }
    if wrong:
        return wrong
    try:
        compile_rules([spec_of(row)])
    except RuleError as error:
        return {error.field: error.reason[:1].upper() + error.reason[1:]}
    return {}


def rules_from_file(items: Any, path: str) -> list[dict[str, Any]]:
    """Return the values of each rule's row, `position` included. Raises RuleFileError with the path."""
    if not isinstance(items, list):
        raise RuleFileError(path, "must be a list.")
    return [_from_item(item, f"{path}[{index}]", index) for index, item in enumerate(items)]


def rules_to_file(rows: Iterable[Rule]) -> list[dict[str, Any]]:
    """Return the rules as the studio file writes them: nothing that says only the default."""
    return [_to_item(row) for row in rows]


def _from_item(item: Any, path: str, position: int) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise RuleFileError(path, "must be a mapping.")
    kind = item.get("kind")
    if not isinstance(kind, str) or kind not in DETECTORS:
        raise RuleFileError(f"{path}.kind", f"must be one of {', '.join(DETECTORS)}.")
    known = ("kind", *FIELDS.get(kind, ()), "replacement", "active")
    for key in item:
        if key not in known:
            raise RuleFileError(path, f"unknown key {key!r}; a rule of kind {kind} knows {', '.join(known)}.")
    values = {
        "kind": kind,
        "regions": _file_strings(item, "regions", path),
        "pattern": _file_text(item, "pattern", path),
        "words": _file_strings(item, "words", path),
        "replacement": _file_text(item, "replacement", path),
        "active": item.get("active", True),
        "position": position,
    }
    _check(values, path)
    return values


def _check(values: dict[str, Any], path: str) -> None:
    if not isinstance(values["active"], bool):
        raise RuleFileError(f"{path}.active", "must be true or false.")
    if len(values["replacement"]) > MAX_REPLACEMENT:
        raise RuleFileError(f"{path}.replacement", f"must have at most {MAX_REPLACEMENT} characters.")
    spec = RuleSpec(values["kind"], tuple(values["regions"]), values["pattern"], tuple(values["words"]))
    try:
        compile_rules([spec])
    except RuleError as error:
        raise RuleFileError(f"{path}.{error.field}", error.reason) from error


def _file_text(item: dict[str, Any], key: str, path: str) -> str:
    value = item.get(key, "")
    if not isinstance(value, str) or clean(value) != value:
        raise RuleFileError(f"{path}.{key}", "must be text.")
    return value


def _file_strings(item: dict[str, Any], key: str, path: str) -> list[str]:
    value = item.get(key, [])
    try:
        return list(_strings(value, key))
    except RuleError as error:
        raise RuleFileError(f"{path}.{key}", error.reason) from error


def _strings(value: Any, field: str) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise RuleError(field, "must be a list.")
    if not all(isinstance(entry, str) and clean(entry) == entry for entry in value):
        raise RuleError(field, "must be a list of texts.")
    return tuple(value)


def _to_item(row: Rule) -> dict[str, Any]:
    item: dict[str, Any] = {"kind": row.kind}
    for name in (*FIELDS.get(row.kind, ()), "replacement"):
        if value := getattr(row, name):
            item[name] = value
    if not row.active:
        item["active"] = False
    return item
