"""What model calls have used and cost. A price is never guessed: a cost with an unknown price is unknown.

Where a provider stated no count (its stream was cut, or it never states any), totals hold our own estimate
and say so; the event of a single round holds only what was stated.
"""

import msgspec

from agents.spec import Price
from streaming.events import Usage

#: A token of ordinary text is about four characters.
CHARACTERS_PER_TOKEN = 4
_MILLION = 1_000_000


class Spent(msgspec.Struct, frozen=True):
    """Sums over model calls, failed and abandoned ones included."""

    usage: Usage = Usage()
    cost: float | None = 0.0

    def plus(self, price: Price | None, call: Usage) -> "Spent":
        """With one more model call, whose input and output are known or estimated."""
        price_of_call = _cost(price, call)
        unknown = self.cost is None or price_of_call is None
        return Spent(added(self.usage, call), None if unknown else (self.cost or 0) + (price_of_call or 0))


def completed(stated: Usage, sent: int, received: int) -> Usage:
    """`stated` with what is missing estimated from the characters sent and received so far."""
    if stated.input_tokens is not None and stated.output_tokens is not None:
        total = stated.total_tokens
        return msgspec.structs.replace(
            stated, total_tokens=stated.input_tokens + stated.output_tokens if total is None else total
        )
    read = _tokens(sent) if stated.input_tokens is None else stated.input_tokens
    wrote = _tokens(received) if stated.output_tokens is None else stated.output_tokens
    return msgspec.structs.replace(
        stated, input_tokens=read, output_tokens=wrote, total_tokens=read + wrote, estimated=True
    )


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def added(left: Usage, right: Usage) -> Usage:
    """The sum; a count is unknown only where both are."""
    return Usage(
        _add(left.input_tokens, right.input_tokens),
        _add(left.output_tokens, right.output_tokens),
        _add(left.total_tokens, right.total_tokens),
        _add(left.cached_tokens, right.cached_tokens),
        _add(left.reasoning_tokens, right.reasoning_tokens),
        left.estimated or right.estimated,
    )


def _add(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else left + right


def _cost(price: Price | None, call: Usage) -> float | None:
    """Dollars. Cached input is part of the input."""
    if price is None:
        return None
    read, wrote = call.input_tokens or 0, call.output_tokens or 0
    cached = min(call.cached_tokens or 0, read)
    cached_price = price.input if price.cached_input is None else price.cached_input
    return ((read - cached) * price.input + cached * cached_price + wrote * price.output) / _MILLION
