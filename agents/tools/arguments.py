"""The arguments text of a call: read, compared and held against the tool's schema. Pure, and no network.

A mistake is a sentence that the model can act on, never an exception.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

import re2
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from streaming.text import clean_json

MAX_MISTAKES = 5
_QUOTE = 200


class BadArguments(ValueError):
    """The arguments cannot be used; the message is for the model."""


def read(text: str) -> dict[str, Any]:
    """Return the arguments; empty text means none were needed. Raises BadArguments."""
    if not text.strip():
        return {}
    try:
        value = _load(text)
    except json.JSONDecodeError as error:
        raise BadArguments(f"{error.msg} at character {error.pos}") from error
    except (ValueError, RecursionError) as error:
        raise BadArguments("they are no JSON that can be read") from error
    if not isinstance(value, dict):
        raise BadArguments("they are not a JSON object")
    return cast(dict[str, Any], clean_json(value))


def canonical(text: str) -> str:
    """The arguments as canonical JSON, for comparing: key order, spacing and 1 or 1.0 make no difference."""
    try:
        return json.dumps(_load(text) if text.strip() else {}, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return text.strip()


def check(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Hold arguments against a tool's schema. Raises BadArguments with the first few mistakes.

    References are looked up in the schema alone: the library's default would fetch them over the network.
    """
    validator = _Validator(schema, registry=Registry())
    try:
        mistakes = list(islice(_mistakes(validator, arguments), MAX_MISTAKES))
    except Exception as error:  # a schema may come from anywhere, and says in many ways that it is none
        raise BadArguments(f"the tool's own schema cannot be used ({type(error).__name__})") from error
    if mistakes:
        raise BadArguments("; ".join(mistakes))


def schema_mistake(schema: Mapping[str, Any]) -> str | None:
    """Why this is no schema for a tool's parameters; None if it is one. For whoever saves a tool."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return _clip(error.message)
    if schema.get("type", "object") != "object":
        return "a tool's parameters must be an object"
    return None


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    """In linear time, whoever wrote the pattern. What needs more than that is left to the tool."""
    try:
        found = not isinstance(value, str) or re2.search(pattern, value)
    except re2.error:
        return
    if not found:
        yield ValidationError(f"{value!r} does not match {pattern!r}")


_Validator = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]  # has no types


def _load(text: str) -> Any:
    return json.loads(text, parse_float=_number, parse_constant=_refuse_constant)


def _number(text: str) -> float | int:
    value = float(text)
    return int(value) if value.is_integer() else value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _mistakes(validator: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    for error in validator.iter_errors(arguments):
        yield f"{_place(error)}: {_clip(error.message)}"


def _place(error: ValidationError) -> str:
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path]
    return _clip("arguments" + "".join(steps))


def _clip(text: str) -> str:
    return text if len(text) <= _QUOTE else text[:_QUOTE] + "…"
