"""Runs of digit groups, which every kind of number is read from. Pure.

A run is what digits and short separators make without a break: `4000 0012-3456 7899`. A window is some whole
groups of it. UUIDs and dates are no runs (`Folded.numbers`).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from redaction.detectors.patterns import compile_pattern
from redaction.fold import Folded, Span

_DIGITS = re.compile(r"\d+")
_SPACED = r"[ \t\r\n.\-_\u00b7\u2022*|]{1,3}"
#: No kind of number has fewer; most texts end at this fast look.
_SEVEN_DIGITS = compile_pattern(r"[0-9](?:[^0-9A-Za-z]{0,4}[0-9]){6}")
SPACED_RUN = re.compile(rf"\d+(?:{_SPACED}\d+)*+")
SLASHED_RUN = re.compile(r"\d+(?:[ \t\r\n.\-_/\u00b7\u2022*|]{1,3}\d+)*+")


class Window(NamedTuple):
    """Some groups of a run: where they are in the text, their digits, and whether they are the whole run."""

    start: int
    end: int
    digits: str
    sizes: tuple[int, ...]
    whole: bool


def runs(folded: Folded, pattern: re.Pattern[str], least: int) -> Iterator[list[Span]]:
    """Yield the groups of each run that may hold `least` digits."""
    if not _SEVEN_DIGITS.search(folded.utf8):
        return
    text = folded.numbers
    for run in pattern.finditer(text):
        if run.end() - run.start() >= least:
            yield [group.span() for group in _DIGITS.finditer(text, *run.span())]


def windows(text: str, groups: list[Span], least: int, most: int, max_groups: int) -> Iterator[Window]:
    """Yield the windows of `least` to `most` digits, from left to right and longest first.

    A window of more than `max_groups` groups counts only if it is the whole run.
    """
    for first in range(len(groups)):
        found: list[tuple[int, str]] = []
        digits = ""
        for last in range(first, len(groups)):
            start, end = groups[last]
            if len(digits) + end - start > most:
                break
            digits += text[start:end]
            if len(digits) >= least and (last - first < max_groups or last - first == len(groups) - 1):
                found.append((last, digits))
        for last, digits in reversed(found):
            sizes = tuple(end - start for start, end in groups[first : last + 1])
            yield Window(groups[first][0], groups[last][1], digits, sizes, len(sizes) == len(groups))


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


def find_numbers(folded: Folded, pattern: re.Pattern[str], length: int) -> Iterator[Window]:
    """Yield every window of exactly `length` digits that stands for itself."""
    text = folded.text
    for groups in runs(folded, pattern, length):
        for window in windows(text, groups, length, length, 6):
            if not is_fraction(text, window) and not is_glued(text, window.start, window.end):
                yield window
