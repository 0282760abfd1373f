"""Texts that are JSON: escapes hide nothing, the result still parses, and the rest keeps its bytes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.redaction.values import masker, unhurried

KEPT = [
    '{"a" : 1.10,\n  "b": [1e400, 12345678901234567890123], "a": "x\\u00e9\\/"}',
    "[]",
    '  {"x": "no match"}  ',
    "[1, 2",
    "plain",
    "{{start.input}}",
    "[" * 5000,
    "[" + "9" * 5000 + "]",
]


@pytest.mark.parametrize("text", KEPT)
def test_it_keeps_every_byte_without_a_match(text: str) -> None:
    assert masker().mask_document(text) == text


MASKED = [
    ('{"m": "a\\u0040example.org"}', '{"m": "[email]"}'),
    ('{"card": 4111111111111111, "n": 1.10}', '{"card": "[credit_card]", "n": 1.10}'),
    ('{"a@example.org": [1]}', '{"[email]": [1]}'),
    ('{"a": "a@example.org", "a": 1}', '{"a": "[email]", "a": 1}'),
    ('{"u": "https:\\/\\/example.org\\/x"}', '{"u": "[url]"}'),
    ('{"inner": "{\\"m\\": \\"a\\\\u0040example.org\\"}"}', '{"inner": "{\\"m\\": \\"[email]\\"}"}'),
    ('{"t": "4111\\n1111\\n1111\\n1111"}', '{"t": "[credit_card]"}'),
    ('{"ssn": 123456789, "secret": 1.0000000000000002e+16}', '{"ssn": "[us_ssn]", "secret": "[secret_key]"}'),
    ("{broken a@example.org", "{broken [email]"),
]


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_it_masks_what_escapes_hide(text: str, expected: str) -> None:
    assert masker().mask_document(text) == expected


def test_it_applies_a_pattern_to_the_text_of_the_document_as_well() -> None:
    from redaction.engine import RuleSpec, compile_rules

    rule = compile_rules([RuleSpec("regex", pattern=r'"name": "[^"]*"', replacement='"name": ""')])
    assert rule.mask_document('{"name": "Ana"}') == '{"name": ""}'


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@unhurried
@given(json_values, st.sampled_from([None, 2]), st.booleans())
def test_it_leaves_json_that_parses(value: Any, indent: int | None, ascii_only: bool) -> None:
    document = {"wrapped": value, "mail": "a@example.org"}
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    masked = masker().mask_document(text)
    assert json.loads(masked)["mail"] == "[email]"
    assert "example.org" not in masked
