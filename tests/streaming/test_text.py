"""Text as it enters: what any cut of it and any character in it become."""

from hypothesis import given
from hypothesis import strategies as st

from streaming.text import TextStream, clean, clean_json

#: Every kind of character that matters here, the unpaired halves included.
ANY_TEXT = st.text(
    st.one_of(st.characters(codec=None), st.sampled_from("\x00\ud83d\ude00\ud800\udfff\n\u2028é"))
)


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted(place % (len(text) + 1) for place in places)
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


@given(ANY_TEXT)
def test_it_makes_text_that_every_encoder_takes(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\x00" not in cleaned
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_it_leaves_good_text_alone(text: str) -> None:
    assert clean(text) is text


@given(ANY_TEXT, st.lists(st.integers(0, 1000), max_size=6))
def test_it_gives_the_same_text_for_every_cut(text: str, places: list[int]) -> None:
    stream = TextStream()
    fed = [stream.feed(part) for part in cut(text, places)]
    assert "".join(fed) + stream.flush() == clean(text)
    assert all(clean(part) == part for part in fed)
    assert not stream.waits


def test_it_holds_half_a_character_until_the_other_half_comes() -> None:
    stream = TextStream()
    assert stream.feed("a\ud83d") == "a"
    assert stream.waits
    assert stream.feed("") == ""
    assert stream.feed("\ude00b") == "😀b"
    assert not stream.waits


def test_it_gives_up_half_a_character_for_a_replacement() -> None:
    stream = TextStream()
    assert stream.feed("\ud83d") + stream.feed("b") == "\ufffdb"
    assert stream.feed("\ud83d") + stream.flush() == "\ufffd"
    assert stream.flush() == ""


def test_it_replaces_nul_and_lone_halves_one_by_one() -> None:
    assert clean("a\x00b") == "a\ufffdb"
    assert clean("é\x00\ud800\udc00\udc00") == "é\ufffd\U00010000\ufffd"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_it_cleans_every_text_of_a_value(value: object) -> None:
    cleaned = clean_json(value)
    repr(cleaned).encode("utf-8", "strict")
    assert clean_json(cleaned) == cleaned


def test_it_cleans_keys_and_tuples_too() -> None:
    assert clean_json({"a\x00": ("b\ud800", 1)}) == {"a\ufffd": ["b\ufffd", 1]}
