"""The list `redaction` of an entry in the studio file, for whatever owns rules: a workflow, a chat."""

from typing import Any

from credentials.declare import FileError, Item
from redaction.rules import RuleFileError, rules_from_file

_FIELDS = ("kind", "regions", "pattern", "words", "replacement", "active", "position")


def read(item: Item) -> list[dict[str, Any]] | None:
    """Return the values of each rule's row; None: the entry does not speak of rules. Raises FileError."""
    if "redaction" not in item:
        return None
    try:
        return rules_from_file(item.raw("redaction"), item.at("redaction"))
    except RuleFileError as error:
        raise FileError(error.path, error.message) from error


def replace(owned: Any, rules: list[dict[str, Any]]) -> bool:
    """Make these the rules of an owner, related manager `owned`; say whether that changed anything."""
    stored = list(owned.all())
    if [{field: getattr(rule, field) for field in _FIELDS} for rule in stored] == rules:
        return False
    # One by one: an audited table is changed through its rows.
    for rule in stored:
        rule.delete()
    for values in rules:
        owned.create(**values)
    return True
