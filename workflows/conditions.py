"""Conditions: `operand op operand`, joined by `and` and `or`; `and` binds tighter. Pure.

They are parsed before any value is looked up, so a value is compared and never read. An operand is a place
(`{{block.path}}`), a quoted text, a number, `true`, `false` or `null`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, assert_never

import re2

from agents.places import Place, as_text, pieces
from workflows.templates import Outputs

OPERATORS = ("==", "!=", "contains", "matches", ">", "<")

_TOKEN = re.compile(
    r"""\s*(?:(?P<place>\{\{.*?\}\}) | (?P<text>'[^']*'|"[^"]*") | (?P<number>-?\d+(?:\.\d+)?(?![\w.]))
    | (?P<word>==|!=|>|<|[A-Za-z_]+))""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = {"true": True, "false": False, "null": None}


class ConditionError(ValueError):
    """A condition that is none; the text is a sentence for whoever wrote it."""


@dataclass(frozen=True)
class Literal:
    value: Any


Operand = Place | Literal


@dataclass(frozen=True)
class Comparison:
    left: Operand
    operator: str
    right: Operand


@dataclass(frozen=True)
class IsEmpty:
    operand: Operand


Test = Comparison | IsEmpty


@dataclass(frozen=True)
class Condition:
    """True if all tests of any of its `alternatives` hold."""

    alternatives: tuple[tuple[Test, ...], ...]

    def holds(self, outputs: Outputs) -> bool:
        return any(all(_holds(test, outputs) for test in tests) for tests in self.alternatives)


# --- Reading ------------------------------------------------------------------------------------------------


def parse(text: str) -> Condition:
    """Raises ConditionError, or BadTemplate for a place that is none."""
    reader = _Reader(text)
    alternatives = [[reader.test()]]
    while (word := reader.word("and", "or")) is not None:
        if word == "or":
            alternatives.append([])
        alternatives[-1].append(reader.test())
    reader.end()
    return Condition(tuple(map(tuple, alternatives)))


class _Reader:
    """The tokens of a condition, one after another."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def test(self) -> Test:
        left = self.operand()
        if self.word("is") is not None:
            if self.word("empty") is None:
                raise self._error("'empty'")
            return IsEmpty(left)
        operator = self.word(*OPERATORS)
        if operator is None:
            raise self._error(f"one of {', '.join(OPERATORS)}, is empty")
        right = self.operand()
        if operator == "matches":
            _check_pattern(right)
        return Comparison(left, operator, right)

    def operand(self) -> Operand:
        token = _TOKEN.match(self._text, self._at)
        found = None if token is None else _operand(token)
        if token is None or found is None:
            raise self._error("{{block.path}}, a 'text', a number, true, false or null")
        self._at = token.end()
        return found

    def word(self, *wanted: str) -> str | None:
        """Take the next token if it is one of these words."""
        token = _TOKEN.match(self._text, self._at)
        if token is None or token["word"] not in wanted:
            return None
        self._at = token.end()
        return token["word"]

    def end(self) -> None:
        if self._text[self._at :].strip():
            raise self._error("'and', 'or' or the end")

    def _error(self, wanted: str) -> ConditionError:
        rest = self._text[self._at :].strip()
        where = f"at '{rest[:30]}'" if rest else "at its end"
        return ConditionError(f"the condition needs {wanted} {where}.")


def _operand(token: re.Match[str]) -> Operand | None:
    if token["place"]:
        (place,) = pieces(token["place"])
        assert isinstance(place, Place)
        return place
    if token["text"]:
        if "{{" in token["text"]:
            raise ConditionError(f"{token['text'][:40]} is a text; write {{{{…}}}} without quotes.")
        return Literal(token["text"][1:-1])
    if token["number"]:
        return Literal(json.loads(token["number"]))
    return Literal(_WORDS[token["word"]]) if token["word"] in _WORDS else None


def _check_pattern(operand: Operand) -> None:
    if not isinstance(operand, Literal) or not isinstance(operand.value, str):
        raise ConditionError("'matches' needs a pattern in quotes.")
    try:
        _compiled(operand.value)
    except re2.error as error:
        raise ConditionError(f"'{operand.value[:40]}' is no pattern (RE2): {error}.") from error


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options=options)


# --- Comparing ----------------------------------------------------------------------------------------------


def _holds(test: Test, outputs: Outputs) -> bool:
    match test:
        case IsEmpty(operand=operand):
            return _is_empty(_value(operand, outputs))
        case Comparison(left=left, operator=operator, right=right):
            return _COMPARE[operator](_value(left, outputs), _value(right, outputs))
        case _:
            assert_never(test)


def _value(operand: Operand, outputs: Outputs) -> Any:
    match operand:
        case Literal(value=value):
            return value
        case Place(name=name):
            try:
                return outputs.look_up(name)
            except LookupError:
                return None
        case _:
            assert_never(operand)


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _equal(left: Any, right: Any) -> bool:
    """A text equals a value that is written like it, because models and forms give texts."""
    if left is None or right is None:
        return left is right
    if isinstance(left, str) or isinstance(right, str):
        return _text(left) == _text(right)
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else as_text(value)


def _contains(left: Any, right: Any) -> bool:
    match left:
        case str():
            return right is not None and _text(right) in left
        case list() | tuple():
            return any(_equal(item, right) for item in left)
        case dict():
            return right is not None and _text(right) in left
        case _:
            return False


def _matches(left: Any, right: Any) -> bool:
    return left is not None and _compiled(right).search(_text(left)) is not None


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Numbers by size, also those written as text; two other texts by their characters (as ISO dates are)."""

    def ordered(left: Any, right: Any) -> bool:
        numbers = _number(left), _number(right)
        if None not in numbers:
            return compare(*numbers)
        return isinstance(left, str) and isinstance(right, str) and compare(left, right)

    return ordered


def _number(value: Any) -> float | None:
    if _is_number(value):
        return float(value)
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,300}(\.\d+)?\s*", value):
        return float(value)
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "contains": _contains,
    "matches": _matches,
    ">": _ordered(lambda left, right: bool(left > right)),
    "<": _ordered(lambda left, right: bool(left < right)),
}
