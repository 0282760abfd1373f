"""A body that never ends costs no more than the limit."""

from collections.abc import Iterator
from typing import Any

import pytest

from runs.body_cap import Message, capped


def receiving(*bodies: bytes) -> tuple[Any, Iterator[Message]]:
    messages: Iterator[Message] = iter(
        [
            *({"type": "http.request", "body": body, "more_body": True} for body in bodies[:-1]),
            {"type": "http.request", "body": bodies[-1], "more_body": False},
            {"type": "http.disconnect"},
        ]
    )

    async def receive() -> Message:
        return next(messages)

    return receive, messages


async def read(receive: Any) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    return body


@pytest.mark.parametrize("bodies", [[b""], [b"abc"], [b"ab", b"", b"cde"], [b"abcde"]])
async def test_it_passes_what_fits(bodies: list[bytes]) -> None:
    receive, _ = receiving(*bodies)
    receive = capped(receive, 5)

    assert await read(receive) == b"".join(bodies)
    assert (await receive())["type"] == "http.disconnect"


@pytest.mark.parametrize("bodies", [[b"abcdefgh"], [b"abc", b"def", b"ghi"], [b"abcdef", b"", b"x" * 9]])
async def test_it_ends_one_byte_after_the_limit_and_drops_the_rest(bodies: list[bytes]) -> None:
    receive, rest = receiving(*bodies)
    receive = capped(receive, 5)

    assert await read(receive) == b"abcdef"
    assert (await receive())["type"] == "http.disconnect"
    assert next(rest, None) is None
