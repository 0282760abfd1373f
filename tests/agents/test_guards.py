"""The guards of the tool loop, call by call and over any history (agent-runtime-v1 section 4)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.conversation import ToolCall
from agents.guards import Counted, Guards, Refusal, Repeated, Suspended
from agents.tools.base import ToolResult
from streaming.events import Warned, WarningKind

OK, BAD = ToolResult("done"), ToolResult("HTTP 500", is_error=True)


def turn(
    guards: Guards, *calls: tuple[str, str, ToolResult | None]
) -> tuple[list[Refusal | None], list[Warned]]:
    """Admit and count the calls of one turn: name, arguments, and the result if it runs."""
    made = [ToolCall(f"c{i}", name, arguments) for i, (name, arguments, _) in enumerate(calls)]
    refusals = guards.admit(made)
    counted = [
        Counted(one, refusal, refusal.result if refusal else calls[i][2])
        for i, (one, refusal) in enumerate(zip(made, refusals, strict=True))
    ]
    return refusals, guards.count(counted)


def one(
    guards: Guards, arguments: str = "{}", result: ToolResult | None = OK, name: str = "t"
) -> Refusal | None:
    return turn(guards, (name, arguments, result))[0][0]


def test_it_refuses_the_seventh_identical_call_and_goes_on_counting() -> None:
    guards = Guards()

    seen = [one(guards) for _ in range(9)]

    assert seen == [None] * 6 + [Repeated("t", 7), Repeated("t", 8), Repeated("t", 9)]


def test_it_says_what_it_refused_and_why() -> None:
    refusal = Repeated("t", 7)

    assert refusal.warning.kind is WarningKind.TOOL_LOOP_GUARD
    assert refusal.warning.facts == {"tool": "t", "count": 7}
    assert refusal.warning.message == (
        "the platform refused a repeated call because neither the arguments nor the result changed"
        " — this is not a limit on the number of tool calls"
    )
    assert refusal.result.is_error
    assert "refused" in refusal.result.text
    assert "not a limit on the number of tool calls" in refusal.result.text


def test_another_result_is_progress() -> None:
    guards = Guards()

    assert [one(guards, result=ToolResult(f"{n} errors")) for n in range(20)] == [None] * 20


def test_other_arguments_reset_the_count() -> None:
    guards = Guards()
    for _ in range(6):
        one(guards)

    assert one(guards, '{"n":1}') is None
    assert [one(guards) for _ in range(7)] == [None] * 6 + [Repeated("t", 7)]


def test_arguments_are_compared_as_canonical_json() -> None:
    guards = Guards()
    for text in (
        '{"a":1,"b":[2]}',
        '{ "b": [2], "a": 1 }',
        '{"a":1.0,"b":[2e0]}',
        '{"a":1,"\\u0062":[2]}',
    ) * 2:
        refused = one(guards, text)

    assert refused == Repeated("t", 8)


def test_another_tool_between_does_not_reset_the_count() -> None:
    guards = Guards()
    for n in range(6):
        one(guards)
        one(guards, result=ToolResult(str(n)), name="other")

    assert one(guards) == Repeated("t", 7)


def test_calls_of_one_turn_are_admitted_together() -> None:
    guards = Guards()

    refusals, _ = turn(guards, *[("t", "{}", OK)] * 8)

    assert refusals == [None] * 8
    assert one(guards) == Repeated("t", 9)


def test_other_arguments_earlier_in_the_turn_reset_the_count() -> None:
    guards = Guards()
    for _ in range(6):
        one(guards)

    refusals, _ = turn(guards, ("t", "{}", OK), ("t", '{"n":1}', OK), ("t", "{}", OK))

    assert refusals == [Repeated("t", 7), None, None]


def test_a_refused_repeat_is_no_failure() -> None:
    guards = Guards()
    for _ in range(40):
        one(guards)

    assert not guards.exhausted
    assert one(guards, '{"n":1}') is None


def test_it_suspends_a_tool_after_five_failures_in_a_row() -> None:
    guards = Guards()
    warnings = [turn(guards, ("t", f"[{n}]", BAD))[1] for n in range(5)]

    assert warnings[:4] == [[]] * 4
    assert [w.facts for w in warnings[4]] == [{"tool": "t", "count": 5}]
    assert warnings[4][0].kind is WarningKind.TOOL_SUSPENDED
    assert one(guards) == Suspended("t")
    assert "suspended" in Suspended("t").result.text
    assert one(guards, name="other") is None


def test_refusals_of_a_suspended_tool_lead_to_the_end_of_the_run() -> None:
    guards = Guards()
    for n in range(5):
        one(guards, f"[{n}]", BAD)
    for _ in range(9):
        assert isinstance(one(guards), Suspended)
    assert not guards.exhausted

    one(guards)

    assert guards.exhausted


def test_a_tool_that_always_fails_the_same_way_is_suspended_and_not_called_a_loop() -> None:
    guards = Guards()

    seen = [one(guards, result=BAD) for _ in range(15)]

    assert seen == [None] * 5 + [Suspended("t")] * 10
    assert guards.exhausted


def test_fifteen_failures_over_all_tools_end_the_run() -> None:
    guards = Guards()
    for n in range(15):
        assert not guards.exhausted
        one(guards, result=BAD, name=f"t{n}")

    assert guards.exhausted


def test_any_success_resets_both_counts_and_lifts_suspensions() -> None:
    guards = Guards()
    for n in range(14):
        one(guards, f"[{n}]", BAD)

    one(guards, name="other")

    assert one(guards, "[99]", BAD) is None
    assert not guards.exhausted


def test_a_cancelled_call_is_neither() -> None:
    guards = Guards()
    for n in range(4):
        one(guards, f"[{n}]", BAD)
    one(guards, "[4]", None)

    assert one(guards, "[5]", BAD) is None
    assert isinstance(one(guards, "[6]", BAD), Suspended)


def test_parallel_calls_count_in_call_order() -> None:
    guards = Guards()

    _, warnings = turn(guards, *[("t", f"[{n}]", BAD) for n in range(4)], ("u", "{}", OK), ("t", "[9]", BAD))

    assert warnings == []
    for n in range(4):
        assert one(guards, f"[{n}]", BAD) is None
    assert isinstance(one(guards), Suspended)


class Model:
    """The rules told again, in the plainest way: over the whole history of sequential calls."""

    def __init__(self) -> None:
        self.history: list[tuple[str, str, ToolResult]] = []
        self.insisted: dict[str, int] = {}
        self.failures: dict[str, int] = {}
        self.total = 0
        self.exhausted = False

    def expect(self, name: str, arguments: str) -> Refusal | None:
        if self.failures.get(name, 0) >= 5:
            return Suspended(name)
        mine = [(args, result.text) for tool, args, result in self.history if tool == name]
        row = 0
        while row < len(mine) and mine[-1 - row] == mine[-1]:
            row += 1
        if row >= 6 and mine[-1][0] == arguments:
            return Repeated(name, row + 1 + self.insisted.get(name, 0))
        return None

    def note(self, name: str, arguments: str, result: ToolResult, refusal: Refusal | None) -> None:
        if isinstance(refusal, Repeated):
            self.insisted[name] = self.insisted.get(name, 0) + 1
            return
        if refusal is None:
            self.insisted[name] = 0
            self.history.append((name, arguments, result))
        if refusal or result.is_error:
            self.failures[name] = self.failures.get(name, 0) + 1
            self.total += 1
        else:
            self.failures, self.total = {}, 0
        self.exhausted = self.exhausted or self.total >= 15


CALLS = st.tuples(
    st.sampled_from(["a", "a", "a", "b"]),
    st.sampled_from(["{}", "{}", "{}", "[1]"]),
    st.sampled_from([OK, OK, OK, BAD, BAD, ToolResult("other")]),
)
STREAKS = st.lists(st.tuples(CALLS, st.integers(1, 9)), max_size=12)


@given(STREAKS)
@settings(max_examples=60)
def test_any_history_of_single_calls_is_judged_as_the_rules_say(
    streaks: list[tuple[tuple[str, str, ToolResult], int]],
) -> None:
    guards, model = Guards(), Model()
    for (name, arguments, result), times in streaks:
        for _ in range(times):
            expected = model.expect(name, arguments)
            assert one(guards, arguments, result, name) == expected
            model.note(name, arguments, result, expected)
            assert guards.exhausted is model.exhausted


TURNS = st.lists(st.lists(CALLS, min_size=1, max_size=7), max_size=15)


@given(TURNS)
@settings(max_examples=60)
def test_a_turn_runs_nothing_that_was_suspended_or_repeated_before_it(
    turns: list[list[tuple[str, str, ToolResult]]],
) -> None:
    guards, model = Guards(), Model()
    for calls in turns:
        before = {name: model.failures.get(name, 0) for name in ("a", "b")}
        refusals, _ = turn(guards, *calls)
        for (name, arguments, result), refusal in zip(calls, refusals, strict=True):
            assert isinstance(refusal, Suspended) is (before[name] >= 5)
            if isinstance(refusal, Repeated):
                assert refusal == model.expect(name, arguments) or before[name] < 5
            model.note(name, arguments, result, refusal)
        assert guards.exhausted is model.exhausted
