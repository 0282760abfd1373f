"""Who is acting: the signed-in person of the current request, or the command that runs."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

SYSTEM = "system"


@dataclass(frozen=True)
class Actor:
    """`user` None: a command or the system itself, named by `name`."""

    user: User | None
    name: str


# The request itself, not its user: reading the user costs a query, and few requests change anything.
_current: ContextVar[HttpRequest | str] = ContextVar("audit_actor", default=SYSTEM)


def current() -> Actor:
    """Return who is acting in this context."""
    source = _current.get()
    if isinstance(source, str):
        return Actor(None, source)
    user = getattr(source, "user", None)
    if user is None or not user.is_authenticated:
        return Actor(None, SYSTEM)
    return Actor(user, user.get_username())


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """What is changed inside was changed by the command `name`."""
    token = _current.set(name)
    try:
        yield
    finally:
        _current.reset(token)


@sync_and_async_middleware
def middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Remember the request for as long as it is answered; nothing is read from it here."""
    if iscoroutinefunction(get_response):
        return _asynchronous(get_response)

    def answer(request: HttpRequest) -> HttpResponseBase:
        token = _current.set(request)
        try:
            response: HttpResponseBase = get_response(request)
            return response
        finally:
            _current.reset(token)

    return answer


def _asynchronous(
    get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]],
) -> Callable[[HttpRequest], Awaitable[HttpResponseBase]]:
    async def answer(request: HttpRequest) -> HttpResponseBase:
        token = _current.set(request)
        try:
            return await get_response(request)
        finally:
            _current.reset(token)

    return answer
