"""Templates of requests: each value is data in its place."""

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from agents.http_request import HttpFailure, HttpRequest
from agents.http_template import HttpTemplate
from agents.places import BadTemplate, Place
from agents.secrets import Secret

HOST = "https://orders.example.com"
KEY = Secret("KEY", 's3cret "value"&/', ("orders.example.com",))


def filled(template: HttpTemplate, **values: Any) -> HttpRequest:
    return template.fill(values.__getitem__, {"KEY": KEY})


def body_of(template: HttpTemplate, **values: Any) -> str:
    made = filled(template, **values).body
    assert made is not None
    return made.text


def test_it_puts_values_into_every_place() -> None:
    template = HttpTemplate(
        "post",
        HOST + "/orders/{id}/{{part}}?q={{q}}",
        {"Authorization": "Bearer {{secret:KEY}}", "X-Id": "{id}"},
        {"page": "{{page}}"},
        {"id": "{{id}}", "note": "about {{q}}", "list": ["{{page}}"]},
        singles=frozenset({"id"}),
    )

    made = filled(template, id="a b", part="x/y", q="1&2=3", page=4)

    assert str(made.url) == HOST + "/orders/a%20b/x%2Fy?q=1%262%3D3&page=4"
    assert made.headers["Authorization"].text == f"Bearer {KEY.value}"
    assert made.headers["X-Id"].text == "a b"
    assert made.body is not None
    assert json.loads(made.body.text) == {"id": "a b", "note": "about 1&2=3", "list": [4]}
    assert made.headers["Content-Type"].text == "application/json"
    assert made.secrets == {KEY}


def test_it_names_its_places() -> None:
    template = HttpTemplate(
        "POST", HOST + "/{{a}}?x={{b}}", {"K": "{{secret:KEY}}"}, {"c": "{{c}}"}, {"d": ["{{d}}"]}
    )

    assert set(template.places()) == {
        Place("a"),
        Place("b"),
        Place("KEY", secret=True),
        Place("c"),
        Place("d"),
    }


@pytest.mark.parametrize(
    "template",
    [
        {"method": "TRACE"},
        {"url": "ftp://x/"},
        {"url": "/path"},
        {"url": "https://{{host}}/"},
        {"url": "https://{{host}}.example.com/"},
        {"url": "https://{host}/"},
        {"url": "{{url}}"},
        {"url": HOST + "/{{ not a name }}"},
        {"headers": {"Host": "x"}},
        {"headers": {"X-A": "{{"}},
        {"method": "GET", "body": {}},
        {"method": "POST", "body": '{"id": {{id}'},
        {"method": "POST", "body": '{"id": "{{id}}" oops}'},
        {"method": "POST", "body": {"deep": ["{{ no"]}},
    ],
)
def test_it_refuses_what_can_never_work(template: dict[str, Any]) -> None:
    with pytest.raises(BadTemplate):
        HttpTemplate(**{"method": "GET", "url": HOST, **template})


@pytest.mark.parametrize("value", ["..", ".", "../admin", "a/../../b", "..\\x", "", " ", None])
def test_a_value_cannot_lead_to_another_path(value: Any) -> None:
    with pytest.raises(HttpFailure):
        filled(HttpTemplate("DELETE", HOST + "/orders/{{id}}"), id=value)


def test_a_path_needs_its_value_and_a_header_or_query_does_without() -> None:
    with pytest.raises(HttpFailure, match="needs a value for id"):
        filled(HttpTemplate("GET", HOST + "/{{id}}"))

    made = filled(HttpTemplate("GET", HOST + "/?a={{x}}", {"X-A": "v {{x}}"}, {"b": "{{x}}", "c": "1"}))

    assert str(made.url) == HOST + "/?a=&c=1"
    assert made.headers == {}


def test_a_missing_value_is_left_out_of_an_object() -> None:
    template = HttpTemplate("POST", HOST, body={"a": "{{x}}", "b": ["{{x}}"], "c": "v {{x}}"})

    assert json.loads(body_of(template)) == {"b": [None], "c": "v "}


def test_a_secret_that_does_not_exist_is_a_failure() -> None:
    with pytest.raises(HttpFailure, match="OTHER does not exist"):
        filled(HttpTemplate("GET", HOST, {"K": "{{secret:OTHER}}"}))


def test_a_secret_in_address_or_body_is_escaped_for_its_place() -> None:
    template = HttpTemplate("POST", HOST + "/x?key={{secret:KEY}}", body='{"key": "{{secret:KEY}}"}')

    made = filled(template)

    assert made.url.query["key"] == KEY.value
    assert made.body is not None
    assert json.loads(made.body.text) == {"key": KEY.value}
    assert made.url_secrets == made.body.secrets == {KEY}


def test_a_value_is_never_a_template() -> None:
    template = HttpTemplate("POST", HOST + "/{{a}}", {"X-A": "{{a}}"}, body={"a": "{{a}}", "b": "x {{a}}"})

    made = filled(template, a="{{secret:KEY}}")

    assert made.secrets == frozenset()
    assert made.headers["X-A"].text == "{{secret:KEY}}"
    assert made.body is not None
    assert json.loads(made.body.text) == {"a": "{{secret:KEY}}", "b": "x {{secret:KEY}}"}


def test_a_line_break_cannot_get_into_a_header() -> None:
    with pytest.raises(HttpFailure, match="X-A"):
        filled(HttpTemplate("GET", HOST, {"X-A": "{{a}}"}), a="x\r\nX-Evil: 1")


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(ANY_JSON)
def test_any_value_stays_one_value_in_a_json_text(value: Any) -> None:
    template = HttpTemplate("POST", HOST, body='{"whole": {{v}}, "part": "a \\"{{v}}\\" z", "end": 1}')

    read = json.loads(body_of(template, v=value))

    assert read["whole"] == value
    assert read["end"] == 1
    assert read["part"].startswith('a "')
    if isinstance(value, str):
        assert read["part"] == f'a "{value}" z'


@given(ANY_TEXT)
def test_any_value_stays_one_parameter_of_a_query_or_form(value: str) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    template = HttpTemplate("POST", HOST + "/?a={{v}}&b=1", form, {"c": "x{{v}}"}, "d={{v}}&e=1")

    made = filled(template, v=value)

    assert list(URL(str(made.url)).query.items()) == [("a", value), ("b", "1"), ("c", "x" + value)]
    assert made.body is not None
    assert parse_qsl(made.body.text, keep_blank_values=True) == [("d", value), ("e", "1")]


@given(ANY_TEXT)
def test_any_value_stays_one_step_of_a_path(value: str) -> None:
    try:
        made = filled(HttpTemplate("GET", HOST + "/a/{{v}}/b"), v=value)
    except HttpFailure:
        return
    steps = made.url.raw_path.split("/")
    assert len(steps) == 4
    assert (steps[1], steps[3]) == ("a", "b")
    assert made.url.raw_query_string == made.url.raw_fragment == ""
