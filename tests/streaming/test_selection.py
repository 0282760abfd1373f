"""Paths, names of blocks, and what a reference names."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.selection import (
    MAX_LENGTH,
    Offer,
    Selected,
    UnknownOutput,
    as_text,
    collisions,
    is_private,
    look_up,
    normal,
    resolve,
    same,
    selectable,
    steps,
)

AGENT_PATHS = ("content", "model", "tokens", "cost", "toolCalls", "providerTiming")
AGENT_OPAQUE = ("tokens", "toolCalls", "providerTiming")

OFFERS = (
    Offer("agent_1", "First look", True, True, AGENT_PATHS, "content", AGENT_OPAQUE),
    Offer("agent_2", "v1.2 reply", True, False, (*AGENT_PATHS, "mood"), "content", AGENT_OPAQUE),
    Offer("http_1", "", False, False, ("body", "status"), "body", ("body",)),
    Offer("branch_1", "Branch", False, False, (), ""),
)


def named(entry: str) -> tuple[str, str]:
    (selected,) = resolve([entry], OFFERS)
    return selected.block_id, selected.path


# --- Paths --------------------------------------------------------------------------------------------------

VALUE = {"items": [{"n": 1}, [2, 3]], "0": "zero", "a b": {"ü": None}, "text": "abc"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("items[0].n", 1),
        ("items.0.n", 1),
        ("items[1][0]", 2),
        ("items.1.1", 3),
        ("0", "zero"),
        ("a b.ü", None),
        ("text", "abc"),
    ],
)
def test_it_finds(path: str, found: Any) -> None:
    assert look_up(VALUE, path) == found


@pytest.mark.parametrize(
    "path",
    [
        *(
            "missing",
            "items[2]",
            "items.2",
            "items.-1",
            "items[-1]",
            "items.n",
            "text[0]",
            "text.0",
            "text.len",
        ),
        *(
            "items[0].n.x",
            "a b[0]",
            "",
            ".",
            "items.",
            ".items",
            "items..0",
            "items[]",
            "items[x]",
            "items[0]n",
        ),
        *("[0]", "items[9999999999]", "items.9999999999999999999999", "items.١", "__class__", "items.append"),
    ],
)
def test_it_finds_nothing(path: str) -> None:
    with pytest.raises(LookupError):
        look_up(VALUE, path)


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc0"), inner, max_size=3),
    max_leaves=8,
)


def every_path(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """All paths of a value in both spellings."""
    found = [(path, value)] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += every_path(inner, f"{path}.{key}" if path else key)
    if isinstance(value, list) and path:
        for index, inner in enumerate(value):
            found += every_path(inner, f"{path}[{index}]") + every_path(inner, f"{path}.{index}")
    return found


@given(JSON)
def test_it_finds_everything_in_both_spellings(value: Any) -> None:
    for path, inner in every_path(value):
        assert look_up(value, path) is inner
        assert same(path) == same(path.replace("[", ".").replace("]", ""))


@given(st.text(st.sampled_from("ab.[]01 é"), max_size=12))
def test_it_never_fails_on_any_path(path: str) -> None:
    found = steps(path)
    assert found is None or all(step != "" for step in found)
    assert len(same(path)) >= 1


# --- Values as text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ([], "[]"),
        ({"é": [1]}, '{\n  "é": [\n    1\n  ]\n}'),
    ],
)
def test_it_writes_a_string_as_it_is_and_else_indented_json(value: Any, text: str) -> None:
    assert as_text(value) == text


# --- Names of blocks ----------------------------------------------------------------------------------------


def test_it_ignores_case_spaces_dots_hyphens_and_underscores() -> None:
    spellings = ["agent_1", "Agent 1", "AGENT-1", "agent.1", "a g\u00a0e_n-t..1", "ＡＧＥＮＴ１"]
    assert {normal(spelling) for spelling in spellings} == {"agent1"}
    assert normal("Straße") == normal("STRASSE")
    assert normal("agent_1") != normal("agent_11")


@pytest.mark.parametrize(
    ("blocks", "pairs"),
    [
        ([("a", "A"), ("b", "B")], []),
        ([("a", ""), ("b", "")], []),
        ([("agent_1", ""), ("agent-1", "")], [(0, 1)]),
        ([("agent_1", "Look"), ("b", "Agent 1")], [(0, 1)]),
        ([("a", "First look"), ("b", "first.look"), ("c", "FIRST-LOOK")], [(0, 1), (0, 2)]),
        ([("a", "x"), ("a", "x")], [(0, 1)]),
    ],
)
def test_it_notices_blocks_that_could_be_confused(
    blocks: list[tuple[str, str]], pairs: list[tuple[int, int]]
) -> None:
    assert collisions(blocks) == pairs


# --- What a reference names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "block_id", "path"),
    [
        ("agent_1.content", "agent_1", "content"),
        ("agent_1", "agent_1", "content"),
        ("AGENT-1.model", "agent_1", "model"),
        ("First look.tokens.total", "agent_1", "tokens.total"),
        ("firstlook", "agent_1", "content"),
        ("agent.1", "agent_1", "content"),
        ("agent.1.content", "agent_1", "content"),
        ("agent_1..content", "agent_1", "content"),
        ("V1.2 Reply.mood", "agent_2", "mood"),
        ("v1.2 reply", "agent_2", "content"),
        ("http_1.body.items[0]", "http_1", "body.items[0]"),
        ("http_1.body.items.0", "http_1", "body.items.0"),
    ],
)
def test_it_names(entry: str, block_id: str, path: str) -> None:
    assert named(entry) == (block_id, path)


@pytest.mark.parametrize(
    "entry",
    [
        *(
            "",
            ".",
            "nothing",
            "nothing.content",
            "agent_1.",
            "agent_1.contents",
            "agent_1.content.x",
            "agent_1.mood",
        ),
        *(
            "agent_1.content..",
            "agent_1[0]",
            "agent_1.Content",
            "http_1.status.x",
            "http_1.body[",
            "branch_1",
            ".body",
        ),
        *("branch_1.x", " ", "agent_1.content ", "http_1.body" + ".x" * MAX_LENGTH, "." * MAX_LENGTH),
    ],
)
def test_it_names_nothing(entry: str) -> None:
    with pytest.raises(UnknownOutput) as caught:
        resolve(["agent_1", entry], OFFERS)
    assert caught.value.entry == entry
    assert caught.value.selectable == selectable(OFFERS)


def test_it_says_what_can_be_selected() -> None:
    with pytest.raises(
        UnknownOutput, match=r"There is no output 'x'\. What can be selected: h\.body, h\.status\."
    ):
        resolve(["x"], [Offer("h", "", False, False, ("body", "status"), "body")])
    with pytest.raises(UnknownOutput, match=r"nothing\.$"):
        resolve(["x"], [])


def test_it_takes_an_id_before_a_name() -> None:
    offers = [Offer("a", "b", False, False, ("x",), "x"), Offer("b", "c", False, False, ("x",), "x")]
    assert [one.block_id for one in resolve(["b", "c"], offers)] == ["b"]


def test_it_counts_duplicates_once_and_keeps_the_order() -> None:
    entries = ["http_1.status", "Agent 1", "http_1.body.items[0]", "agent_1.content", "http_1.body.items.0"]
    assert [(one.block_id, one.path) for one in resolve(entries, OFFERS)] == [
        ("http_1", "status"),
        ("agent_1", "content"),
        ("http_1", "body.items[0]"),
    ]


def test_it_carries_what_the_block_is() -> None:
    assert resolve(["agent_1", "agent_2.mood", "http_1"], OFFERS) == (
        Selected("agent_1", "content", agent=True, live=True),
        Selected("agent_2", "mood", agent=True, live=False),
        Selected("http_1", "body", agent=False, live=False),
    )


def test_it_keeps_private_paths_of_agents_from_chats() -> None:
    assert selectable(OFFERS, chat=True) == (
        "agent_1.content",
        "agent_2.content",
        "agent_2.mood",
        "http_1.body",
        "http_1.status",
    )
    for entry in ("agent_1.model", "agent_1.tokens.total", "agent_2.toolCalls.list[0].name", "agent_1.cost"):
        assert is_private(*resolve([entry], OFFERS))
    # Another block may call its outputs as it likes.
    assert not is_private(Selected("http_1", "model", agent=False, live=False))


@given(st.text(st.sampled_from("agent_1.content[0] FirstLook-"), max_size=30))
def test_it_resolves_or_refuses_whatever_is_written(entry: str) -> None:
    try:
        (selected,) = resolve([entry], OFFERS)
    except UnknownOutput:
        return
    assert f"{selected.block_id}.{same(selected.path)[0]}" in selectable(OFFERS)
