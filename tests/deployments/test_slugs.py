"""Every title gives an address that works, and none takes one of our own words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.slugs import MAX_LENGTH, is_reserved, slug_for


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Support", "support"),
        ("Ünïcode", "unicode"),
        ("Тестовый чат", "chat-1"),
        ("检索", "chat-1"),
        ("🌍", "chat-1"),
        ("  Orders & returns  ", "orders-returns"),
        ("admin", "admin-1"),
        ("API", "api-1"),
        ("chat", "chat-1"),
    ],
)
def test_b150_every_title_gets_an_address(title: str, slug: str) -> None:
    assert slug_for(title, taken=lambda _: False) == slug


def test_b151_titles_with_the_same_address_get_numbers() -> None:
    taken: set[str] = set()
    for title in ("Привет", "Пока", "検索", "Support", "SUPPORT!", "support"):
        taken.add(slug_for(title, taken.__contains__))
    assert taken == {"chat-1", "chat-2", "chat-3", "support", "support-2", "support-3"}


def test_it_keeps_our_own_words_whatever_their_case() -> None:
    assert is_reserved("Admin")
    assert not is_reserved("administration")


@given(title=st.text(max_size=300), taken=st.sets(st.sampled_from(["chat-1", "chat-2", "a", "a-2", "0"])))
def test_it_always_makes_a_free_slug_that_fits(title: str, taken: set[str]) -> None:
    slug = slug_for(title, taken.__contains__)
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", slug)
    assert len(slug) <= MAX_LENGTH
    assert slug not in taken
    assert not is_reserved(slug)
