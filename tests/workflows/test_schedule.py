"""When blocks run: each at most once, after all that leads to it, and only if one way to it was taken."""

from hypothesis import given
from hypothesis import strategies as st

from workflows.schedule import Edge, Schedule


def test_it_runs_a_chain_in_order() -> None:
    schedule = Schedule("s", ["s", "a", "b"], [("s", "a"), ("a", "b")])
    assert schedule.begin() == ["s"]
    assert schedule.settle("s") == ["a"]
    assert schedule.settle("a") == ["b"]
    assert schedule.settle("b") == []


def test_it_joins_when_all_ways_are_settled() -> None:
    schedule = Schedule("s", ["s", "a", "b", "j"], [("s", "a"), ("s", "b"), ("a", "j"), ("b", "j")])
    schedule.begin()
    assert schedule.settle("s") == ["a", "b"]
    assert schedule.settle("b") == []
    assert schedule.settle("a") == ["j"]


def test_it_runs_a_join_of_which_one_way_was_taken() -> None:
    edges = [("s", "c"), ("c", "a"), ("c", "b"), ("a", "j"), ("b", "j")]
    schedule = Schedule("s", ["s", "c", "a", "b", "j"], edges)
    schedule.begin()
    schedule.settle("s")
    assert schedule.settle("c", {"a"}) == ["a"]
    assert schedule.settle("a") == ["j"]
    assert [block for block in "scabj" if schedule.is_terminal(block)] == ["b", "j"]


def test_it_skips_all_that_only_skipped_blocks_lead_to() -> None:
    edges = [("s", "c"), ("c", "a"), ("c", "x"), ("x", "y"), ("y", "z"), ("a", "z")]
    schedule = Schedule("s", ["s", "c", "a", "x", "y", "z"], edges)
    schedule.begin()
    schedule.settle("s")
    assert schedule.settle("c", {"a"}) == ["a"]
    assert schedule.settle("a") == ["z"]


def test_it_does_not_wait_for_what_nothing_leads_to() -> None:
    edges = [("orphan", "next"), ("next", "a"), ("s", "b"), ("b", "a")]
    schedule = Schedule("s", ["s", "orphan", "next", "a", "b"], edges)
    assert schedule.begin() == ["s"]
    assert schedule.settle("s") == ["b"]
    assert schedule.settle("b") == ["a"]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[Edge]]:
    blocks = [f"b{number}" for number in range(draw(st.integers(1, 8)))]
    pairs = [(a, b) for i, a in enumerate(blocks) for b in blocks[i + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return blocks, [(source, target) for source, target in edges if target != "b0"]


@given(graphs(), st.data())
def test_it_keeps_its_rule_whatever_is_taken_and_in_which_order(
    graph: tuple[list[str], list[Edge]], data: st.DataObject
) -> None:
    blocks, edges = graph
    schedule = Schedule("b0", blocks, edges)
    ready, ran, taken = list(schedule.begin()), [], set()
    while ready:
        block = ready.pop(data.draw(st.integers(0, len(ready) - 1)))
        ran.append(block)
        targets = {target for source, target in edges if source == block}
        chosen = data.draw(st.sets(st.sampled_from(sorted(targets)))) if targets else set()
        taken |= {(block, target) for target in chosen}
        ready += schedule.settle(block, chosen)
    assert len(ran) == len(set(ran))
    for block in blocks[1:]:
        assert (block in ran) == any(target == block for _, target in taken)
    for source, target in taken:
        assert ran.index(source) < ran.index(target)
    assert {block for block in ran if schedule.is_terminal(block)} == set(ran) - {
        source for source, _ in taken
    }
