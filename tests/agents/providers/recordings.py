"""The recorded provider streams beside the checkout, and what their manifest expects of a reader."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agents.providers.base import ResponseEnded, ResponseFailed
from tests.agents.providers.reading import Outcome

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT.parent / "shared" / "provider-streams"

ABSENT = pytest.mark.skipif(
    not (FOLDER / "manifest.json").exists(), reason="the recordings are not beside this checkout"
)


@dataclass(frozen=True)
class Recording:
    name: str
    expect: dict[str, Any]
    body: bytes

    @property
    def text(self) -> str:
        """What a person reads as the answer: refusals are an answer, thinking inside tags is none."""
        split = self.expect.get("think_tag_split")
        answer: str = split["text"] if split else self.expect["text"]
        return answer + (self.expect.get("refusal") or "")

    @property
    def thinking(self) -> str:
        split = self.expect.get("think_tag_split")
        thinking: str = split["thinking"] if split else self.expect["thinking"]
        return thinking


def names(*families: str) -> list[str]:
    """Return the names of the recordings of some families; none where they are absent."""
    return [entry["file"] for entry in _manifest() if entry["family"] in families]


def recording(name: str) -> Recording:
    entry = next(entry for entry in _manifest() if entry["file"] == name)
    return Recording(name, entry["expect"], (FOLDER / name).read_bytes())


@cache
def _manifest() -> list[dict[str, Any]]:
    path = FOLDER / "manifest.json"
    if not path.exists():
        return []
    entries: list[dict[str, Any]] = json.loads(path.read_text())
    return entries


def numbers(said: Outcome) -> dict[str, int | None]:
    usage = said.ends[0].usage
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_tokens": usage.cached_tokens,
    }


def check_end(said: Outcome, recorded: Recording) -> None:
    (end,) = said.ends
    if recorded.expect["error"]:
        assert isinstance(end, ResponseFailed)
        assert recorded.expect["error"] in end.detail
    else:
        assert isinstance(end, ResponseEnded)
        assert end.closed
        assert end.raw_stop == recorded.expect["stop_reason"]
