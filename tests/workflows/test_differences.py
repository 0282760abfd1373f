"""Differences between two graphs."""

from typing import Any

import pytest

from tests.workflows.doubles import agent, graph
from workflows.differences import Difference, Kind, differences


def test_equal_graphs_have_none() -> None:
    assert differences(graph(agent("a")), graph(agent("a"))) == []


def test_it_lists_blocks_fields_and_edges() -> None:
    before = graph(agent("a", temperature=0.1, thinking="low"), agent("b"))
    after = graph(agent("a", temperature=0.2, memory="conversation"), agent("c"))
    assert differences(before, after) == [
        Difference(Kind.CHANGED, "a", "temperature", 0.1, 0.2),
        Difference(Kind.ADDED, "a", "memory", after="conversation"),
        Difference(Kind.REMOVED, "a", "thinking", before="low"),
        Difference(Kind.ADDED, "c", after=agent("c")),
        Difference(Kind.REMOVED, "b", before=agent("b")),
        Difference(Kind.ADDED, "", "start→c", after=("start", "c")),
        Difference(Kind.REMOVED, "", "start→b", before=("start", "b")),
    ]


def test_it_says_them_in_words() -> None:
    before, after = graph(agent("a")), graph(agent("a", temperature=1), agent("b"))
    assert [str(difference) for difference in differences(before, after)] == [
        "a temperature added",
        "b added",
        "Edges start→b added",
    ]


def test_the_order_of_keys_and_edges_says_nothing() -> None:
    before = graph(agent("a"), agent("b"))
    after = {
        "edges": before["edges"][::-1],
        "blocks": [dict(reversed(block.items())) for block in before["blocks"]],
    }
    assert differences(before, after) == []


@pytest.mark.parametrize(
    "unfinished", [{}, {"blocks": None}, {"blocks": [7, {}]}, {"edges": {"a": 1}}, {"edges": [3]}]
)
def test_it_bears_with_unfinished_drafts(unfinished: dict[str, Any]) -> None:
    found = differences(graph(agent("a")), unfinished)
    assert {difference.kind for difference in found} == {Kind.REMOVED}
