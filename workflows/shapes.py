"""From JSON to a declared shape (a msgspec Struct), with every mistake named and none converted. Pure.

The Struct is the only declaration: reading it is one call. Only a value that does not fit is looked at again,
by the JSON schema of the same Struct, to say everything that is wrong with it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry

from streaming.text import clean
from workflows.problems import Problem

#: Deeper values are refused: many who read them later use recursion.
MAX_DEPTH = 64
#: Larger integers do not survive every reader of JSON.
MAX_NUMBER = 2**53

T = TypeVar("T", bound=msgspec.Struct)

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
_LIMITS = {
    "minimum": "must be at least {}.",
    "maximum": "must be at most {}.",
    "exclusiveMinimum": "must be more than {}.",
    "minItems": "must have at least {} entries.",
    "maxItems": "must have at most {} entries.",
    "maxLength": "must have at most {} characters.",
}


def read(value: Mapping[str, Any], shape: type[T], path: str) -> tuple[T | None, list[Problem]]:
    """Return the value as `shape`, or None and what is wrong with it."""
    try:
        return msgspec.convert(value, shape), []
    except msgspec.ValidationError as error:
        found = [
            problem for mistake in _schema(shape).iter_errors(value) for problem in _explain(mistake, path)
        ]
        return None, list(dict.fromkeys(found)) or [Problem(path, f"{error}.")]


@cache
def _schema(shape: type[msgspec.Struct]) -> Draft202012Validator:
    return Draft202012Validator(msgspec.json.schema(shape), registry=Registry())


def unsafe(value: object, path: str = "") -> Problem | None:
    """What no shape can refuse: texts and numbers that cannot be stored or sent, and too deep nesting."""
    level: list[tuple[object, str]] = [(value, path)]
    for _ in range(MAX_DEPTH):
        inner: list[tuple[object, str]] = []
        for item, at in level:
            match item:
                case str() if clean(item) != item:
                    return Problem(at, "must not hold NUL characters or halves of characters.")
                case float() if not math.isfinite(item):
                    return Problem(at, "must be a finite number.")
                case int() if abs(item) >= MAX_NUMBER:
                    return Problem(at, "is too large a number.")
                case dict() if not all(isinstance(key, str) for key in item):
                    return Problem(at, "must have texts as keys.")
                case dict():
                    inner += ((key, at) for key in item)
                    inner += ((entry, join(at, str(key))) for key, entry in item.items())
                case list():
                    inner += ((entry, f"{at}[{index}]") for index, entry in enumerate(item))
        if not inner:
            return None
        level = inner
    return Problem(path, f"is nested more than {MAX_DEPTH} levels deep.")


def join(path: str, step: str | int) -> str:
    """The path of a key or an index below `path`."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else step


# --- Sentences ----------------------------------------------------------------------------------------------


def _explain(error: ValidationError, path: str) -> Iterator[Problem]:
    at = path
    for step in error.absolute_path:
        at = join(at, step)
    if error.validator == "anyOf":
        yield from _explain_choice(error, path, at)
        return
    for sentence in _sentences(error):
        yield Problem(at, sentence)


def _explain_choice(error: ValidationError, path: str, at: str) -> Iterator[Problem]:
    """One of several shapes was wanted: go on with the only one that the value can have meant."""
    schema: Any = error.schema
    branches: dict[int | str, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [branch for branch in branches.values() if not any(map(_rules_out, branch))]
    if len(meant) == 1:
        for inner in meant[0]:
            yield from _explain(inner, path)
    elif "description" in schema:
        yield Problem(at, f"must be {schema['description']}.")
    elif tags := schema.get("discriminator", {}).get("mapping"):
        yield Problem(at, f"'type' must be one of {', '.join(tags)}.")
    else:
        wanted = [_TYPES[branch["type"]] for branch in schema["anyOf"] if "type" in branch]
        yield Problem(at, f"must be {' or '.join(wanted)}." if wanted else "is not what belongs here.")


def _rules_out(error: ValidationError) -> bool:
    """Whether this mistake shows that the value was not meant to have this shape at all."""
    depth = len(error.relative_path)
    return (depth == 0 and error.validator in ("type", "enum")) or list(error.relative_path) == ["type"]


def _sentences(error: ValidationError) -> Sequence[str]:
    schema: Any = error.schema
    wanted: Any = error.validator_value
    value: Any = error.instance
    if error.validator == "minItems" and wanted == 1:
        return ["must not be empty."]
    if error.validator in _LIMITS:
        return [_LIMITS[error.validator].format(wanted)]
    match error.validator:
        case "type":
            return [f"must be {_TYPES[wanted]}."]
        case "enum" if len(wanted) > 1:
            return [f"must be one of {', '.join(map(str, wanted))}."]
        case "enum":
            return [f"must be {wanted[0]}."]
        case "required":
            return [f"'{key}' is missing." for key in wanted if key not in value]
        case "additionalProperties":
            known = schema.get("properties", {})
            unknown = [key for key in value if key not in known]
            return [f"unknown key {key!r}; known are {', '.join(known)}." for key in unknown]
        case "minLength":
            return ["must not be empty."]
        case "pattern":
            return [f"must be {schema.get('description', f'like {wanted}')}."]
        case _:
            return [f"{error.message}."]
