import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.declare import FileError
from studio import yaml_text

#: What YAML can hold as text; the declarations refuse NUL and lone surrogates anyway.
TEXT = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufeff\ufffe\uffff")
    | st.sampled_from("\n\t")
) | st.sampled_from(
    ["off", "no", "0123", "1e5", ".5", "1_0", "1:30", "2026-01-01", "null", "~", "", "<<", "=", "&a", "*a"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)


@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_it_reads_back_what_it_wrote(document: dict[str, Any]) -> None:
    if document:
        assert yaml_text.read(yaml_text.write(document).encode()) == document


@given(st.binary(max_size=200))
def test_it_answers_any_bytes_with_a_mapping_or_a_file_error(data: bytes) -> None:
    with contextlib.suppress(FileError):
        assert isinstance(yaml_text.read(data), dict)


@pytest.mark.parametrize(
    "word", ["off", "no", "yes", "on", "2026-12-01", "1:30", "0x1F", "1_000", ".inf", ".nan"]
)
def test_it_takes_words_for_text(word: str) -> None:
    assert yaml_text.read(f"a: {word}".encode()) == {"a": word}


def test_it_reads_numbers_booleans_and_null() -> None:
    assert yaml_text.read(b"{a: 1, b: -2.5, c: 1e3, d: true, e: null, f: ~}") == {
        "a": 1,
        "b": -2.5,
        "c": 1000.0,
        "d": True,
        "e": None,
        "f": None,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chats: [{slug: a, slug: b}]", "chats[0].slug: this key stands twice"),
        ("a: &x [1]\nb: *x", "b: aliases"),
        ("a: &x [*x]", "a[0]: aliases"),
        ("a: !!python/object/apply:os.system [id]", "a: the tag"),
        ("a: !!binary aGk=", "a: the tag"),
        ("a: !!int x", "a: 'x' does not suit"),
        ("a: 1e999", "a: this number is too large"),
        ("a: {1: b}", "a: the key 1 must be text"),
        ("a: [1", "line 1: "),
        ("a: 1\n---\nb: 1", "line 2: "),
        ("", "The file must hold sections"),
        ("- a", "The file must hold sections"),
        ("a: " + "[" * 5000, "The file is nested too deeply"),
        ("a: " + "x" * yaml_text.MAX_BYTES, "The file is larger than"),
    ],
)
def test_it_refuses_and_says_where(text: str, said: str) -> None:
    with pytest.raises(FileError) as caught:
        yaml_text.read(text.encode())
    assert str(caught.value).startswith(said)


def test_it_refuses_what_is_not_utf8() -> None:
    with pytest.raises(FileError, match="not UTF-8"):
        yaml_text.read(b"a: \xff")
