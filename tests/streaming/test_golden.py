"""Whole streams, byte for byte. After a change that is meant, run these with UPDATE_GOLDEN=1 in the
environment, and read the difference.
"""

import os
from pathlib import Path

import pytest

from streaming import sse
from streaming.agent_events_v1 import PROTOCOL, Audience, View
from tests.streaming.client import SHAPES, decode, read
from tests.streaming.runs import told
from tests.streaming.scenarios import SCENARIOS, Scenario

GOLDEN = Path(__file__).parent / "golden" / PROTOCOL
#: Each transcript by its file's name.
CASES = {
    f"{name}.{audience}.{'negotiated' if negotiated else 'plain'}": (name, audience, negotiated)
    for name in SCENARIOS
    for audience in Audience
    for negotiated in (True, False)
}


def body(scenario: Scenario, audience: Audience, negotiated: bool) -> bytes:
    policies = negotiated or audience is Audience.CHAT  # the API refuses them without the protocol
    seen = View(audience, negotiated, policies, policies, scenario.selected)
    return sse.frames(told(seen, *scenario.events)) + sse.DONE


@pytest.mark.parametrize("case", CASES)
def test_it_writes_this_stream(case: str) -> None:
    name, audience, negotiated = CASES[case]
    written = body(SCENARIOS[name], audience, negotiated)
    golden = GOLDEN / f"{case}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_bytes(written)
    assert written.decode() == golden.read_bytes().decode()


@pytest.mark.parametrize("case", CASES)
def test_it_says_all_of_it_to_a_conforming_client(case: str) -> None:
    name, audience, negotiated = CASES[case]
    *messages, sentinel = decode(body(SCENARIOS[name], audience, negotiated))
    assert sentinel == "[DONE]"
    client = read(messages)
    assert client.terminal is not None
    if client.terminal["event"] == "final" and client.terminal["data"]["success"]:
        for block_id, output in client.terminal["data"]["output"].items():
            if "content" in output and name != "structured-answer":  # whose fields are selected, not content
                assert client.text(block_id) == output["content"]


def test_it_has_no_transcript_of_a_stream_that_is_not_tested() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


def test_it_uses_every_frame_of_the_protocol_and_no_other() -> None:
    used = {
        (message.get("event"), message.get("phase"))
        for name, audience, negotiated in CASES.values()
        for message in decode(body(SCENARIOS[name], audience, negotiated))[:-1]
    }
    assert used == set(SHAPES)
    assert used == {
        (None, None),
        ("chunk_reset", None),
        ("thinking", None),
        ("tool", "start"),
        ("tool", "end"),
        ("stream_error", None),
        ("final", None),
        ("error", None),
    }


#: What the scenarios hide, by its mark.
MARKED = ("ELM-5", "MAPLE-31", "CEDAR-12", "BIRCH-7", "LARCH-2", "MADE-UP", "llama", "0.25")


@pytest.mark.parametrize("case", [case for case in CASES if ".chat." in case])
def test_b001_it_writes_nothing_hidden_for_a_chat(case: str) -> None:
    name, audience, negotiated = CASES[case]
    written = body(SCENARIOS[name], audience, negotiated).decode()
    assert [mark for mark in MARKED if mark in written] == []
