"""The scenes are what they say: each ending ends so, and what is public does come out."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.noninterference.scenes import ENDINGS, STOPS, Scene

Play = Callable[[Scene, int], dict[str, bytes]]
CODES = {
    "answer": None,
    "answer cut by length": None,
    "unknown tool": None,
    "refused": "PROVIDER_RATE_LIMITED",
    "failed": "PROVIDER_RATE_LIMITED",
    "cut": "PROVIDER_STREAM_BROKEN",
    "fallback": None,
    "stopped in text": "RUN_TIMEOUT",
    "stopped in a call": "RUN_TIMEOUT",
    "stopped in a tool": "RUN_TIMEOUT",
    "endless failures": "TOOL_FAILURE_LIMIT",
    "repetition": None,
    "too many rounds": "MAX_TOOL_ROUNDS",
    "empty": "EMPTY_ANSWER",
    "filtered": "PROVIDER_CONTENT_FILTERED",
    "calls cut by length": "OUTPUT_LIMIT",
    "no structure": "BLOCK_FAILED",
    "fault of ours": "AGENT_RUN_FAILED",
    "no such provider": "PROVIDER_AUTH",
    "rule that fails": "BLOCK_FAILED",
    "rule that is none": "BLOCK_FAILED",
    "other block failed": "PROVIDER_RATE_LIMITED",
}


def scene(ending: str, *, seed: int = 1, redaction: str = "none", **more: Any) -> Scene:
    values = {"negotiated": True, "thinking": True, "tools": True, "locked": False, "listed_site": False}
    return Scene(ending=ending, seed=seed, redaction=redaction, **{**values, **more})


def frames(answer: bytes) -> list[dict[str, Any]]:
    """The frames of a whole answer, the sentinel left out."""
    return [json.loads(line) for line in re.findall(rb"^data: (\{.*)$", answer, flags=re.M)]


@pytest.mark.parametrize("negotiated", [True, False])
@pytest.mark.parametrize("ending", ENDINGS)
def test_each_ending_ends_so(play: Play, ending: str, negotiated: bool) -> None:
    last = frames(play(scene(ending, negotiated=negotiated), 7)["message"])[-1]
    assert (last.get("code") or last["data"].get("code")) == CODES[ending]


@pytest.mark.parametrize("ending", ["stopped in text", "stopped in a tool"])
@pytest.mark.parametrize("number", range(len(STOPS)))
def test_it_stops_in_every_way(play: Play, ending: str, number: int) -> None:
    codes = ["RUN_CANCELLED", "RUN_TIMEOUT", "RUN_INTERRUPTED"]
    assert frames(play(scene(ending, seed=number), 7)["message"])[-1]["code"] == codes[number]


def test_what_is_public_does_come_out(play: Play) -> None:
    kinds = set()
    for seed in range(4):
        told = frames(play(scene("unknown tool", seed=seed), 7)["message"])
        kinds |= {frame.get("event", "chunk") for frame in told}
    assert kinds == {"chunk", "chunk_reset", "thinking", "tool", "final"}


@pytest.mark.parametrize("seed", range(4))
def test_a_rule_finds_the_values(play: Play, seed: int) -> None:
    answer = play(scene("answer", seed=seed, redaction="rules"), 7)["message"]
    assert b"{}" not in answer
    told = [frame["chunk"] for frame in frames(answer) if "chunk" in frame]
    assert len(told) == 1


def test_every_ending_has_a_code() -> None:
    assert set(CODES) == set(ENDINGS)
