"""What a vendor's error means: the many shapes and phrasings, mapped to one code each. Pure."""

import re
from typing import Any

import msgspec

from streaming.codes import RunCode
from streaming.text import clean


class Failure(msgspec.Struct, frozen=True):
    """An error as a vendor stated it. `status` is HTTP's, or the number it gave in its place."""

    message: str
    code: str = ""
    type: str = ""
    status: int | None = None

    @property
    def detail(self) -> str:
        """One line for the log."""
        told = [word for word in dict.fromkeys((str(self.status or ""), self.type, self.code)) if word]
        return clean(f"{self.message} ({', '.join(told)})" if told else self.message)[:2000]


_CONTEXT = re.compile(
    r"context.?(length|window|size)|maximum context|max(imum)? prompt length|(prompt|input) is too long"
    r"|(input|prompt) too long|prompt exceeds|too many input tokens|exceed\w* (the )?(model'?s? )?token limit"
    r"|reduce the length of (the|your) (messages|prompt|input)|too large for model with"
    r"|input (token count|length)[^.]{0,60}exceed|range of input length|exceed_context|longer than the model",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content.?(filter|policy)|content management policy|responsible.?ai|data.?inspection|moderation|flagged"
    r"|usage (policy|policies|guidelines)|safety (system|filter|guidelines|policy)|invalid_prompt"
    r"|unsafe or sensitive|sensitive content|inappropriate content",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"rate.?limit|too many requests|throttl|quota|resource.?exhausted|(tokens|requests) per (minute|day)",
    re.IGNORECASE,
)
_OVERLOADED = re.compile(
    r"overload|(at|over) capacity|capacity exceeded|server is busy|temporarily unavailable"
    r"|service.unavailable|insufficient.system.resource|no available (instance|worker)",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"invalid.{0,9}api.?key|incorrect api key|authentication|unauthori[sz]ed|permission.?(denied|error)"
    r"|access denied|insufficient (balance|credits)|payment required|billing|invalid.{0,4}token",
    re.IGNORECASE,
)
_BAD_REQUEST = re.compile(
    r"invalid.?(request|argument|parameter)|bad.?request|validation|not.?found|unsupported|does not exist"
    r"|tool_use_failed",
    re.IGNORECASE,
)

_BY_STATUS = {
    401: RunCode.PROVIDER_AUTH,
    402: RunCode.PROVIDER_AUTH,
    403: RunCode.PROVIDER_AUTH,
    408: RunCode.PROVIDER_UNAVAILABLE,
    425: RunCode.PROVIDER_UNAVAILABLE,
    429: RunCode.PROVIDER_RATE_LIMITED,
    498: RunCode.PROVIDER_OVERLOADED,
    503: RunCode.PROVIDER_OVERLOADED,
    529: RunCode.PROVIDER_OVERLOADED,
}


def classify(failure: Failure) -> RunCode:
    """Return the code. A rate limit is one whatever it speaks of; then what was asked outranks the status."""
    told = f"{failure.code} {failure.type} {failure.message}"
    named = f"{failure.code} {failure.type}"
    if failure.status == 429 or _RATE.search(named):
        return RunCode.PROVIDER_RATE_LIMITED
    if failure.status is None or 400 <= failure.status < 500:
        if _CONTEXT.search(told) and not _RATE.search(told):
            return RunCode.CONTEXT_WINDOW_EXCEEDED
        if _FILTER.search(told):
            return RunCode.PROVIDER_CONTENT_FILTERED
    return _by_status(failure.status) or _by_words(told)


def _by_status(status: int | None) -> RunCode | None:
    if status is None or not 300 <= status < 600:
        return None
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return RunCode.PROVIDER_UNAVAILABLE if status >= 500 else RunCode.PROVIDER_BAD_REQUEST


def _by_words(told: str) -> RunCode:
    for pattern, code in (
        (_RATE, RunCode.PROVIDER_RATE_LIMITED),
        (_OVERLOADED, RunCode.PROVIDER_OVERLOADED),
        (_AUTH, RunCode.PROVIDER_AUTH),
        (_BAD_REQUEST, RunCode.PROVIDER_BAD_REQUEST),
    ):
        if pattern.search(told):
            return code
    return RunCode.PROVIDER_UNAVAILABLE


def parse_failure(document: Any, status: int | None = None) -> Failure | None:
    """Find the error in a JSON document of any vendor; None if it holds none."""
    match document:
        case {"error": str(message)} if message:
            more = document.get("message")
            text = f"{message}: {more}" if isinstance(more, str) and more else message
            return Failure(text, status=_status(document) or status)
        case {"error": dict(error)} if error:
            return _from_fields(error, status)
        case {"errors": [dict(first), *_]}:
            return _from_fields(first, status)
        case {"errors": [str(message), *_]} | {"detail": str(message)} if message:
            return Failure(message, status=status)
        case {"detail": [dict(first), *_]}:
            return Failure(_word(first.get("msg")) or _shown(first), status=status)
        case {"object": "error"} | {"type": "error"}:
            return _from_fields(document, status)
        case {"message": str(message), "code": _} | {"message": str(message), "type": _} if message:
            return _from_fields(document, status)
        case [dict(first), *_]:
            # Gemini's address wraps its error in a list.
            return parse_failure(first, status)
        case _:
            return None


def parse_error_fields(document: Any, status: int | None = None) -> Failure:
    """Read a document that is an error for certain, whatever its shape."""
    found = parse_failure(document, status)
    if found is not None:
        return found
    if isinstance(document, dict):
        return _from_fields(document, status)
    return Failure(_shown(document) if document else "an error that says nothing", status=status)


def _from_fields(error: dict[str, Any], status: int | None) -> Failure:
    inner = error.get("error")
    if isinstance(inner, dict) and inner:
        return _from_fields(inner, status)
    message = _word(error.get("message")) or _word(error.get("msg")) or _word(inner)
    message = message or _shown(error)
    if raw := _raw(error.get("metadata")):
        message = f"{message}: {raw}"
    return Failure(
        message=message,
        code=_word(error.get("code")),
        type=_word(error.get("type")) or _word(error.get("status")),
        status=_status(error) or status,
    )


def _shown(value: object) -> str:
    try:
        return str(value)[:1000]
    except (RecursionError, ValueError):
        return "an error too deep to show"


def _raw(metadata: object) -> str:
    """OpenRouter keeps the upstream's own words there."""
    return _word(metadata.get("raw"))[:1000] if isinstance(metadata, dict) else ""


def _status(error: dict[str, Any]) -> int | None:
    for key in ("status_code", "status", "code"):
        value = error.get(key)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:4])
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


def _word(value: object) -> str:
    match value:
        case str():
            return value
        case bool() | None:
            return ""
        case int():
            return str(value)
        case _:
            return ""
