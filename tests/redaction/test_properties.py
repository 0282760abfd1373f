"""What holds for every text: determinism, idempotence, no exception, no planted value survives."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redaction.fold import Folded
from streaming.text import clean
from tests.redaction.values import DISGUISES, PLANTED, RULES, bare, masker, unhurried

#: Text as it may stand around a value: anything, with the pieces that the detectors look out for.
PIECES = st.sampled_from(
    [
        "@",
        ".",
        " ",
        "\n",
        "-",
        "+",
        "(",
        "4111",
        "1111 ",
        "example.org",
        "12.",
        "https://",
        '"',
        ":",
        "DE89",
        "e\u0301",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=10).map("".join)
MASKER = masker()


@unhurried
@given(TEXTS)
def test_it_masks_any_text_the_same_way_each_time(text: str) -> None:
    assert MASKER.mask(text) == masker().mask(text)


@unhurried
@given(TEXTS)
def test_it_masks_what_it_finds_and_nothing_else(text: str) -> None:
    text = clean(text)
    parts: list[str] = []
    done = 0
    for match in MASKER.find(text):
        assert done <= match.start < match.end <= len(text)
        parts += text[done : match.start], match.replacement
        done = match.end
    assert MASKER.mask(text) == "".join([*parts, text[done:]])


@unhurried
@given(st.text(st.characters(codec=None)))
def test_it_takes_any_text_at_all(text: str) -> None:
    MASKER.mask(text)


@unhurried
@given(TEXTS, st.sampled_from(PLANTED), TEXTS)
@example("example.org.12.", ("credit_card", "5500-0000-0000-0004"), "")
def test_it_has_nothing_left_to_mask_afterwards(before: str, planted: tuple[str, str], after: str) -> None:
    once = MASKER.mask(f"{before} {planted[1]} {after}")
    assert MASKER.mask(once) == once


@pytest.mark.parametrize("disguise", DISGUISES)
@unhurried
@given(st.data())
def test_it_lets_no_planted_value_survive(disguise: str, data: st.DataObject) -> None:
    kind, value = data.draw(st.sampled_from(PLANTED))
    before, after = data.draw(TEXTS), data.draw(TEXTS)
    text = f"{before} {DISGUISES[disguise](value)} {after}"
    start, end = len(before) + 1, len(text) - len(after) - 1
    covered: set[int] = set()
    for match in masker(kind).find(text):
        covered.update(range(match.start, match.end))
    left = "".join(char for at, char in enumerate(text) if start <= at < end and at not in covered)
    assert bare(left) == ""


@unhurried
@given(st.lists(st.sampled_from(PLANTED), min_size=2, max_size=5), st.sampled_from([" ", ", ", "\n", ";"]))
def test_it_masks_all_of_several_neighbours(planted: list[tuple[str, str]], between: str) -> None:
    masked = MASKER.mask(between.join(value for _, value in planted))
    for _, value in planted:
        assert value not in masked


@unhurried
@given(st.text())
def test_it_leads_back_from_every_folded_character(text: str) -> None:
    folded = Folded(text)
    last = 0
    for at in range(len(folded.text)):
        start, end = folded.span(at, at + 1)
        assert last <= start < end <= len(text)
        last = start


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_it_sees_through_every_disguise(kind: str, disguise: str) -> None:
    for planted_kind, value in PLANTED:
        if planted_kind == kind:
            masked = masker(kind).mask(f"x {DISGUISES[disguise](value)} x")
            assert masked.replace("\x01", "") == f"x [{kind}] x"
