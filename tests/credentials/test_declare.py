"""Reading the studio file: exact types, paths in every mistake, nothing guessed."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from credentials.declare import Context, FileError, Item, Outcome, entries, env_value, refuse_twins, store
from credentials.models import ProviderConnection


def item(**values: Any) -> Item:
    return Item(values, "chats[0]", optional=["a", "b", "key_env"])


def test_it_names_the_path_of_an_unknown_key() -> None:
    with pytest.raises(FileError) as caught:
        Item({"slug": "x", "colour": 1}, "chats[0]", required=["slug"])
    assert str(caught.value) == "chats[0]: unknown key 'colour'; known are slug."


def test_it_names_a_missing_key() -> None:
    with pytest.raises(FileError, match=r"^chats\[0\]: 'slug' is missing\.$"):
        Item({}, "chats[0]", required=["slug"])


@pytest.mark.parametrize("value", [None, [], "text", 1])
def test_it_refuses_what_is_no_mapping(value: object) -> None:
    with pytest.raises(FileError, match=r"^chats\[0\]: must be a mapping"):
        Item(value, "chats[0]")


def test_it_refuses_keys_that_are_no_text() -> None:
    with pytest.raises(FileError, match="unknown key True"):
        Item({True: 1}, "chats[0]", optional=["on"])


BAD: list[tuple[Callable[[Item], object], object]] = [
    (lambda read: read.text("a"), 12),
    (lambda read: read.text("a"), None),
    (lambda read: read.text("a"), "nul \x00"),
    (lambda read: read.text("a"), "half \ud800"),
    (lambda read: read.text("a", max_length=3), "abcd"),
    (lambda read: read.text("a", empty=False), " \n"),
    (lambda read: read.choice("a", ["x", "y"]), "z"),
    (lambda read: read.flag("a"), 1),
    (lambda read: read.flag("a"), "true"),
    (lambda read: read.whole("a"), True),
    (lambda read: read.whole("a"), 1.0),
    (lambda read: read.whole("a", least=1), 0),
    (lambda read: read.number("a"), True),
    (lambda read: read.number("a"), math.nan),
    (lambda read: read.number("a"), math.inf),
    (lambda read: read.number("a", most=2), 3),
    (lambda read: read.texts("a"), "text"),
    (lambda read: read.entries("a"), {}),
]


@pytest.mark.parametrize(("getter", "value"), BAD)
def test_it_refuses_wrong_values_with_their_path(getter: Callable[[Item], object], value: object) -> None:
    with pytest.raises(FileError, match=r"^chats\[0\]\.a: "):
        getter(item(a=value))


def test_it_names_the_entry_of_a_list() -> None:
    with pytest.raises(FileError, match=r"^chats\[0\]\.a\[1\]: must be text"):
        item(a=["x", 2]).texts("a")


def test_it_reads_values_as_they_are() -> None:
    read = item(a="x", b=2)
    assert (read.text("a"), read.whole("b"), read.number("b")) == ("x", 2, 2.0)
    assert (read.text("key_env", "y"), read.flag("key_env", False), read.whole("key_env", 0)) == (
        "y",
        False,
        0,
    )


def test_it_reads_null_and_absent_alike_where_null_is_allowed() -> None:
    read = item(a=None)
    assert [read.text_or_none(key) for key in ("a", "b")] == [None, None]
    assert read.number_or_none("a") is None
    assert item(a=5).whole_or_none("a") == 5


def test_it_gives_each_entry_its_path() -> None:
    assert entries(["x", "y"], "chats") == [("x", "chats[0]"), ("y", "chats[1]")]


def test_it_refuses_a_name_that_stands_twice() -> None:
    with pytest.raises(FileError, match=r"^chats\[1\]: 'x' is already at chats\[0\]\.$"):
        refuse_twins([("x", "chats[0]"), ("x", "chats[1]")])


def test_it_takes_secrets_from_the_environment() -> None:
    context = Context(env={"KEY": "sk-1", "EMPTY": ""})
    assert env_value(context, item(key_env="KEY"), "key_env") == "sk-1"
    assert env_value(context, item(), "key_env") is None
    for name in ("UNSET", "EMPTY"):
        with pytest.raises(FileError, match=rf"^chats\[0\]\.key_env: .*{name} is not set"):
            env_value(context, item(key_env=name), "key_env")


@pytest.mark.django_db
class TestStore:
    def test_it_says_created_then_unchanged_then_updated(self) -> None:
        def apply(kind: str) -> Outcome:
            row = ProviderConnection.objects.filter(name="local").first() or ProviderConnection(name="local")
            return store(row, {"kind": kind}, "providers[0]", name="local").outcome

        assert [apply("demo"), apply("demo"), apply("openai")] == [
            Outcome.CREATED,
            Outcome.UNCHANGED,
            Outcome.UPDATED,
        ]

    def test_it_gives_validation_errors_their_path(self) -> None:
        with pytest.raises(FileError, match=r"^providers\[0\]\.base_url: An address begins with"):
            store(ProviderConnection(name="x", kind="openai"), {"base_url": "nope"}, "providers[0]", name="x")
