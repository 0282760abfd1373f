"""When things happened in a run of an agent: one clock for durations, anchored once to the wall's time."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec

SegmentType = Literal["model", "tool"]


class Segment(msgspec.Struct, frozen=True):
    """One model call or one executed tool call; times are seconds on the timeline's clock."""

    type: SegmentType
    name: str
    started: float
    ended: float


def milliseconds(seconds: float) -> int:
    return round(max(seconds, 0.0) * 1000)


class Timeline:
    """Starts when it is made. `clock` counts seconds and never goes back; `wall` is asked once."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.now = clock
        self._wall, self._started = wall(), clock()
        self._ended: float | None = None
        self._segments: list[Segment] = []

    def at(self, instant: float) -> datetime:
        """The date and time of an instant of the clock."""
        return self._wall + timedelta(seconds=instant - self._started)

    def add(self, type: SegmentType, name: str, started: float) -> None:
        """A segment ends now."""
        self._segments.append(Segment(type, name, started, self.now()))

    def stop(self) -> None:
        """The run is over; later readings say the same."""
        if self._ended is None:
            self._ended = self.now()

    def provider_timing(self) -> dict[str, Any]:
        """The `providerTiming` of agent-events-v1 section 5: ISO 8601 times, durations in milliseconds."""
        ended = self.now() if self._ended is None else self._ended
        segments = [
            {"type": segment.type, "name": segment.name, **self._span(segment.started, segment.ended)}
            for segment in self._segments
        ]
        return {**self._span(self._started, ended), "timeSegments": segments}

    def _span(self, started: float, ended: float) -> dict[str, Any]:
        return {
            "startTime": iso(self.at(started)),
            "endTime": iso(self.at(ended)),
            "duration": milliseconds(ended - started),
        }


def iso(moment: datetime) -> str:
    """ISO 8601 with milliseconds and Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
