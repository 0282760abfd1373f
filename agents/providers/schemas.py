"""JSON schemas as vendors with strict structured output read them. Pure."""

from collections.abc import Mapping
from typing import Any


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Say whether every object in a schema is closed and requires all it names, as strict output demands."""
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(properties):
            return False
    return all(is_strict(inner) for inner in _inner(schema))


def _inner(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found: list[Any] = []
    for key in ("properties", "$defs", "definitions"):
        found.extend(schema.get(key, {}).values())
    for key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        found.extend(schema.get(key, ()))
    found.append(schema.get("items"))
    return [inner for inner in found if isinstance(inner, Mapping)]
