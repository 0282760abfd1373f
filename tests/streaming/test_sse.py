"""Frames: one line each, whatever is in the text, and the same values for an independent reader."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming import sse
from streaming.text import clean_json
from tests.streaming.client import decode
from tests.streaming.test_text import ANY_TEXT

MESSAGES = st.lists(
    st.fixed_dictionaries({"blockId": ANY_TEXT, "chunk": ANY_TEXT})
    | st.fixed_dictionaries({"event": st.just("final"), "data": st.dictionaries(ANY_TEXT, ANY_TEXT)}),
    max_size=5,
)


def test_it_writes_compact_json_in_one_line() -> None:
    message = {"blockId": "agent_1", "event": "thinking", "data": 'é "x"\n'}
    assert (
        sse.frame(message)
        == 'data: {"blockId":"agent_1","event":"thinking","data":"é \\"x\\"\\n"}\n\n'.encode()
    )


def test_it_keeps_its_constants() -> None:
    assert sse.PING == b": ping\n\n"
    assert sse.DONE == b'data: "[DONE]"\n\n'
    assert decode(sse.PING + sse.DONE) == ["[DONE]"]


def test_it_joins_frames_and_never_merges_them() -> None:
    first, second = {"blockId": "a", "chunk": "x"}, {"blockId": "a", "chunk": "y"}
    assert sse.frames([first, second]) == sse.frame(first) + sse.frame(second)
    assert sse.frames([]) == b""


@given(MESSAGES)
def test_it_says_the_same_to_an_independent_reader(messages: list[dict[str, Any]]) -> None:
    assert clean_json(decode(sse.frames(messages))) == clean_json(messages)


@given(MESSAGES)
def test_it_writes_no_other_line_end_than_its_own(messages: list[dict[str, Any]]) -> None:
    body = sse.frames(messages)
    # str.splitlines knows more line ends than the event stream does; none of them may be in a frame.
    assert body.decode().splitlines() == [line for message in messages for line in (_line(message), "")]


def _line(message: dict[str, Any]) -> str:
    return sse.frame(message).decode().removesuffix("\n\n")


@pytest.mark.parametrize(
    "text", ["\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_it_escapes_every_line_end(text: str) -> None:
    body = sse.frame({"chunk": f"a{text}b"})
    assert len(body.decode().splitlines()) == 2
    assert decode(body) == [{"chunk": f"a{text}b"}]


@pytest.mark.parametrize("deltas", [["line1\n", "\n", "a\u2028b", "x\x0by", "end\r\n"]])
def test_b014_it_neither_loses_nor_invents_line_breaks(deltas: list[str]) -> None:
    body = sse.frames([{"blockId": "a", "chunk": delta} for delta in deltas])
    assert [message["chunk"] for message in decode(body)] == deltas


def test_it_survives_text_that_nobody_cleaned() -> None:
    assert decode(sse.frame({"blockId": "a", "chunk": "x\ud800"})) == [{"blockId": "a", "chunk": "x\ufffd"}]


def test_it_writes_what_json_cannot_hold_as_null() -> None:
    body = sse.frame({"data": {"cost": float("nan"), "big": 10**40}})
    assert json.loads(body.removeprefix(b"data: ")) == {"data": {"cost": None, "big": 10**40}}
