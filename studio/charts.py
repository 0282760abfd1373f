"""Small charts as geometry: numbers in, rectangles and lines out. Templates draw them as SVG. Pure.

No script and no inline style, so that a strict content policy holds. Units are those of a 640 × 160 box.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 160
LEFT, TOP, BOTTOM = 44, 10, 22
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - 6, HEIGHT - TOP - BOTTOM


@dataclass(frozen=True)
class Tick:
    """A label on an axis, at `at` units from the left or the top."""

    at: float
    label: str


@dataclass(frozen=True)
class Bar:
    """One day: its whole bar, and the part of it that is marked (failures), measured from the bottom."""

    x: float
    y: float
    width: float
    height: float
    marked_y: float
    marked_height: float
    label: str
    value: str


@dataclass(frozen=True)
class Bars:
    """A bar chart. `sentence` says it in words; `rows` is the same as a table."""

    sentence: str
    bars: Sequence[Bar]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    width = WIDTH
    height = HEIGHT
    left = LEFT
    right = WIDTH - 6
    base = HEIGHT - BOTTOM


@dataclass(frozen=True)
class Line:
    """One line of a chart as SVG points; gaps (None) split it into parts."""

    name: str
    dashed: bool
    parts: Sequence[str]
    last: Tick | None
    last_x: float


@dataclass(frozen=True)
class Lines:
    """A line chart of up to two lines on one axis."""

    sentence: str
    lines: Sequence[Line]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    width = WIDTH
    height = HEIGHT
    left = LEFT
    right = WIDTH - 6
    base = HEIGHT - BOTTOM


def round_up(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten: the end of a scale that people can read."""
    if value < 1e-9:  # nothing that could be seen; below 1e-308 the next line has no power of ten
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * 0.999999)


def bar_chart(
    sentence: str,
    labels: Sequence[str],
    totals: Sequence[float],
    marked: Sequence[float],
    *,
    say: Callable[[float], str],
    header: Sequence[str],
) -> Bars:
    """Bars for `totals`, each with its `marked` part of it. `say` writes a value for people."""
    top = round_up(max(totals, default=0))
    step = PLOT_WIDTH / max(len(labels), 1)
    bars = [
        _bar(index * step, step * 0.7, total, part, top, label, say(total))
        for index, (label, total, part) in enumerate(zip(labels, totals, marked, strict=True))
    ]
    rows = [
        (label, say(total), say(part)) if any(marked) else (label, say(total))
        for label, total, part in zip(labels, totals, marked, strict=True)
    ]
    return Bars(sentence, bars, _x_ticks(labels, step), _y_ticks(top, say), header, rows)


def _bar(x: float, width: float, total: float, part: float, top: float, label: str, value: str) -> Bar:
    height, marked_height = PLOT_HEIGHT * total / top, PLOT_HEIGHT * part / top
    base = HEIGHT - BOTTOM
    return Bar(LEFT + x, base - height, width, height, base - marked_height, marked_height, label, value)


def line_chart(
    sentence: str,
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float | None]]],
    *,
    say: Callable[[float], str],
    header: Sequence[str],
) -> Lines:
    """A line for each (name, values); None is a gap. The first is solid, the others dashed."""
    top = round_up(max((value for _, values in series for value in values if value is not None), default=0))
    step = PLOT_WIDTH / max(len(labels), 1)
    lines = [_line(name, values, index > 0, top, step, say) for index, (name, values) in enumerate(series)]
    rows = [
        (label, *("–" if values[at] is None else say(values[at] or 0.0) for _, values in series))
        for at, label in enumerate(labels)
    ]
    return Lines(sentence, lines, _x_ticks(labels, step), _y_ticks(top, say), header, rows)


def _line(
    name: str,
    values: Sequence[float | None],
    dashed: bool,
    top: float,
    step: float,
    say: Callable[[float], str],
) -> Line:
    parts: list[list[str]] = [[]]
    last, last_x = None, 0.0
    for index, value in enumerate(values):
        if value is None:
            parts.append([])
            continue
        x, y = LEFT + (index + 0.35) * step, HEIGHT - BOTTOM - PLOT_HEIGHT * value / top
        parts[-1].append(f"{x:.1f},{y:.1f}")
        last, last_x = Tick(y, say(value)), x
    return Line(name, dashed, [" ".join(part) for part in parts if part], last, last_x)


def _x_ticks(labels: Sequence[str], step: float) -> list[Tick]:
    """Three or four labels, the first and the last among them."""
    if not labels:
        return []
    count = min(4, len(labels))
    chosen = sorted({round(index * (len(labels) - 1) / max(count - 1, 1)) for index in range(count)})
    return [Tick(LEFT + (index + 0.35) * step, labels[index]) for index in chosen]


def _y_ticks(top: float, say: Callable[[float], str]) -> list[Tick]:
    return [Tick(HEIGHT - BOTTOM - PLOT_HEIGHT * part, say(top * part)) for part in (0.0, 0.5, 1.0)]
