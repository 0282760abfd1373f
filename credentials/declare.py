"""The grammar of the studio file, shared by its sections: reading a value with its path, saying what changed.

A mistake is a `FileError` with the path in the file (`chats[0].outputs[1]`). Nothing is guessed or converted:
unknown keys, wrong types and unset `*_env` variables are mistakes. Keys left out keep what is stored.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from streaming.text import clean


class Outcome(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Change:
    """What `apply` did to one object: `path` is its place in the file, `name` what people call it."""

    path: str
    name: str
    outcome: Outcome

    def __str__(self) -> str:
        return f"{self.outcome} {self.path} {self.name}"


class FileError(Exception):
    """A mistake in a studio file. Ends the whole `apply`; its text may be shown to who wrote the file."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


@dataclass(frozen=True)
class Context:
    """What a section may use beside its own items: the environment that `*_env` keys name."""

    env: Mapping[str, str] = field(default_factory=dict)


class Item:
    """One mapping of the file at `path`, checked for its keys when it is made.

    Each getter returns a value of exactly its type or raises FileError. `default` is what an absent key says;
    without one the key is required. The `…_or_none` forms read an absent key and null as None.
    """

    def __init__(
        self, value: object, path: str, *, required: Collection[str] = (), optional: Collection[str] = ()
    ) -> None:
        self.path = path
        self.values = check_mapping(value, path, required=required, optional=optional)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def at(self, key: str) -> str:
        """The path of a key of this mapping."""
        return f"{self.path}.{key}" if self.path else key

    def error(self, key: str, message: str) -> FileError:
        return FileError(self.at(key), message)

    def raw(self, key: str, default: Any = None) -> Any:
        """Return the value as YAML gave it."""
        if key in self.values:
            return self.values[key]
        if default is None:
            raise FileError(self.path, f"'{key}' is missing.")
        return default

    def text(
        self, key: str, default: str | None = None, *, max_length: int = 1_000_000, empty: bool = True
    ) -> str:
        """Return a string. Numbers are not converted, so `slug: 0123` cannot lose its zero unnoticed."""
        value = check_text(self.raw(key, default), self.at(key))
        if not empty and not value.strip():
            raise self.error(key, "must not be empty.")
        if len(value) > max_length:
            raise self.error(key, f"must have at most {max_length} characters.")
        return value

    def text_or_none(self, key: str, *, max_length: int = 1_000_000) -> str | None:
        return None if self.values.get(key) is None else self.text(key, max_length=max_length)

    def choice(self, key: str, allowed: Collection[str], default: str | None = None) -> str:
        """Return one of `allowed`."""
        value = self.text(key, default)
        if value not in allowed:
            raise self.error(key, f"must be one of {', '.join(allowed)}.")
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Return true or false."""
        value = self.raw(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "must be true or false.")
        return value

    def whole(
        self, key: str, default: int | None = None, *, least: int = 0, most: int = 2_147_483_647
    ) -> int:
        """Return a whole number from `least` to `most`."""
        value = self.raw(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(key, f"must be a whole number from {least} to {most}.")
        return value

    def whole_or_none(self, key: str, *, least: int = 0, most: int = 2_147_483_647) -> int | None:
        return None if self.values.get(key) is None else self.whole(key, least=least, most=most)

    def number(
        self, key: str, default: float | None = None, *, least: float = 0, most: float = 1e12
    ) -> float:
        """Return a number from `least` to `most`."""
        value = self.raw(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(key, f"must be a number from {least:g} to {most:g}.")
        return float(value)

    def number_or_none(self, key: str, *, least: float = 0, most: float = 1e12) -> float | None:
        return None if self.values.get(key) is None else self.number(key, least=least, most=most)

    def texts(self, key: str, default: list[str] | None = None) -> list[str]:
        """Return a list of strings."""
        return [check_text(entry, path) for entry, path in entries(self.raw(key, default), self.at(key))]

    def entries(self, key: str) -> list[tuple[Any, str]]:
        """Return the entries of a list, each with its path; an absent list is an empty one."""
        return entries(self.values.get(key, []), self.at(key))

    def item(self, key: str, *, required: Collection[str] = (), optional: Collection[str] = ()) -> "Item":
        """Return a mapping inside this one; an absent one is an empty one."""
        return Item(self.values.get(key, {}), self.at(key), required=required, optional=optional)


def check_mapping(
    value: object, path: str, *, required: Collection[str] = (), optional: Collection[str] = ()
) -> dict[str, Any]:
    """Return `value` if it is a mapping with exactly these keys."""
    if not isinstance(value, dict):
        raise FileError(path, "must be a mapping.")
    for key in value:
        if key not in required and key not in optional:
            raise FileError(path, f"unknown key {key!r}; known are {', '.join([*required, *optional])}.")
    for key in required:
        if key not in value:
            raise FileError(path, f"'{key}' is missing.")
    return value


def check_text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise FileError(path, "must be text (put it in quotes if it looks like a number, a date or yes/no).")
    if clean(value) != value:
        raise FileError(path, "must not hold NUL characters or halves of characters.")
    return value


def entries(value: object, path: str) -> list[tuple[Any, str]]:
    """Return each entry of a list with its path: `chats[0]`, `chats[1]`…"""
    if not isinstance(value, list):
        raise FileError(path, "must be a list.")
    return [(entry, f"{path}[{index}]") for index, entry in enumerate(value)]


def refuse_twins(items: Iterable[tuple[str, str]]) -> None:
    """Refuse a name that stands twice; `items` are pairs of name and path."""
    seen: dict[str, str] = {}
    for name, path in items:
        if name in seen:
            raise FileError(path, f"'{name}' is already at {seen[name]}.")
        seen[name] = path


def env_value(context: Context, item: Item, key: str) -> str | None:
    """Return what the variable named by `item[key]` holds; None if the key is absent: keep what is stored.

    A variable that is named but unset or empty is a mistake.
    """
    if key not in item:
        return None
    variable = item.text(key, empty=False)
    value = context.env.get(variable, "")
    if not value:
        raise item.error(key, f"the environment variable {variable} is not set.")
    return value


def store(instance: models.Model, values: Mapping[str, Any], path: str, *, name: str) -> Change:
    """Set `values` on `instance` and save it if that changes anything; validation errors carry the path."""
    new = instance._state.adding
    # With a default: a new row has no value yet for a relation that must have one.
    changed = [key for key, value in values.items() if getattr(instance, key, None) != value]
    if not new and not changed:
        return Change(path, name, Outcome.UNCHANGED)
    for key in changed:
        setattr(instance, key, values[key])
    try:
        instance.full_clean()
    except ValidationError as error:
        raise _file_error(error, path) from error
    instance.save()
    return Change(path, name, Outcome.CREATED if new else Outcome.UPDATED)


def _file_error(error: ValidationError, path: str) -> FileError:
    for key, messages in error.message_dict.items():
        return FileError(path if key == "__all__" else f"{path}.{key}", " ".join(messages))
    return FileError(path, "is not valid.")
