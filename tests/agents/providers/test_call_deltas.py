"""Calls from deltas: `(index, id, name, fragment)` in, (id, name, arguments) out."""

import pytest

from agents.providers.base import CallDelta, CallStarted
from agents.providers.call_deltas import CallDeltas, CallEvent
from agents.providers.tool_names import ToolNames
from tests.agents.providers.reading import outcome

Given = tuple[int | None, str, str, str]


def calls_of(*deltas: Given) -> list[tuple[str, str, str]]:
    calls = CallDeltas(ToolNames())
    events: list[CallEvent] = [event for delta in deltas for event in calls.add(*delta)]
    said = outcome(events + calls.finish())
    return [(call["id"] or "", call["name"], call["arguments"]) for call in said.calls]


TWO = [("a", "add", '{"n":1}'), ("b", "mul", '{"n":2}')]


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        pytest.param([(0, "a", "add", ""), (0, "", "", '{"n'), (0, "", "", '":1}')], TWO[:1], id="usual"),
        pytest.param(
            [(0, "a", "add", '{"n":1}'), (1, "b", "mul", '{"n"'), (1, "", "", ":2}")], TWO, id="two"
        ),
        pytest.param(
            [(0, "a", "add", '{"n'), (1, "b", "mul", '{"n'), (0, "", "", '":1}'), (1, "", "", '":2}')],
            TWO,
            id="interleaved",
        ),
        pytest.param([(None, "a", "add", '{"n":1}'), (None, "b", "mul", '{"n":2}')], TWO, id="no index"),
        pytest.param(
            [(0, "a", "add", '{"n":1}'), (0, "b", "mul", '{"n":2}')], TWO, id="same index, other id"
        ),
        pytest.param(
            [(0, "a", "add", '{"n'), (0, "a", "add", '":1}'), (1, "b", "mul", '{"n":2}')],
            TWO,
            id="id and name repeated",
        ),
        pytest.param([(0, "", "add", ""), (0, "a", "", '{"n":1}')], TWO[:1], id="id comes late"),
        pytest.param(
            [(0, "a", "a", ""), (0, "", "dd", ""), (0, "", "", '{"n":1}')], TWO[:1], id="name in pieces"
        ),
        pytest.param([(0, "a", "a", ""), (0, "a", "add", '{"n":1}')], TWO[:1], id="name growing"),
        pytest.param([(0, "a", "", '{"n":1}'), (0, "", "add", "")], TWO[:1], id="name after arguments"),
        pytest.param(
            [(0, "a", "add", '{"n":1}'), (0, "a", "add", '{"n":1}')], TWO[:1], id="whole call repeated"
        ),
        pytest.param([(0, "a", "add", '{"n":1}'), (0, "", "", "")], TWO[:1], id="empty delta after it"),
        pytest.param(
            [(None, "", "find", '{"q":"red"}'), (None, "", "find", '{"q":"blue"}')],
            [("", "find", '{"q":"red"}'), ("", "find", '{"q":"blue"}')],
            id="b075 same tool twice, no id, no index",
        ),
        pytest.param(
            [(None, "", "date", ""), (None, "", "time", "")],
            [("", "date", ""), ("", "time", "")],
            id="no arguments, no id, no index",
        ),
        pytest.param(
            [(0, "d", "add", '{"n":1}'), (1, "d", "add", '{"n":2}')],
            [("d", "add", '{"n":1}'), ("d", "add", '{"n":2}')],
            id="b076 same id twice",
        ),
        pytest.param([(0, "a", "add", '{"a": 1')], [("a", "add", '{"a": 1')], id="b078 cut off"),
        pytest.param([(0, "a", "add", "")], [("a", "add", "")], id="b078 empty arguments"),
        pytest.param([(None, "", "", "")], [], id="nothing at all"),
        pytest.param([(0, "a", "", '{"n":1}')], [("a", "", '{"n":1}')], id="never named"),
    ],
)
def test_it_tells_calls_apart(deltas: list[Given], expected: list[tuple[str, str, str]]) -> None:
    assert calls_of(*deltas) == expected


THREE = ['{"n":1}', '{"n":2}', '{"n":3}']


def test_b073_three_calls_with_index_0_and_their_own_ids() -> None:
    given = [(0, f"c{at}", "add", text) for at, text in enumerate(THREE, 1)]
    assert calls_of(*given) == [("c1", "add", THREE[0]), ("c2", "add", THREE[1]), ("c3", "add", THREE[2])]


@pytest.mark.parametrize("name", ["add", ""])
@pytest.mark.parametrize("id", ["c1", ""])
def test_b073_three_calls_with_index_0_whose_id_is_missing_or_the_same_after_the_first(
    id: str, name: str
) -> None:
    found = calls_of((0, "c1", "add", THREE[0]), (0, id, name, THREE[1]), (0, id, name, THREE[2]))
    assert [call[2] for call in found] == THREE
    assert [call[1] for call in found] == ["add"] * 3


def test_b080_a_last_delta_that_repeats_what_came_is_dropped() -> None:
    assert calls_of((0, "a", "find", '{"q":"coffee"}'), (0, "", "", 'coffee"}')) == [
        ("a", "find", '{"q":"coffee"}')
    ]


def test_b080_a_continuation_of_complete_arguments_that_repeats_nothing_makes_them_invalid() -> None:
    assert calls_of((0, "a", "find", '{"q":1}'), (0, "", "", " junk"))[0][2] == '{"q":1} junk'


def test_a_nested_object_is_no_next_call() -> None:
    deltas = ['{"a":', '{"b":1}', ',"c":', '{"d":"}"}', "}"]
    assert calls_of((0, "a", "f", ""), *((0, "", "", text) for text in deltas)) == [
        ("a", "f", "".join(deltas))
    ]


def test_a_call_is_announced_at_its_first_fragment_at_the_next_call_and_at_the_end() -> None:
    calls = CallDeltas(ToolNames())
    assert calls.add(0, "a", "first", "") == []
    assert calls.add(1, "b", "second", "") == [CallStarted(0, "a", "first")]
    assert calls.add(1, "", "", "{}") == [CallStarted(1, "b", "second"), CallDelta(1, "{}")]
    assert calls.add(2, "c", "third", "") == []
    assert calls.finish() == [CallStarted(2, "c", "third")]
    assert calls.finish() == []


def test_names_come_back_as_ours() -> None:
    calls = CallDeltas(ToolNames(["catalog.get-item"]))
    assert calls.add(0, "a", "catalog_get-item", "{}")[0] == CallStarted(0, "a", "catalog.get-item")


def test_half_a_character_waits_for_the_next_fragment() -> None:
    assert calls_of((0, "a", "f", '{"x":"\ud83d'), (0, "", "", '\ude00"}')) == [("a", "f", '{"x":"😀"}')]
    assert calls_of((0, "a", "f", '{"x":"\ud83d')) == [("a", "f", '{"x":"\ufffd')]
