"""Faults of the field in masking, each tried here as it was met."""

import json

import pytest

from redaction.engine import Masker, RedactionFailed, RuleError, RuleSpec, compile_rules
from redaction.fold import Folded, Span
from redaction.settle import SettledTurns
from streaming.events import AgentEvent, AgentFinished, StopReason, TextDelta, TurnEnd, TurnEnded, Usage
from tests.redaction.values import DISGUISES, masker

CARD = "4000 0012 3456 7899"


@pytest.mark.parametrize("one_at_a_time", [False, True])
def test_b108_a_value_split_over_chunks_is_masked(one_at_a_time: bool) -> None:
    parts = ["contact demo.user@exa", "mple.org, card 4000 0012", " 3456 7899."]
    text = "".join(parts)
    events: list[AgentEvent] = [TextDelta(part) for part in (text if one_at_a_time else parts)]
    events += [TurnEnded(TurnEnd.FINAL), AgentFinished(text, 1, StopReason.END_TURN, Usage(), None)]
    turns = SettledTurns(masker("email", "credit_card"))
    out = [said for event in events for said in turns.feed([event])]
    assert out[0] == TextDelta("contact [email], card [credit_card].")
    assert [type(event) for event in out] == [TextDelta, TurnEnded, AgentFinished]


def failing(text: Folded) -> list[Span]:
    raise RuntimeError(f"analyser answered 500 for {text.raw}")


def test_b110_an_invalid_pattern_is_a_mistake_of_the_rule_when_it_is_saved() -> None:
    with pytest.raises(RuleError, match=r"redaction rule 2 \(regex\): not a pattern"):
        compile_rules([RuleSpec("email"), RuleSpec("regex", pattern="(")])


def test_b110_a_detector_that_fails_withholds_the_answer() -> None:
    turns = SettledTurns(Masker([RuleSpec("email"), RuleSpec("presidio")], [lambda text: [], failing]))
    with pytest.raises(RedactionFailed, match=r"redaction rule 2 \(presidio\) could not run"):
        turns.feed([TextDelta(CARD), TurnEnded(TurnEnd.FINAL)])


def test_b113_the_error_of_a_rule_quotes_nothing() -> None:
    with pytest.raises(RedactionFailed) as caught:
        Masker([RuleSpec("regex")], [failing]).mask(CARD)
    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert not any("4000" in repr(link) for link in chain)


CARD_FORMS = [
    ("4000 0012 3456 7899", "[credit_card]"),
    ("4000001234567899", "[credit_card]"),
    ("4000-0012-3456-7899", "[credit_card]"),
    ("4000.0012.3456.7899", "[credit_card]"),
    ("4000\u00a00012\u00a03456\u00a07899", "[credit_card]"),
    ("4000 0012 3456\n7899", "[credit_card]"),
    ("4000\u200b0012\u200b3456\u200b7899", "[credit_card]"),
    ("1111-2222-3333-4445", "1111-2222-3333-4445"),
    ("4000 0012 3456 7898", "4000 0012 3456 7898"),
]


@pytest.mark.parametrize(("text", "expected"), CARD_FORMS)
def test_b115_a_card_number_is_one_with_a_right_check_digit(text: str, expected: str) -> None:
    assert masker("credit_card").mask(f"Card {text}.") == f"Card {expected}."


def test_b115_full_width_digits_are_digits() -> None:
    assert masker("credit_card").mask(DISGUISES["full width"](CARD)) == "[credit_card]"


def test_b115_the_form_says_that_only_valid_numbers_match() -> None:
    from redaction.models import RedactionRule

    assert "only if these are right" in str(RedactionRule._meta.get_field("kind").help_text)


ANSWER = {
    "id": "7e01aa10-2b3c-4d5e-9033-555010020030",
    "created": "2026-12-01",
    "version": "10.20.30.40",
    "price": "1 234 567",
    "order_id": 9876543210,
    "userId": "11987654321",
    "ids": [2125552368, 2125552369],
}


def test_b116_ids_dates_versions_and_prices_stay() -> None:
    text = json.dumps(ANSWER, indent=2)
    rules = masker("phone", "credit_card")
    assert rules.mask(text) == rules.mask_document(text) == text
    assert rules.mask_json(ANSWER) == ANSWER
    sentence = (
        "Order 7e01aa10-2b3c-4d5e-9033-555010020030 of 2026-12-01, version 10.20.30.40, price 1 234 567."
    )
    assert rules.mask(sentence) == sentence


@pytest.mark.parametrize("between", [" ", ", ", "\n", ";"])
def test_b118_every_one_of_several_neighbours_is_masked(between: str) -> None:
    text = between.join(["a@example.org", "b@example.org", "c@example.org"])
    assert masker("email").mask(text) == between.join(["[email]"] * 3)
