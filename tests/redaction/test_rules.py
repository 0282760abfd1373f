"""Rules as rows and in the studio file: what is stored can run, and what is wrong is named with its path."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from redaction import rules
from redaction.spec import RuleError, RuleSpec


@dataclass
class Row:
    kind: str
    regions: Any = field(default_factory=list)
    pattern: str = ""
    words: Any = field(default_factory=list)
    replacement: str = ""
    active: bool = True


def test_it_makes_a_masker_of_the_active_rows_in_order() -> None:
    rows = [
        Row("email", active=False),
        Row("words", words=["Falcon"], replacement="[internal]"),
        Row("phone", ["BR"]),
    ]
    found = rules.masker_of(rows)
    assert found is not None
    assert [spec.kind for spec in found.rules] == ["words", "phone"]
    assert found.rules[0] == RuleSpec("words", words=("Falcon",), replacement="[internal]")


def test_it_makes_no_masker_without_active_rows() -> None:
    assert rules.masker_of([]) is None
    assert rules.masker_of([Row("email", active=False)]) is None


@pytest.mark.parametrize(
    "row", [Row("regex", pattern="("), Row("words", words="Falcon"), Row("phone", regions=[1])]
)
def test_it_raises_for_a_stored_rule_that_cannot_run(row: Row) -> None:
    with pytest.raises(RuleError):
        rules.masker_of([row])


WRONG = [
    (Row("nonsense"), "kind"),
    (Row("email", pattern="x"), "pattern"),
    (Row("credit_card", words=["x"]), "words"),
    (Row("iban", regions=["DE"]), "regions"),
    (Row("regex", pattern="a(?!b)"), "pattern"),
    (Row("regex"), "pattern"),
    (Row("words", words=[""]), "words"),
    (Row("words", words={"a": 1}), "words"),
    (Row("phone", regions=["Brazil"]), "regions"),
]


@pytest.mark.parametrize(("row", "name"), WRONG)
def test_it_names_the_field_that_is_wrong(row: Row, name: str) -> None:
    assert list(rules.mistakes(row)) == [name]


def test_it_finds_nothing_wrong_with_a_good_rule() -> None:
    assert rules.mistakes(Row("regex", pattern=r"ORD-\d{6}")) == {}


FILE: list[dict[str, Any]] = [
    {"kind": "email"},
    {"kind": "phone", "regions": ["BR", "US"]},
    {"kind": "regex", "pattern": r"ORD-\d{6}", "replacement": "[order]"},
    {"kind": "words", "words": ["Project Falcon"], "replacement": "[internal]", "active": False},
]


def test_it_writes_what_it_read() -> None:
    values = rules.rules_from_file(FILE, "chats[0].redaction")
    assert [value["position"] for value in values] == [0, 1, 2, 3]
    assert rules.rules_to_file(SimpleNamespace(**value) for value in values) == FILE


BAD_FILES = [
    ({"kind": "email"}, "R: must be a list"),
    (["email"], r"R\[0\]: must be a mapping"),
    ([{}], r"R\[0\]\.kind: must be one of email, phone"),
    ([{"kind": ["email"]}], r"R\[0\]\.kind: must be one of"),
    (
        [{"kind": "email", "pattern": "x"}],
        r"R\[0\]: unknown key 'pattern'; a rule of kind email knows kind, replace",
    ),
    ([{"kind": "email", "note": "x"}], r"R\[0\]: unknown key 'note'"),
    ([{"kind": "email"}, {"kind": "regex", "pattern": "("}], r"R\[1\]\.pattern: not a pattern"),
    ([{"kind": "regex"}], r"R\[0\]\.pattern: a pattern is needed"),
    ([{"kind": "regex", "pattern": 5}], r"R\[0\]\.pattern: must be text"),
    ([{"kind": "words", "words": "x"}], r"R\[0\]\.words: must be a list"),
    ([{"kind": "phone", "regions": [1]}], r"R\[0\]\.regions: must be a list of texts"),
    ([{"kind": "email", "active": "yes"}], r"R\[0\]\.active: must be true or false"),
    ([{"kind": "email", "replacement": "x" * 101}], r"R\[0\]\.replacement: must have at most 100"),
    ([{"kind": "email", "replacement": "\x00"}], r"R\[0\]\.replacement: must be text"),
]


@pytest.mark.parametrize(("items", "message"), BAD_FILES)
def test_it_names_the_path_of_a_mistake(items: Any, message: str) -> None:
    with pytest.raises(rules.RuleFileError, match=f"^{message}"):
        rules.rules_from_file(items, "R")


def test_it_refuses_to_save_a_rule_that_cannot_run() -> None:
    from django.core.exceptions import ValidationError

    from workflows.models import WorkflowRedactionRule

    with pytest.raises(ValidationError) as caught:
        WorkflowRedactionRule(kind="regex", pattern="(?=x)").clean()
    assert "look-around is not supported" in caught.value.message_dict["pattern"][0].lower()
