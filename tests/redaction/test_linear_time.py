"""No text makes a rule slow: four times the text costs about four times the time, not sixteen."""

import gc
from collections.abc import Callable
from time import process_time

import pytest

from redaction.engine import Masker, RuleSpec, compile_rules
from tests.redaction.values import RULES, masker

NASTY = [
    *("a", "@", "a@", "a@b.", "1", "1 ", "1-", "0", "4111 ", "11987654321 ", "+1", "+1 2", "(", "a.", "a.b"),
    *(
        "www.",
        "http://",
        "http://a",
        "a://",
        "a.com/",
        ")",
        "://:",
        ":",
        "::",
        "1:",
        "1.",
        "f",
        "ab12",
        "DE89",
    ),
    *(
        "sk-",
        "sk-a1",
        "eyJ",
        "token ",
        "api_key=",
        "-----BEGIN PRIVATE KEY-----",
        "Project ",
        "\u200b",
        "e\u0301",
    ),
    *(
        "\u0301",
        "\uff11",
        "项",
        '"',
        '"a":',
        '{"a":',
        '"id": [',
        "[",
        "ORD-",
        '"x@',
        "%40",
        "&#64;",
        "\\",
        "'",
    ),
    *("._%+-", "2026-12-01 ", "é "),
]


def seconds(rules: Masker, text: str) -> float:
    gc.disable()
    try:
        started = process_time()
        rules.mask_document(text)
        return process_time() - started
    finally:
        gc.enable()


def grows_linearly(rules: Masker, piece: str, size: int) -> bool:
    """Compare the best of a few measurements; a quadratic rule misses this by far."""
    small, large = (piece * (count // len(piece)) + "!" for count in (size, 4 * size))
    return any(seconds(rules, large) < max(8 * seconds(rules, small), 0.02) for _ in range(4))


@pytest.mark.parametrize("piece", NASTY)
def test_it_takes_time_in_proportion_to_the_text(piece: str) -> None:
    assert grows_linearly(masker(), piece, 4_000)


@pytest.mark.parametrize("make", [lambda text: text, lambda text: text + "b", lambda text: "é" + text])
def test_b110_a_catastrophic_pattern_is_harmless(make: Callable[[str], str]) -> None:
    rules = compile_rules([RuleSpec("regex", pattern="(a+)+$"), RULES["email"]])
    started = process_time()
    masked = rules.mask(make("a" * 100_000) + " x@example.org")
    assert process_time() - started < 2
    assert masked.endswith(" [email]")
