"""Conditions: parsed first, compared as data."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.conditions import ConditionError, parse
from workflows.templates import Outputs

OUTPUTS = Outputs(
    {
        "a": {
            "content": "I want a refund, please",
            "quote": "' or 'x' == 'x",
            "n": 3,
            "text_n": " 3.0 ",
            "yes": True,
            "null": None,
            "empty": "",
            "blank": " \n",
            "list": ["x", 1, {"k": 2}],
            "none": [],
            "date": "2026-12-01",
        },
        "skipped": {},
    }
)


def holds(condition: str, outputs: Outputs = OUTPUTS) -> bool:
    return parse(condition).holds(outputs)


@pytest.mark.parametrize(
    "condition",
    [
        "{{a.content}} contains 'refund'",
        '{{ a.content }} contains "refund"',
        "{{a.n}} == 3",
        "{{a.n}} == '3'",
        "{{a.n}} == 3.0",
        "{{a.yes}} == true",
        "{{a.yes}} == 'true'",
        "{{a.null}} == null",
        "{{a.nothing}} == null",
        "{{skipped.content}} == null",
        "{{a.n}} != 4",
        "{{a.yes}} != 1",
        "{{a.null}} != ''",
        "{{a.n}} > 2",
        "{{a.text_n}} > 2.5",
        "-1 < {{a.n}}",
        "{{a.date}} > '2026-11-30'",
        "{{a.content}} matches 'ref[u]nd'",
        "{{a.n}} matches '^3$'",
        "{{a.list}} contains 'x'",
        "{{a.list}} contains 1",
        "{{a}} contains 'n'",
        "{{a.empty}} is empty",
        "{{a.blank}} is empty",
        "{{a.none}} is empty",
        "{{a.null}} is empty",
        "{{skipped.content}} is empty",
        "{{a.list[2].k}} == 2",
        "1 == 1 and 2 == 2",
        "1 == 2 or 2 == 2",
        "1 == 1 or 1 == 2 and 1 == 3",
        "  1==1  ",
        "'and' == 'and'",
    ],
)
def test_it_holds(condition: str) -> None:
    assert holds(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "{{a.content}} contains 'Refund'",
        "{{a.n}} == 4",
        "{{a.yes}} == 1",
        "{{a.null}} == ''",
        "{{a.n}} > 3",
        "{{a.content}} > 3",
        "{{a.null}} > 0",
        "{{a.null}} contains ''",
        "{{a.null}} matches '.*'",
        "{{a.content}} contains null",
        "{{a.n}} contains 3",
        "{{a.list}} contains true",
        "{{a.content}} is empty",
        "{{a.n}} is empty",
        "0 is empty",
        "1 == 1 and 1 == 2",
        "{{a.quote}} == 'x'",
    ],
)
def test_it_does_not_hold(condition: str) -> None:
    assert not holds(condition)


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ("", "the condition needs {{block.path}}, a 'text', a number, true, false or null at its end."),
        ("{{a.n}}", "the condition needs one of ==, !=, contains, matches, >, <, is empty at its end."),
        ("{{a.n}} ==", "at its end."),
        ("{{a.n}} = 3", "at '= 3'."),
        ("{{a.n}} === 3", "at '= 3'."),
        ("{{a.n}} is full", "the condition needs 'empty' at 'full'."),
        ("1 == 1 and", "at its end."),
        ("1 == 1 2", "the condition needs 'and', 'or' or the end at '2'."),
        ("foo == 1", "at 'foo == 1'."),
        ("1x == 1", "at '1x == 1'."),
        ("'unclosed == 1", "at ''unclosed == 1'."),
        ("'{{a.n}}' == 1", "write {{…}} without quotes."),
        ("{{a.n}} matches '('", "is no pattern (RE2)"),
        ("{{a.n}} matches '(?=x)'", "is no pattern (RE2)"),
        ("{{a.n}} matches {{a.content}}", "'matches' needs a pattern in quotes."),
        ("__import__('os')", "at '__import__('os')'."),
    ],
)
def test_it_refuses(condition: str, sentence: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse(condition)
    assert sentence in str(caught.value)


@given(st.text())
def test_no_text_is_more_than_a_sentence(text: str) -> None:
    with suppress(ConditionError):
        parse(text.replace("{{", ""))


@given(st.text(), st.text())
def test_a_value_is_never_read_as_part_of_the_condition(value: str, other: str) -> None:
    outputs = Outputs({"a": {"v": value, "w": other}})
    assert holds("{{a.v}} == {{a.w}}", outputs) == (value == other)
    assert holds("{{a.v}} contains {{a.w}}", outputs) == (other in value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@given(json_values, json_values, st.sampled_from(["==", "!=", "contains", ">", "<"]))
def test_any_two_values_can_be_compared(left: Any, right: Any, operator: str) -> None:
    outputs = Outputs({"a": {"v": left, "w": right}})
    assert holds(f"{{{{a.v}}}} {operator} {{{{a.w}}}}", outputs) in (True, False)
