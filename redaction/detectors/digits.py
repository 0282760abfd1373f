"""Runs of digit groups, which every kind of number is read from. Pure.

A run is what digits and short separators make without a break: `4000 0012-3456 7899`. A window is some whole
groups of it. UUIDs and dates are no runs (`Folded.numbers`).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from redaction.detectors.patterns import compile_pattern
from redaction.fold import Folded, Span

_DIGITS = re.compile(r"\d+")
_LEAST = 7
#: No kind of number has fewer digits; most texts end at this fast look.
_SEVEN_DIGITS = compile_pattern(r"[0-9](?:[^0-9A-Za-z]{0,4}[0-9]){6}")
#: What may stand between the groups of any number; a phone number has ways of its own.
NUMBER_RUN = re.compile(r"\d+(?:[ \t\r\n.\-_/\u00b7\u2022*|]{1,3}\d+)*+")


class Window(NamedTuple):
    """Some groups of a run: where they are in the text, their digits, and whether they are the whole run."""

    start: int
    end: int
    digits: str
    sizes: tuple[int, ...]
    whole: bool


def runs(folded: Folded, pattern: re.Pattern[str], least: int) -> list[list[Span]]:
    """Return the groups of each run of at least `least` digits."""
    found = folded.runs.get(pattern)
    if found is None:
        found = folded.runs[pattern] = _find_runs(folded, pattern)
    return [groups for groups, count in found if count >= least]


def _find_runs(folded: Folded, pattern: re.Pattern[str]) -> list[tuple[list[Span], int]]:
    if not _SEVEN_DIGITS.search(folded.utf8):
        return []
    found = []
    for run in pattern.finditer(folded.numbers):
        if run.end() - run.start() >= _LEAST:
            groups = [group.span() for group in _DIGITS.finditer(folded.numbers, *run.span())]
            found.append((groups, sum(end - start for start, end in groups)))
    return found


def windows(text: str, groups: list[Span], least: int, most: int, max_groups: int) -> Iterator[Window]:
    """Yield the windows of `least` to `most` digits, from left to right and longest first.

    A window of more than `max_groups` groups counts only if it is the whole run.
    """
    sizes = tuple(end - start for start, end in groups)
    digits = "".join(text[start:end] for start, end in groups)
    #: How many digits stand before each group, and in all.
    before = [0, *accumulate(sizes)]
    for first in range(len(groups)):
        shortest = bisect_left(before, before[first] + least, first + 1)
        longest = bisect_right(before, before[first] + most, first + 1) - 1
        for after in range(longest, shortest - 1, -1):
            whole = after - first == len(groups)
            if whole or after - first <= max_groups:
                inside = digits[before[first] : before[after]]
                yield Window(groups[first][0], groups[after - 1][1], inside, sizes[first:after], whole)


def is_glued(text: str, start: int, end: int) -> bool:
    """Say whether the piece is part of a longer code such as a hash: letters and digits grow out of it."""
    left = start
    while left > 0 and text[left - 1].isascii() and text[left - 1].isalnum():
        left -= 1
    right = end
    while right < len(text) and text[right].isascii() and text[right].isalnum():
        right += 1
    around = text[left:start] + text[end:right]
    return any(char.isdigit() for char in around)


def is_fraction(text: str, window: Window) -> bool:
    """Say whether the window is what stands behind a decimal point: `0.4111111111111111`."""
    start = window.start
    return len(window.sizes) == 1 and start > 1 and text[start - 1] in ".," and text[start - 2].isdigit()


def find_numbers(folded: Folded, length: int) -> Iterator[Window]:
    """Yield every window of exactly `length` digits that stands for itself."""
    text = folded.text
    for groups in runs(folded, NUMBER_RUN, length):
        for window in windows(text, groups, length, length, 6):
            if not is_fraction(text, window) and not is_glued(text, window.start, window.end):
                yield window
