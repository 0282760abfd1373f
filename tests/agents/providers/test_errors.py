"""No exception of the SDK or of the libraries under it leaves a provider unmapped."""

import inspect
from collections.abc import Iterator
from types import ModuleType

import aiohttp
import httpx2
import openai
import pytest
from aiohttp import client_exceptions, http_exceptions

from agents.errors import ProviderError
from agents.providers import errors, transport
from agents.providers.errors import code_of, provider_error
from streaming.codes import RunCode


def exceptions(*modules: ModuleType) -> Iterator[type[Exception]]:
    for module in modules:
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Exception) and not issubclass(kind, Warning):
                yield kind


MODULES = (openai, openai._exceptions, httpx2, aiohttp, client_exceptions, http_exceptions, transport)

#: Only a WebSocket raises it, and no wire here has one.
ELSEWHERE = {aiohttp.WebSocketError}

KINDS = set(exceptions(*MODULES)) - ELSEWHERE


@pytest.mark.parametrize("kind", sorted(KINDS, key=str))
def test_every_exception_has_a_code(kind: type[Exception]) -> None:
    assert code_of(kind) is not None


def test_an_error_of_ours_is_not_taken_for_the_providers() -> None:
    class Ours(Exception):
        pass

    with pytest.raises(Ours):
        provider_error(Ours("bug"), "local")


def test_the_detail_tells_the_causes_once_each() -> None:
    request = httpx2.Request("POST", "http://llm.example.com")
    error = openai.APIConnectionError(request=request)
    error.__cause__ = httpx2.ConnectError("refused")
    error.__cause__.__cause__ = OSError("refused")
    mapped = provider_error(error, "local")
    assert isinstance(mapped, ProviderError)
    assert mapped.detail == "Connection error.: refused"
    assert mapped.code is RunCode.PROVIDER_UNAVAILABLE


def test_the_table_has_no_row_that_cannot_be_reached() -> None:
    rows = errors._CODES
    for at, (kind, _) in enumerate(rows):
        assert not any(issubclass(kind, earlier) for earlier, _ in rows[:at]), kind
