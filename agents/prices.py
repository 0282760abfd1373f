"""What a model costs, from genai-prices and from what staff say. Unknown is None: never zero, never a guess.

The first look-up loads the price list, which takes a second: not on an event loop.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from agents.spec import Price

#: Kinds whose own vendor answers when no address is given, as the price list names it.
_VENDORS = {"openai": "openai", "anthropic": "anthropic", "gemini": "google", "bedrock": "aws"}


def price_of(kind: str, base_url: str, model: str, override: Mapping[str, Any] | None = None) -> Price | None:
    """Return dollars per million tokens. `override` is the model's own row of a connection, if it has one."""
    stated = (override or {}).get("price")
    if stated is not None:
        return Price(stated["input"], stated["output"], stated.get("cached_input"))
    if kind == "demo":
        return Price(0.0, 0.0)
    found = find_model(kind, base_url, model)
    if found is None:
        return None
    prices = found.get_prices(datetime.now(UTC))
    price_in, price_out = _dollars(prices, "input_mtok"), _dollars(prices, "output_mtok")
    if price_in is None or price_out is None:
        return None
    return Price(price_in, price_out, _dollars(prices, "cache_read_mtok"))


def find_model(kind: str, base_url: str, model: str) -> Any | None:
    """Return the price list's row of a model, None if it has none for this vendor."""
    from genai_prices.data_snapshot import get_snapshot  # a second of import: only for those who ask

    by_url = {"provider_id": None, "provider_api_url": base_url}
    by_vendor = {"provider_id": _VENDORS.get(kind), "provider_api_url": None}
    place = by_url if base_url and not base_url.startswith("https://api.openai.com") else by_vendor
    if place == by_vendor and place["provider_id"] is None:
        place = {"provider_id": "openai", "provider_api_url": None} if base_url else place
    if not any(place.values()):
        return None
    try:
        _, found = get_snapshot().find_provider_model(model, None, **place)
    except LookupError:
        return None
    return found


def _dollars(prices: Any, key: str) -> float | None:
    price = getattr(prices, key, None)
    if price is None:
        return None
    # Prices that rise with the length of the prompt: its usual length counts.
    return float(price if isinstance(price, Decimal) else price.base)
