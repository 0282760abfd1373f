"""Kinds of providers: what a connection's kind and address become."""

from collections.abc import Callable

from agents.providers.base import Provider
from agents.providers.chat_completions.provider import ChatCompletionsProvider
from agents.providers.demo import DemoProvider
from agents.providers.openai_responses.provider import ResponsesProvider

#: A provider's name, base URL ("" for the vendor's own) and key ("" for none) → the provider.
Builder = Callable[[str, str, str], Provider]

OPENAI_URL = "https://api.openai.com/v1"


class UnknownProvider(Exception):
    """A mistake of the set-up, not of a run: this kind cannot be built, or not without an address."""


def _compatible(name: str, base_url: str, api_key: str) -> Provider:
    if not base_url:
        raise UnknownProvider(f"The provider {name!r} needs a base URL: its kind has none of its own.")
    return ChatCompletionsProvider(name, base_url, api_key)


KINDS: dict[str, Builder] = {
    "openai": lambda name, base_url, api_key: ResponsesProvider(name, base_url or OPENAI_URL, api_key),
    "openai-compat": _compatible,
    "demo": lambda name, base_url, api_key: DemoProvider(name),
}


def build_provider(kind: str, name: str, base_url: str, api_key: str) -> Provider:
    """Return a provider. Cheap: connections are made, and SDKs imported, by the first model call.

    Raises UnknownProvider.
    """
    builder = KINDS.get(kind)
    if builder is None:
        known = ", ".join(sorted(KINDS))
        raise UnknownProvider(
            f"The provider {name!r} has a kind that cannot be built: {kind!r} (only {known})."
        )
    return builder(name, base_url, api_key)
