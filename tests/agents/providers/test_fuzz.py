"""Broken streams: cut, repeated, reordered, corrupted. They never crash a reader and always end once."""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.providers.base import Reader
from agents.providers.chat_completions.reader import ChatCompletionsReader
from agents.providers.openai_responses.reader import ResponsesReader
from tests.agents.providers.reading import outcome, read

WIRE = Path(__file__).parent / "wire"
READERS: dict[str, Callable[[], Reader]] = {
    "chat_completions": ChatCompletionsReader,
    "openai_responses": ResponsesReader,
}

LINES = {
    kind: sorted({line for path in (WIRE / kind).glob("*.sse") for line in path.read_bytes().splitlines()})
    for kind in READERS
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def corrupted(draw: st.DrawFn, lines: list[bytes]) -> bytes:
    """A line with bytes changed, dropped, doubled or put in."""
    line = bytearray(draw(st.sampled_from(lines)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(line)))
        end = draw(st.integers(at, min(len(line), at + 20)))
        line[at:end] = draw(st.binary(max_size=4) | st.just(bytes(line[at:end] * 2)) | st.just(b"null"))
    return bytes(line)


def bodies(kind: str) -> st.SearchStrategy[bytes]:
    line = st.sampled_from(LINES[kind]) | corrupted(LINES[kind]) | st.binary(max_size=30) | st.just(b"")
    end = st.sampled_from([b"\n", b"\n\n", b"\r\n\r\n", b"\r", b""])
    return st.lists(st.tuples(line, end), max_size=30).map(lambda pairs: b"".join(a + b for a, b in pairs))


@pytest.mark.parametrize("kind", READERS)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_body_ends_once_and_the_same_however_it_is_cut(kind: str, data: st.DataObject) -> None:
    body = data.draw(bodies(kind))
    cuts = sorted({0, len(body), *data.draw(st.lists(st.integers(0, len(body)), max_size=20))})
    whole = read(READERS[kind](), [body])
    assert read(READERS[kind](), [body[a:b] for a, b in pairwise(cuts)]) == whole
    outcome(whole)


@pytest.mark.parametrize("kind", READERS)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_type_in_any_place_ends_once(kind: str, data: st.DataObject) -> None:
    """Every value of a real event is replaced by any other, one at a time."""
    event = data.draw(st.sampled_from([line for line in LINES[kind] if line.startswith(b"data: {")]))
    end = data.draw(st.sampled_from([b"\n\n", b"\n"]))
    odd = data.draw(swapped(event[6:]))
    outcome(read(READERS[kind](), [b"data: " + odd + end, event + end]))


@st.composite
def swapped(draw: st.DrawFn, payload: bytes) -> bytes:
    try:
        document = json.loads(payload)
    except ValueError:
        return payload
    places = list(_places(document))
    holder, key = draw(st.sampled_from(places))
    holder[key] = draw(JSON)
    return json.dumps(document).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from _places(inner)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield value, at
            yield from _places(inner)


@pytest.mark.parametrize("kind", READERS)
def test_deep_nesting_and_huge_numbers_are_read_without_a_crash(kind: str) -> None:
    deep = b'{"choices":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    huge = b"9" * 9_000
    for payload in (
        b"[" * 100_000,
        deep,
        *(b'{"%s":%s}' % (key, huge) for key in (b"usage", b"x", b"error")),
    ):
        read(READERS[kind](), [b"data: " + payload + b"\n\n"])
