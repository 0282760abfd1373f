"""Bodies: inflated within a limit, decoded as what they say they are."""

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.http_body import Inflater, UnknownEncoding, decoded


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    " Deflate ": raw_deflate,
}


@pytest.mark.parametrize("encoding", PACKED)
@given(data=st.binary(max_size=300), cut=st.integers(1, 50))
def test_any_cut_of_a_body_inflates_to_the_same(encoding: str, data: bytes, cut: int) -> None:
    packed, inflater = PACKED[encoding](data), Inflater(encoding)

    made = b"".join(inflater.feed(packed[at : at + cut], 10_000) for at in range(0, len(packed), cut))

    assert made == data


def test_a_bomb_makes_no_more_than_the_limit() -> None:
    bomb = gzip.compress(bytes(10_000_000))

    assert len(Inflater("gzip").feed(bomb, 1000)) == 1000


def test_members_follow_each_other_and_padding_is_ignored() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two") + bytes(20)

    assert Inflater("gzip").feed(packed, 100) == b"one two"


def test_it_says_what_it_cannot_inflate() -> None:
    with pytest.raises(UnknownEncoding, match="br"):
        Inflater("br")
    with pytest.raises(UnknownEncoding, match="broken"):
        Inflater("gzip").feed(b"no gzip at all", 100)


@pytest.mark.parametrize(
    ("body", "kind", "charset", "text"),
    [
        (b"plain", "text/plain", None, "plain"),
        ("ü".encode(), "application/json", None, "ü"),
        ("ü".encode("latin-1"), "text/plain", "iso-8859-1", "ü"),
        ("語".encode("shift_jis"), "text/html", "Shift_JIS", "語"),
        (b"abc\xff" + b"d" * 50, "text/plain", None, "abc\ufffd" + "d" * 50),
        (b"abc\x00def", "text/plain", None, "abc\ufffddef"),
        (b"{}", "application/problem+json", None, "{}"),
        (b"hello", "application/octet-stream", None, "hello"),
        (b"abc", "text/plain", "unicode_escape", "abc"),
        (b"abc", "text/plain", "latin99", "abc"),
        (b"abc", "text/plain", "punycode", "abc"),
        (b"", "text/plain", None, ""),
        (bytes(range(256)) * 4, "application/octet-stream", None, None),
        (b"\x89PNG", "image/png", None, None),
        (b"text really", "application/pdf", None, None),
        (b"\x00" * 300, "text/plain", None, None),
    ],
)
def test_it_decodes_text_and_nothing_else(
    body: bytes, kind: str, charset: str | None, text: str | None
) -> None:
    assert decoded(body, kind, charset) == text
