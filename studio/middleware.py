"""Sessions, messages and CSRF belong to pages; programs and public streams do not pay for them.

Ours are synchronous only, and one of them is the innermost: so Django runs the whole chain and the view,
which is synchronous too, in one hop to the request's thread instead of two for each middleware: a third less.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseForbidden,
    HttpResponsePermanentRedirect,
)
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.deprecation import MiddlewareMixin
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

#: Probes of load balancers and the like.
HEALTH = "/health/"
#: Paths whose callers bring their own credential and never a session cookie.
SESSIONLESS = ("/api/chat/", "/api/workflows/", "/v1/", HEALTH)


class _PagesOnly(MiddlewareMixin):
    """Mixed in before one of Django's middlewares: skips it on paths without sessions."""

    async_capable = False

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(SESSIONLESS):
            return self.get_response(request)
        return super().__call__(request)


class Sessions(_PagesOnly, SessionMiddleware):
    pass


class Csrf(_PagesOnly, CsrfViewMiddleware):
    def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        callback_args: tuple[Any, ...],
        callback_kwargs: dict[str, Any],
    ) -> HttpResponseForbidden | None:
        """Django calls this on its own, whatever `__call__` did."""
        if request.path_info.startswith(SESSIONLESS):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)


class Authentication(_PagesOnly, AuthenticationMiddleware):
    pass


class Messages(_PagesOnly, MessageMiddleware):
    pass


class Common(CommonMiddleware):
    async_capable = False

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        """Probes ask by address: only on their paths the host name does not matter."""
        return None if request.path_info.startswith(HEALTH) else super().process_request(request)


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # it ships no types
    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Send a file, which is small, as a whole: a file response would be read on the event loop."""
        found = static_file.get_response(request.method, request.META)
        body = found.file.read() if found.file else b""
        if found.file:
            found.file.close()
        response = HttpResponse(body, status=int(found.status))
        del response.headers["Content-Type"]
        for name, value in found.headers:
            response.headers[name] = value
        return response
