"""Structured answers: the JSON schema that an author gives, and reading an answer by it. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry

from agents.errors import AgentError
from streaming.codes import RunCode
from streaming.text import clean_json
from workflows import strict_json

_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_SHOWN = 200


def problems(schema: Mapping[str, Any], taken: Collection[str]) -> Iterator[str]:
    """Say why this is no schema of a structured answer. `taken`: names that its fields cannot have."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield f"is no JSON schema: {error.message[:_SHOWN]}."
        return
    if schema.get("type") != "object":
        yield "must describe an object: type: object, with the fields as its properties."
    for name in fields(schema):
        if name in taken:
            yield f"the field '{name}' would hide an output that every agent block has; rename it."


def fields(schema: Mapping[str, Any]) -> list[str]:
    """The fields that an answer can have at its top level, as far as the schema names them."""
    properties = schema.get("properties", {})
    return list(properties) if isinstance(properties, Mapping) else []


def parse(answer: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an answer. Raises AgentError (BLOCK_FAILED) if it is not what the schema says.

    A code fence around the JSON is taken off: models add it whatever they are told.
    """
    fenced = _FENCED.match(answer)
    try:
        value = strict_json.loads(fenced[1] if fenced else answer)
    except ValueError as error:
        raise _failed(f"the answer is no JSON: {error}") from error
    try:
        mistake = next(Draft202012Validator(schema, registry=Registry()).iter_errors(value), None)
    except Exception as error:  # references that lead nowhere say so in many ways
        raise _failed(f"the response_schema cannot be used: {error}") from error
    if mistake is not None:
        raise _failed(f"the answer does not fit the response_schema: {mistake.json_path}: {mistake.message}")
    if not isinstance(value, dict):
        raise _failed("the answer is no JSON object")
    cleaned = clean_json(value)
    assert isinstance(cleaned, dict)
    return cleaned


def _failed(detail: str) -> AgentError:
    return AgentError(RunCode.BLOCK_FAILED, detail)
