from collections.abc import Callable, Iterator

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponseBase
from django.test import Client
from django.urls import include, path

from studio import background, views


def failing(error: Exception) -> Callable[[HttpRequest], HttpResponseBase]:
    def view(request: HttpRequest) -> HttpResponseBase:
        raise error

    return view


FAILURES = {
    "suspicious": (SuspiciousOperation("secret"), 400, "INVALID_BODY"),
    "forbidden": (PermissionDenied("secret"), 403, "FORBIDDEN"),
    "broken": (RuntimeError("secret"), 500, "INTERNAL_ERROR"),
}
urlpatterns = [
    *(path(f"{place}{name}", failing(FAILURES[name][0])) for place in ("api/", "") for name in FAILURES),
    path("", include("studio.urls")),
]
handler400, handler403 = "studio.views.bad_request", "studio.views.forbidden"
handler404, handler500 = "studio.views.not_found", "studio.views.server_error"


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.urls(__name__)
@pytest.mark.parametrize("name", FAILURES)
def test_it_answers_programs_with_a_code_and_pages_with_a_page(client: Client, name: str) -> None:
    _, status, code = FAILURES[name]
    program, page = client.get(f"/api/{name}"), client.get(f"/{name}")
    assert (program.status_code, page.status_code) == (status, status)
    assert program.json()["code"] == code
    assert program.headers["Cache-Control"] == "no-store"
    assert page.headers["Content-Type"].startswith("text/html")
    assert b"secret" not in program.content + page.content


@pytest.mark.parametrize("address", ["/api/none", "/v1/none", "/health/none"])
def test_it_answers_an_unknown_address_of_programs_with_json(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert response.json() == {"error": "There is nothing here.", "code": "NOT_FOUND"}


def test_it_answers_an_unknown_page_with_a_page(client: Client) -> None:
    response = client.get("/none")
    assert response.status_code == 404
    assert b"<h1>There is no page at this address.</h1>" in response.content


def test_it_starts_at_the_admin(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/admin/"


def test_it_says_that_it_lives_without_a_database(client: Client) -> None:
    assert client.get("/health/live").json() == {"status": "ok"}


@pytest.fixture
def unknown_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "_migrated", False)


@pytest.mark.django_db
def test_it_is_ready_when_the_database_is_migrated(client: Client, unknown_migrations: None) -> None:
    response = client.get("/health/ready")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.django_db
def test_it_is_not_ready_before_its_migrations(client: Client, unknown_migrations: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'runs'")
    response = client.get("/health/ready")
    assert (response.status_code, response.json()["reason"]) == (503, "migrations")


@pytest.mark.django_db
def test_it_is_not_ready_without_its_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Iterator[None]:
        raise OperationalError("the password is hunter2")

    monkeypatch.setattr(connection, "cursor", refuse)
    response = client.get("/health/ready")
    assert (response.status_code, response.json()) == (503, {"status": "unavailable", "reason": "database"})


@pytest.mark.django_db
def test_it_is_not_ready_while_it_stops(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_stopping", True)
    response = client.get("/health/ready")
    assert (response.status_code, response.json()["reason"]) == (503, "stopping")
