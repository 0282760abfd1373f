"""Secrets: where they may go, and that they never come back."""

import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.secrets import Mask, Secret

KEY = Secret("ORDER_KEY", 's3cr&t/"key" ü', ("orders.example.com", "localhost:9000", "[::1]:80"))


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("orders.example.com", 443, True),
        ("ORDERS.example.com.", 8443, True),
        ("x.orders.example.com", 443, False),
        ("orders.example.com.evil.test", 443, False),
        ("orders-example.com", 443, False),
        ("localhost", 9000, True),
        ("localhost", 9001, False),
        ("::1", 80, True),
        ("::1", 81, False),
        ("", 443, False),
    ],
)
def test_it_may_go_to_its_own_hosts_only(host: str, port: int, allowed: bool) -> None:
    assert KEY.may_go_to(host, port) is allowed


def test_it_is_not_shown_by_accident() -> None:
    assert KEY.value not in repr(KEY)


@pytest.mark.parametrize(
    "form",
    [
        str,
        html.escape,
        quote,
        quote_plus,
        lambda value: quote(value, safe=""),
        lambda value: quote(value, safe="").replace("%2F", "%2f"),
        lambda value: json.dumps({"authorization": value}),
        lambda value: json.dumps({value: 1}, ensure_ascii=False),
        lambda value: json.dumps(value).replace("/", "\\/"),
        lambda value: json.dumps(value).replace("00fc", "00FC"),
    ],
)
def test_b120_it_is_masked_in_every_form_of_an_echo(form: object) -> None:
    assert callable(form)
    echoed = f"before {form(KEY.value)} after"

    masked = Mask([KEY]).text(echoed)

    assert "s3cr" not in masked
    assert "{{secret:ORDER_KEY}}" in masked


def test_a_secret_that_holds_another_is_masked_whole() -> None:
    mask = Mask([Secret("SHORT", "abc", ()), Secret("LONG", "abcdef", ())])

    assert mask.text("abcdef abc") == "{{secret:LONG}} {{secret:SHORT}}"


def test_an_empty_secret_masks_nothing() -> None:
    assert Mask([Secret("EMPTY", "", ())]).text("text") == "text"


@given(st.text(alphabet="abcXYZ019/+=", min_size=6, max_size=30), st.integers(4, 30), st.text(max_size=5))
def test_the_beginning_of_a_secret_at_a_cut_is_masked(value: str, length: int, before: str) -> None:
    beginning = value[: min(length, len(value) - 1)]

    masked = Mask([Secret("KEY", value, ())]).text(before + beginning, cut=True)

    assert not masked.endswith(beginning)
