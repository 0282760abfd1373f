"""Overlaps, replacements, numbers and keys of JSON, mistakes and failures."""

import pytest

from redaction.engine import Masker, Match, RedactionFailed, RuleError, RuleSpec, compile_rules
from redaction.fold import Folded, Span
from streaming.codes import RunCode
from tests.redaction.values import masker


def pattern(text: str, replacement: str = "") -> RuleSpec:
    return RuleSpec("regex", pattern=text, replacement=replacement)


def test_it_lets_the_longest_match_speak() -> None:
    rules = compile_rules([pattern("abc", "[short]"), pattern("abcd", "[long]")])
    assert rules.mask("xabcdx") == "x[long]x"


def test_it_lets_the_first_rule_speak_among_equals() -> None:
    assert compile_rules([pattern("abc", "[1]"), pattern("a.c", "[2]")]).mask("abc") == "[1]"


def test_it_leaves_no_piece_of_an_overlapped_match() -> None:
    rules = compile_rules([pattern("abcd", "[1]"), pattern("cdefg", "[2]")])
    assert rules.mask("xabcdefgx") == "x[2]x"


def test_it_masks_neighbours_apart() -> None:
    assert compile_rules([pattern("ab")]).mask("ababab") == "[regex][regex][regex]"


@pytest.mark.parametrize("replacement", [r"\1", r"\g<0>", "$0", "&", "{0}", "%s", "[email]", "a@example.org"])
def test_it_never_interprets_a_replacement(replacement: str) -> None:
    rules = compile_rules([RuleSpec("email", replacement=replacement), pattern("(x)", "[x]")])
    assert rules.mask("b@example.org x") == f"{replacement} [x]"


def test_it_ignores_matches_of_nothing() -> None:
    assert compile_rules([pattern("a*")]).mask("xaay") == "x[regex]y"


def test_it_says_where_it_found_what() -> None:
    text = "To a\u200b@example.org or 4111111111111111"
    found = masker("credit_card", "email").find(text)
    assert found == [
        Match(3, 17, 1, "email", "[email]"),
        Match(21, 37, 0, "credit_card", "[credit_card]"),
    ]
    assert [text[match.start : match.end] for match in found] == ["a\u200b@example.org", "4111111111111111"]


def test_it_finds_a_pattern_in_disguise_and_with_accents() -> None:
    rules = compile_rules([pattern("café-\\d+")])
    assert rules.mask("café-12 cafe\u0301-12 café－１２") == "[regex] [regex] [regex]"


def test_it_masks_json_in_keys_values_and_numbers() -> None:
    value = {"a@example.org": [4111111111111111, 12, 1.5, True, None, "x"], "n": {"m": "b@example.org"}}
    assert masker().mask_json(value) == {
        "[email]": ["[credit_card]", 12, 1.5, True, None, "x"],
        "n": {"m": "[email]"},
    }


def test_it_keeps_keys_that_look_alike_once_masked() -> None:
    assert masker("email").mask_json({"a@example.org": 1, "b@example.org": 2}) == {
        "[email]": 1,
        "[email] (2)": 2,
    }


def test_it_keeps_ids_that_look_like_phone_numbers() -> None:
    value = {"order_id": 2125552368, "ids": [2125552368], "phone": 2125552368}
    assert masker("phone").mask_json(value) == {**value, "phone": "[phone]"}


def test_it_reads_a_value_by_the_key_it_stands_under() -> None:
    value = {"ssn": 123456789, "api_key": "abcd1234efgh5678", "note": "abcd1234efgh5678"}
    assert masker().mask_json(value) == {**value, "ssn": "[us_ssn]", "api_key": "[secret_key]"}


def test_it_reads_json_inside_json() -> None:
    assert masker("email").mask_json({"body": '{"m": "a\\u0040example.org"}'}) == {"body": '{"m": "[email]"}'}


def test_it_refuses_what_is_nested_without_end_and_what_is_no_json() -> None:
    endless: list[object] = []
    endless.append(endless)
    for value in (endless, {"x": object()}):
        with pytest.raises(RedactionFailed):
            masker("email").mask_json(value)


MISTAKES = [
    (RuleSpec("nonsense"), "kind", "no such kind"),
    (pattern("a(?=b)"), "pattern", r"look-around is not supported by RE2: \(\?="),
    (pattern("(?<!a)b"), "pattern", "look-around"),
    (pattern(r"(a)\1"), "pattern", "references to groups"),
    (pattern("(?P<x>a)(?P=x)"), "pattern", "references to groups"),
    (pattern("[a"), "pattern", r"missing \]"),
    (pattern("a{1001}"), "pattern", "repetition size"),
    (pattern(""), "pattern", "a pattern is needed"),
    (pattern("a" * 2001), "pattern", "more than 2000"),
    (pattern("\ud800"), "pattern", "half character"),
    (RuleSpec("phone", regions=("XX",)), "regions", "'XX' is no country"),
    (RuleSpec("words"), "words", "at least one"),
    (RuleSpec("words", words=("\u200b",)), "words", "not be empty"),
    (RuleSpec("words", words=("x" * 201,)), "words", "200 characters"),
]


@pytest.mark.parametrize(("spec", "field", "reason"), MISTAKES)
def test_it_names_the_rule_and_what_is_wrong_with_it(spec: RuleSpec, field: str, reason: str) -> None:
    with pytest.raises(RuleError, match=reason) as caught:
        compile_rules([RuleSpec("email"), spec])
    assert (caught.value.field, caught.value.index, caught.value.kind) == (field, 1, spec.kind)
    assert str(caught.value).startswith(f"redaction rule 2 ({spec.kind}): ")


def failing(text: Folded) -> list[Span]:
    raise ValueError(f"cannot read {text.raw}")


def test_it_fails_closed_and_says_nothing_of_the_text() -> None:
    broken = Masker([RuleSpec("email"), RuleSpec("regex")], [lambda text: [], failing])
    for call in (broken.mask, broken.find, broken.mask_document, broken.mask_json):
        with pytest.raises(RedactionFailed) as caught:
            call("PLANTED-77")
        error = caught.value
        assert error.code is RunCode.BLOCK_FAILED
        assert error.detail == "redaction rule 2 (regex) could not run"
        assert [error.__cause__, error.__context__] == [None, None]
        assert "PLANTED-77" not in repr(error)


def test_it_gives_up_a_pattern_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redaction.detectors.patterns.MAX_SECONDS", -1)
    with pytest.raises(RedactionFailed):
        compile_rules([pattern("a")]).mask("aaa")


def test_it_masks_nothing_without_rules() -> None:
    assert compile_rules([]).mask("a@example.org") == "a@example.org"
