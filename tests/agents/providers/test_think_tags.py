from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.providers.think_tags import Kind, Piece, ThinkTags


def split(*deltas: str) -> tuple[str, str]:
    """Return (thinking, text)."""
    pieces = all_pieces(*deltas)
    return (
        "".join(text for kind, text in pieces if kind is Kind.THINKING),
        "".join(text for kind, text in pieces if kind is Kind.TEXT),
    )


def all_pieces(*deltas: str) -> list[Piece]:
    tags = ThinkTags()
    return [piece for delta in deltas for piece in tags.feed(delta)] + tags.flush()


def test_b006_a_closing_tag_cut_in_two_keeps_the_answer() -> None:
    assert split("<think>x</thi", "nk>ANSWER 42") == ("x", "ANSWER 42")


def test_b006_a_comparison_is_not_held_back() -> None:
    tags = ThinkTags()
    words = ["if", "a", "<", "b", "and", "c", ">", "d", "then"]
    assert [tags.feed(word) for word in words] == [[(Kind.TEXT, word)] for word in words]


def test_it_holds_a_first_bracket_only_until_it_can_be_no_tag() -> None:
    tags = ThinkTags()
    assert tags.feed("<") == []
    assert tags.feed(" b") == [(Kind.TEXT, "<"), (Kind.TEXT, " b")]


def test_b008_thinking_that_is_never_closed_stays_thinking() -> None:
    assert split("<think>", "par", "tial") == ("partial", "")
    assert split("<think>partial</thi") == ("partial</thi", "")


def test_a_bracket_at_the_very_end_is_text() -> None:
    assert split("<thin") == ("", "<thin")


@pytest.mark.parametrize(
    "text", ["Use <think> like this", "`<think>`x</think>", "</think>a", "<thinker>a</thinker>"]
)
def test_it_leaves_an_answer_alone_that_speaks_about_tags(text: str) -> None:
    assert split(text) == ("", text)


def test_it_reads_several_blocks_at_the_beginning_and_white_space_around() -> None:
    assert split("\n<think>a</think>\n\n<thinking>b</thinking> c <think>d") == ("ab", "\n\n\n c <think>d")


def test_a_tag_closes_only_its_own_kind() -> None:
    assert split("<thinking>a</think>b</thinking>c") == ("a</think>b", "c")


CUTS = st.lists(st.integers(0, 60))
TEXTS = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "<thinking>", "</thinking>", "<", "a", " ", "\n", "</", "think>"]
    ),
    max_size=8,
).map("".join)


@given(TEXTS, CUTS)
def test_it_splits_the_same_wherever_a_text_is_cut(text: str, at: list[int]) -> None:
    cuts = sorted({0, len(text), *(place for place in at if place < len(text))})
    assert split(*(text[a:b] for a, b in pairwise(cuts))) == split(text) == split(*text)


@given(TEXTS)
def test_it_loses_and_invents_nothing_but_tags(text: str) -> None:
    thinking, answer = split(*text)
    removed = len(text) - len(thinking) - len(answer)
    assert removed >= 0
    if not text.lstrip().startswith(("<think>", "<thinking>")):
        assert (thinking, answer) == ("", text)
