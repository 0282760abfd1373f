"""JSON as every database takes it: both refuse NUL, lone surrogates and NaN, each in its own way. Pure."""

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from streaming.text import clean


def storable(value: object) -> Any:
    """Return `value` as plain JSON: text cleaned, numbers finite (else None), structs as built-ins."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return clean(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {clean(str(key)): storable(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [storable(item) for item in value]
        case _:
            return storable(msgspec.to_builtins(value, enc_hook=str))
