"""Templates: values are data. Whatever a block has said, it changes nothing but the place it stands in."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.places import BadTemplate
from workflows.templates import Outputs, Reference, places, reference, strings

OUTPUTS = Outputs(
    {
        "start": {"input": "Hi", "n": 3, "yes": True, "none": None},
        "a": {"content": "{{start.input}}", "list": [{"x": "first"}, {"x": 2}]},
        "skipped": {},
    }
)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("", ""),
        ("plain { } text", "plain { } text"),
        ("{{start.input}}!", "Hi!"),
        ("{{ start.input }}", "Hi"),
        ("{{start.n}} {{start.yes}} {{start.none}}", "3 true "),
        ("{{a.list[0].x}} {{a.list.1.x}}", "first 2"),
        ("{{a.list}}", '[{"x":"first"},{"x":2}]'),
        ("{{start}}", '{"input":"Hi","n":3,"yes":true,"none":null}'),
        ("{{a.list[9].x}}{{a.nothing}}{{start.input.deeper}}", ""),
        ("{{skipped.content}}", ""),
        ("{{unknown.content}}", ""),
        ("{{secret:KEY}}", "{{secret:KEY}}"),
    ],
)
def test_it_fills_texts(template: str, text: str) -> None:
    assert OUTPUTS.text(template) == text


def test_it_never_reads_a_value_as_a_template() -> None:
    assert OUTPUTS.text("{{a.content}}") == "{{start.input}}"
    assert OUTPUTS.fill({"x": "{{a.content}}"}) == {"x": "{{start.input}}"}


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("{{start.n}}", 3),
        ("{{a.list}}", [{"x": "first"}, {"x": 2}]),
        ("{{skipped.content}}", None),
        ("n = {{start.n}}", "n = 3"),
        ({"{{start.n}}": ["{{start.yes}}", 7, None]}, {"{{start.n}}": [True, 7, None]}),
    ],
)
def test_it_fills_json_values_with_their_types(value: Any, filled: Any) -> None:
    assert OUTPUTS.fill(value) == filled


@pytest.mark.parametrize("name", ["a..b", ".a", "a.", "a[0]", "a[x]", ""])
def test_it_refuses_references_that_are_none(name: str) -> None:
    with pytest.raises(BadTemplate):
        reference(name)


def test_it_reads_references() -> None:
    assert reference("a.list[0].x") == Reference("a", "list[0].x")
    assert reference("a") == Reference("a", "")
    assert [place.name for place in places("{{a.b}} {{secret:K}} {{ c }}")] == ["a.b", "K", "c"]


def test_it_names_where_strings_stand() -> None:
    assert list(strings({"a": ["x", {"b": "y"}], "c": 1}, "data")) == [
        ("x", "data.a[0]"),
        ("y", "data.a[1].b"),
    ]


@given(st.text(), st.text(alphabet="ab {}"))
def test_it_puts_any_value_in_as_it_is(value: str, around: str) -> None:
    template = around.replace("{", "").replace("}", "")
    outputs = Outputs({"a": {"v": value}, "v": {"v": "never"}})
    filled = outputs.text(f"{template}{{{{a.v}}}}{template}")
    assert filled == template + value.replace("\x00", "\ufffd") + template


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='{}.av" \\', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_it_carries_any_json_value_whole(value: Any) -> None:
    outputs = Outputs({"a": {"v": value}})
    assert outputs.fill("{{a.v}}") == value
    if not isinstance(value, str | None):
        assert json.loads(outputs.text("{{a.v}}")) == value
