import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs import wording
from studio import charts


def bars(totals: list[float], marked: list[float]) -> charts.Bars:
    labels = [str(index) for index in range(len(totals))]
    return charts.bar_chart(
        "Runs.", labels, totals, marked, say=wording.count, header=("Day", "Runs", "Failed")
    )


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1)), max_size=40))
def test_it_keeps_every_bar_inside_the_plot(days: list[tuple[float, float]]) -> None:
    chart = bars([total for total, _ in days], [total * part for total, part in days])
    for bar in chart.bars:
        assert bar.x >= chart.left
        assert bar.x + bar.width <= chart.right + 0.01
        assert bar.y >= charts.TOP - 0.01
        assert bar.y + bar.height == pytest.approx(chart.base)
        assert bar.marked_height <= bar.height + 0.01


def test_it_draws_a_chart_without_any_runs() -> None:
    assert [bar.height for bar in bars([0, 0], [0, 0]).bars] == [0, 0]
    assert bars([], []).x_ticks == []


def test_it_marks_the_failed_part_from_the_bottom() -> None:
    bar = bars([10], [5]).bars[0]
    assert bar.marked_height == bar.height / 2
    assert bar.marked_y == bar.y + bar.height / 2


def test_it_breaks_a_line_where_a_day_has_no_value() -> None:
    chart = charts.line_chart(
        "Durations.",
        ["a", "b", "c"],
        [("p50", [1.0, None, 2.0])],
        say=wording.duration,
        header=("Day", "p50"),
    )
    assert len(chart.lines[0].parts) == 2
    assert chart.rows == [("a", "1.0 s"), ("b", "–"), ("c", "2.0 s")]


@given(st.floats(1e-6, 1e12))
def test_it_ends_a_scale_at_a_round_number_just_above(value: float) -> None:
    top = charts.round_up(value)
    assert value <= top * 1.00001
    assert top <= value * 5.00001


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (None, "not known"),
        (0.0, "$0.00"),
        (1234.5, "$1,234.50"),
        (0.0042, "$0.0042"),
        (0.00000312, "$0.0000031"),
    ],
)
def test_it_writes_money(dollars: float | None, text: str) -> None:
    assert wording.money(dollars) == text


@pytest.mark.parametrize(
    ("number", "text"), [(840, "840"), (9999, "9,999"), (12400, "12.4k"), (3_000_000, "3M")]
)
def test_it_writes_counts(number: float, text: str) -> None:
    assert wording.count(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.84, "0.8 s"), (12, "12 s"), (200, "3 min 20 s"), (None, "–")]
)
def test_it_writes_durations(seconds: float | None, text: str) -> None:
    assert wording.duration(seconds) == text


def test_it_says_more_fewer_or_as_usual() -> None:
    assert wording.compared(12, 0) == "12 more than usual"
    assert wording.compared(0, 3) == "3 fewer than usual"
    assert wording.compared(3, 3.2) == "as usual"
