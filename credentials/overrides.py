"""What staff may say of a model that the registry does not know, or knows differently.

By model name: `thinking` (full, summary, none), `tools` (whether it calls any), `context_window` in tokens,
`price` in dollars per million tokens.
"""

from typing import Any

from django.core.exceptions import ValidationError

from credentials.declare import FileError, Item

THINKING = ("full", "summary", "none")


def check_overrides(value: object, path: str) -> dict[str, Any]:
    """Return the overrides if they are well formed; raises FileError with the path."""
    if not isinstance(value, dict):
        raise FileError(path, "must be a mapping of model names.")
    for name, override in value.items():
        if not isinstance(name, str) or not name.strip():
            raise FileError(path, "a model's name must be text.")
        _check_override(override, f"{path}.{name}")
    return value


def _check_override(override: object, path: str) -> None:
    item = Item(override, path, optional=("thinking", "tools", "context_window", "price"))
    if "thinking" in item:
        item.choice("thinking", THINKING)
    if "tools" in item:
        item.flag("tools")
    if "context_window" in item:
        item.whole("context_window", least=1)
    if "price" in item:
        price = item.item("price", required=("input", "output"), optional=("cached_input",))
        price.number("input")
        price.number("output")
        price.number_or_none("cached_input")


def validate_overrides(value: object) -> None:
    """The same for forms; raises ValidationError."""
    try:
        check_overrides(value, "models")
    except FileError as error:
        raise ValidationError(str(error)) from error
