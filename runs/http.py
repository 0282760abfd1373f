"""What every HTTP surface shares: how a refusal becomes an answer, how a body is read, whose address it is.

Every refusal, the framework's own included, is `{"error","code"}`, `no-store` (agent-events-v1 section 6).
"""

import ipaddress
import json
import logging
import math
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, NoReturn

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse, UnreadablePostError
from rest_framework import exceptions
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from runs.refusals import Refused
from streaming import text
from streaming.codes import REFUSALS, RefusalCode

logger = logging.getLogger("studio.http")

#: Statuses that only the framework gives; the spec's codes have none for them.
_FRAMEWORK: Mapping[int, tuple[str, str]] = {
    403: ("FORBIDDEN", "This is not allowed."),
    500: ("INTERNAL_ERROR", "Something went wrong on our side."),
}

#: The spec's code for a status that the framework gives by itself.
_CODES: Mapping[int, RefusalCode] = {
    400: RefusalCode.INVALID_BODY,
    401: RefusalCode.AUTH_REQUIRED,
    404: RefusalCode.NOT_FOUND,
    405: RefusalCode.METHOD_NOT_ALLOWED,
    413: RefusalCode.BODY_TOO_LARGE,
    415: RefusalCode.UNSUPPORTED_MEDIA_TYPE,
    429: RefusalCode.RATE_LIMITED,
    503: RefusalCode.SERVICE_UNAVAILABLE,
}


class IgnoreAccept(DefaultContentNegotiation):
    """`Accept` is ignored: refusals are JSON and streams are event streams, whatever was asked for."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, str(first.media_type)


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's hook. None: nobody expected `error`; Django then logs it once and answers by `handler500`.

    A view with `explains_refusals = True` serves callers who may read the real reason (never a public chat).
    """
    refused = _as_refused(error)
    if refused is not None:
        body = refused.body(explained=getattr(context.get("view"), "explains_refusals", False))
        return Response(body, status=refused.status, headers=_headers(refused))
    if isinstance(error, exceptions.APIException | PermissionDenied):
        status = getattr(error, "status_code", HTTPStatus.FORBIDDEN)
        return Response(_framework_body(status), status=status, headers={"Cache-Control": "no-store"})
    return None


def refusal(refused: Refused) -> JsonResponse:
    """Return the answer to a request outside of DRF."""
    return JsonResponse(refused.body(), status=refused.status, headers=_headers(refused))


def framework_refusal(status: int, error: Exception | None = None) -> JsonResponse:
    """Return what a program reads where Django itself refuses: for `handler400` and its siblings."""
    refused = None if error is None else _as_refused(error)
    if refused is not None:
        return refusal(refused)
    return JsonResponse(_framework_body(status), status=status, headers={"Cache-Control": "no-store"})


def _headers(refused: Refused) -> dict[str, str]:
    headers = {"Cache-Control": "no-store"}
    if refused.retry_after is not None:
        headers["Retry-After"] = str(refused.retry_after)
    return headers


def _as_refused(error: Exception) -> Refused | None:
    """Return `error` as a refusal of the spec, or None where it is none."""
    match error:
        case Refused():
            return error
        case RequestDataTooBig():
            return Refused(RefusalCode.BODY_TOO_LARGE)
        case exceptions.ParseError():
            return Refused(RefusalCode.INVALID_JSON)
        case exceptions.Throttled():
            return Refused(RefusalCode.RATE_LIMITED)
        case Http404():
            return Refused(RefusalCode.NOT_FOUND)
        case UnreadablePostError():
            return Refused(RefusalCode.INVALID_BODY, "The body broke off.")
        case OperationalError() | InterfaceError():
            logger.error("The database cannot be reached.", exc_info=error)
            return Refused(RefusalCode.SERVICE_UNAVAILABLE)
        case exceptions.APIException() if error.status_code in _CODES:
            return Refused(_CODES[error.status_code])
        case _:
            return None


def _framework_body(status: int) -> dict[str, str]:
    """Return the body for a status; one that has no words of its own says only what kind it is."""
    if status in _CODES:
        return {"error": REFUSALS[_CODES[status]][1], "code": _CODES[status].value}
    code, sentence = _FRAMEWORK.get(status) or _FRAMEWORK[403 if status < 500 else 500]
    return {"error": sentence, "code": code}


# --- Bodies -------------------------------------------------------------------------------------------------

#: Deeper JSON is refused: whoever reads it later may use recursion.
MAX_DEPTH = 64


def parse_body(request: HttpRequest | Request, limit: int) -> dict[str, Any]:
    """Return the JSON object that came as the body, with NUL and lone surrogates replaced in its strings.

    Raises Refused: 415 for another content type, 413 beyond `limit` bytes (told or, in chunks, untold), 400
    INVALID_JSON for anything that is not strict JSON in UTF-8, 400 INVALID_BODY for what is no object. Of
    duplicate keys the last counts.
    """
    http: HttpRequest = getattr(request, "_request", request)
    if http.content_type != "application/json":
        raise Refused(RefusalCode.UNSUPPORTED_MEDIA_TYPE)
    body = _read(http, limit)
    try:
        value = json.loads(body.decode(), parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        # ValueError: not UTF-8, not JSON, a number that is none or has thousands of digits.
        raise Refused(RefusalCode.INVALID_JSON, f"Not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise Refused(RefusalCode.INVALID_BODY, "The body must be a JSON object.")
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise Refused(RefusalCode.INVALID_JSON, f"Nested more than {MAX_DEPTH} levels deep.")
    return {text.clean(key): text.clean_json(item) for key, item in value.items()}


def _read(request: HttpRequest, limit: int) -> bytes:
    told = request.META.get("CONTENT_LENGTH") or ""
    if told.isdecimal() and (len(told) > len(str(limit)) or int(told) > limit):
        raise Refused(RefusalCode.BODY_TOO_LARGE)
    body = bytes(request.read(limit + 1))
    if len(body) > limit:
        raise Refused(RefusalCode.BODY_TOO_LARGE)
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _depth(value: object) -> int:
    """Return how many containers lie inside each other at most, without recursion."""
    deepest, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        deepest += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


# --- Client addresses ---------------------------------------------------------------------------------------


def client_address(request: HttpRequest | Request, trusted_proxies: int) -> str:
    """Return whose network a request came from, to count by: an IPv4 address or an IPv6 /64.

    Each proxy appends to `X-Forwarded-For` whom it spoke to, so only the `trusted_proxies` right-most hops
    are facts; what stands left of them a client may have invented. A hop that is no address counts as its
    proxy's. `Forwarded` and `X-Real-IP` are never read. "unknown" if nothing is known, as on a Unix socket.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if trusted_proxies else ""
    hops = [*forwarded.split(","), request.META.get("REMOTE_ADDR", "")]
    for hop in hops[-(trusted_proxies + 1) :]:
        network = _network(hop)
        if network is not None:
            return network
    return "unknown"


def _network(hop: str) -> str | None:
    """Return `hop` as an address to count by: without port and zone, IPv4-mapped folded, IPv6 as its /64."""
    host = hop.strip().strip('"')
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return str(ipaddress.ip_network((address, 64), strict=False))
        address = address.ipv4_mapped
    return str(address)
