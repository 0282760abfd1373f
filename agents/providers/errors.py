"""Exceptions of the SDK and the libraries under it, mapped once to ProviderError. Imported at first use."""

import json
from collections.abc import Iterator

import aiohttp
import httpx2
import openai

from agents.errors import ProviderError
from agents.providers.failures import Failure, classify, parse_error_fields
from agents.providers.transport import AddressRefused
from streaming.codes import RunCode
from streaming.text import clean

_BROKEN, _UNAVAILABLE = RunCode.PROVIDER_STREAM_BROKEN, RunCode.PROVIDER_UNAVAILABLE
_BAD_REQUEST = RunCode.PROVIDER_BAD_REQUEST

#: The first row that fits counts. Statuses are read from the answer instead, where there is one.
_CODES: tuple[tuple[type[BaseException], RunCode], ...] = (
    (AddressRefused, _UNAVAILABLE),
    (openai.AuthenticationError, RunCode.PROVIDER_AUTH),
    (openai.PermissionDeniedError, RunCode.PROVIDER_AUTH),
    (openai.RateLimitError, RunCode.PROVIDER_RATE_LIMITED),
    (openai.InternalServerError, _UNAVAILABLE),
    (openai.APIStatusError, _BAD_REQUEST),
    (openai.APIConnectionError, _UNAVAILABLE),
    (openai.APIResponseValidationError, _BROKEN),
    (openai.APIError, _BROKEN),
    (openai.ContentFilterFinishReasonError, RunCode.PROVIDER_CONTENT_FILTERED),
    (openai.OpenAIError, _BAD_REQUEST),
    (httpx2.UnsupportedProtocol, _BAD_REQUEST),
    (httpx2.InvalidURL, _BAD_REQUEST),
    (httpx2.TooManyRedirects, _BAD_REQUEST),
    (httpx2.ConnectError, _UNAVAILABLE),
    (httpx2.ConnectTimeout, _UNAVAILABLE),
    (httpx2.PoolTimeout, _UNAVAILABLE),
    (httpx2.ProxyError, _UNAVAILABLE),
    (httpx2.HTTPError, _BROKEN),
    (httpx2.StreamError, _BROKEN),
    (httpx2.CookieConflict, _BAD_REQUEST),
    (aiohttp.InvalidURL, _BAD_REQUEST),
    (aiohttp.ClientConnectorError, _UNAVAILABLE),
    (aiohttp.ConnectionTimeoutError, _UNAVAILABLE),
    (aiohttp.ClientError, _BROKEN),
    (aiohttp.http_exceptions.HttpProcessingError, _BROKEN),
    (aiohttp.EofStream, _BROKEN),
    (EOFError, _BROKEN),
    (OSError, _BROKEN),
    (ValueError, _BAD_REQUEST),
    (TypeError, _BAD_REQUEST),
)


def provider_error(error: Exception, provider: str, secret: str = "") -> ProviderError:
    """Map an exception of a model call. Raises it again if it is none of the libraries'."""
    code = code_of(type(error))
    if code is None:
        raise error
    if isinstance(error, openai.APIStatusError):
        failure = _failure(error)
        code, detail = classify(failure), failure.detail
    else:
        detail = ": ".join(dict.fromkeys(_causes(error)))
        if isinstance(error.__cause__, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
            code = _BAD_REQUEST
    if secret:
        detail = detail.replace(secret, "[key]")
    return ProviderError(code, clean(detail)[:2000], provider=provider)


def code_of(kind: type[BaseException]) -> RunCode | None:
    """Return the code of a kind of exception, without looking at what it says."""
    return next((code for known, code in _CODES if issubclass(kind, known)), None)


def _failure(error: openai.APIStatusError) -> Failure:
    response = error.response
    if response.is_redirect:
        return Failure(
            "the address answers with a redirect: correct the base URL", status=response.status_code
        )
    try:
        document = json.loads(response.text)
    except ValueError:
        document = response.text.strip() or f"no body: {response.reason_phrase}"
    return parse_error_fields(document, response.status_code)


def _causes(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield str(error) or type(error).__name__
        error = error.__cause__
