from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.providers.sse_reader import EventTooLarge, SseEvent, SseReader
from tests.agents.providers.reading import single_bytes


def events(*pieces: bytes) -> list[SseEvent]:
    reader = SseReader()
    found = [event for piece in pieces for event in reader.feed(piece)]
    return found + reader.finish()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_it_reads_every_kind_of_line_end(end: bytes) -> None:
    body = b"data: one" + end + end + b"event: x" + end + b"data:two" + end + end
    assert events(body) == [(b"", b"one"), (b"x", b"two")]
    assert events(*single_bytes(body)) == [(b"", b"one"), (b"x", b"two")]


def test_it_dispatches_an_event_at_its_cr_without_waiting_for_a_possible_lf() -> None:
    reader = SseReader()
    assert reader.feed(b"data: one\r\n\r") == [(b"", b"one")]
    assert reader.feed(b"\ndata: two\r\n\r") == [(b"", b"two")]


def test_it_skips_comments_unknown_fields_and_events_without_data() -> None:
    assert events(b": OPENROUTER PROCESSING\n\nid: 7\nretry: 3\ndata: a\nfoo: b\n\nevent: ping\n\n") == [
        (b"", b"a")
    ]


def test_it_counts_a_last_event_without_its_blank_line_or_line_end() -> None:
    assert events(b"data: a\n\ndata: b\n") == [(b"", b"a"), (b"", b"b")]
    assert events(b"data: a\n\ndata: b") == [(b"", b"a"), (b"", b"b")]


def test_it_joins_data_lines_of_one_event() -> None:
    assert events(b"data: a\ndata:  b\n\n") == [(b"", b"a\n b")]


def test_it_keeps_bytes_that_are_no_line_ends_here() -> None:
    odd = "a\u2028b\x0bc\x85d\x1ce".encode()
    assert events(b"data: " + odd + b"\n\n") == [(b"", odd)]


def test_it_skips_a_byte_order_mark() -> None:
    assert events(b"\xef\xbb\xbfdata: a\n\n") == [(b"", b"a")]


def test_it_reads_an_error_line_as_an_error_event() -> None:
    assert events(b'error: {"code":500}\n\n') == [(b"error", b'{"code":500}')]


def test_it_keeps_what_is_no_event_stream() -> None:
    reader = SseReader()
    assert reader.feed(b'{\n "error":') == []
    assert reader.feed(b' "x"}') == []
    assert reader.finish() == []
    assert reader.stray == b'{\n "error": "x"}\n'


def test_it_refuses_an_endless_line() -> None:
    reader = SseReader(max_bytes=100)
    reader.feed(b"data: " + b"x" * 80)
    with pytest.raises(EventTooLarge):
        reader.feed(b"x" * 80)


def test_it_refuses_an_endless_event() -> None:
    reader = SseReader(max_bytes=100)
    with pytest.raises(EventTooLarge):
        reader.feed(b"data: xxxxxxxxx\n" * 20)


LINES = st.sampled_from(
    [
        b"data: {",
        b"data:",
        b"data: ",
        b"data",
        b": c",
        b":",
        b"event: e",
        b"",
        b"",
        b"x",
        b"id: 1",
        b"data: \xe4\xb8",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(LINES, ENDS)), st.lists(st.integers(0, 200)))
def test_it_finds_the_same_events_however_a_body_is_cut(
    lines: list[tuple[bytes, bytes]], at: list[int]
) -> None:
    body = b"".join(line + end for line, end in lines)
    cuts = sorted({0, len(body), *(place for place in at if place < len(body))})
    pieces = [body[start:end] for start, end in pairwise(cuts)]
    assert events(*pieces) == events(body) == events(*single_bytes(body))


@given(st.lists(st.binary(max_size=8).filter(lambda data: b"\r" not in data and b"\n" not in data)))
def test_it_gives_back_what_was_framed(payloads: list[bytes]) -> None:
    body = b"".join(b"data: " + payload + b"\n\n" for payload in payloads)
    assert events(body) == [(b"", payload) for payload in payloads if payload]
