"""How a visitor's tokens travel: in an HttpOnly cookie on our own origin, in a header elsewhere.

Elsewhere a cookie of ours would be a third party's, which browsers drop. At home no script needs these
values, so none can read them.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from deployments.origins import Site


@dataclass(frozen=True)
class Carrier:
    """One kind of token: the names of its cookie and header, and how long the cookie is kept."""

    cookie: str
    header: str
    lifetime: timedelta

    def read(self, request: HttpRequest, site: Site) -> str | None:
        """Return what the request brought. From listed sites no cookie counts, even if one is sent."""
        value = request.headers.get(self.header)
        if value is None and site is not Site.LISTED:
            value = request.COOKIES.get(self.cookie)
        return value or None

    def write(self, response: HttpResponseBase, site: Site, value: str, path: str) -> None:
        """Give the token to who asked; a request without `Origin` is a program that may use either way."""
        if site is not Site.OWN:
            response.headers[self.header] = value
        if site is not Site.LISTED:
            response.set_cookie(
                self.cookie,
                value,
                max_age=self.lifetime,
                path=path,
                secure=settings.PRODUCTION,
                httponly=True,
                samesite="Lax",
            )
