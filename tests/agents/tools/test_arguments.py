"""Arguments: compared as canonical JSON, held against a schema."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.arguments import canonical, schema_mistake
from agents.tools.builtin import BUILTINS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), JSON, max_size=4))
def test_spelling_makes_no_difference(value: dict[str, Any]) -> None:
    backwards = dict(reversed(value.items()))

    assert canonical(json.dumps(value)) == canonical(json.dumps(backwards, indent=3, ensure_ascii=False))


@given(JSON, JSON)
def test_another_value_is_another_text(one: Any, other: Any) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

    assert (canonical(json.dumps(one)) == canonical(json.dumps(other))) is same


@pytest.mark.parametrize(
    ("text", "expected"), [("", "{}"), (" ", "{}"), ("{}", "{}"), (' {"a" ', '{"a"'), ("1e400", "Infinity")]
)
def test_anything_can_be_compared(text: str, expected: str) -> None:
    assert canonical(text) == expected


@pytest.mark.parametrize(
    ("schema", "mistaken"),
    [
        ({}, False),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, False),
        ({"type": "array"}, True),
        ({"type": "objekt"}, True),
        ({"type": "object", "required": "a"}, True),
        *((dict(tool.spec.parameters), False) for tool in BUILTINS.values()),
    ],
)
def test_it_says_what_is_no_schema_of_parameters(schema: dict[str, Any], mistaken: bool) -> None:
    assert (schema_mistake(schema) is not None) is mistaken
