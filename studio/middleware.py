"""Sessions, messages and CSRF belong to pages; programs and public streams do not pay for them."""

from collections.abc import Callable

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware

GetResponse = Callable[[HttpRequest], HttpResponseBase]

#: Paths whose callers bring their own credential and never a session cookie.
SESSIONLESS = ("/api/chat/", "/api/workflows/", "/v1/", "/health")


class _PagesOnly:
    """Mixed in before one of Django's middlewares: skips it on paths without sessions."""

    get_response: GetResponse

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(SESSIONLESS):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc, no-any-return]


class Sessions(_PagesOnly, SessionMiddleware):
    pass


class Csrf(_PagesOnly, CsrfViewMiddleware):
    pass


class Authentication(_PagesOnly, AuthenticationMiddleware):
    pass


class Messages(_PagesOnly, MessageMiddleware):
    pass
