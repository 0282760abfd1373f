"""The middlewares as configured, in both of Django's modes."""

from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.csrf import get_token
from django.test import AsyncClient, Client
from django.urls import path

from studio import middleware

SESSIONLESS = ["/api/chat/x", "/api/workflows/x/execute", "/v1/agent-runtime/x", "/health/x"]


def touch_everything(request: HttpRequest) -> HttpResponseBase:
    """Use what pages have, where it is there; a careless view under /api would do the same."""
    if hasattr(request, "session"):
        request.session["seen"] = True
        return HttpResponse(get_token(request))
    return JsonResponse({"session": False, "user": hasattr(request, "user")})


urlpatterns = [path(name.lstrip("/"), touch_everything) for name in [*SESSIONLESS, "page"]]
pytestmark = [pytest.mark.urls(__name__)]


@pytest.mark.parametrize("address", SESSIONLESS)
def test_it_sets_no_cookie_for_programs(address: str) -> None:
    response = Client().get(address)
    assert response.json() == {"session": False, "user": False}
    assert not response.cookies
    assert "Cookie" not in response.headers.get("Vary", "")


@pytest.mark.parametrize("address", SESSIONLESS)
async def test_it_sets_no_cookie_for_programs_when_asynchronous(address: str) -> None:
    response = await AsyncClient().get(address)
    assert response.json() == {"session": False, "user": False}
    assert not response.cookies


@pytest.mark.parametrize("address", SESSIONLESS)
async def test_it_asks_programs_for_no_csrf_token(address: str) -> None:
    assert Client(enforce_csrf_checks=True).post(address).status_code == 200
    assert (await AsyncClient(enforce_csrf_checks=True).post(address)).status_code == 200


@pytest.mark.django_db(transaction=True)
async def test_it_gives_pages_a_session_and_asks_them_for_a_token() -> None:
    assert {"sessionid", "csrftoken"} <= set((await AsyncClient().get("/page")).cookies)
    assert (await AsyncClient(enforce_csrf_checks=True).post("/page")).status_code == 403


@pytest.mark.django_db
def test_it_gives_pages_a_session_and_asks_them_for_a_token_when_synchronous() -> None:
    assert {"sessionid", "csrftoken"} <= set(Client().get("/page").cookies)
    assert Client(enforce_csrf_checks=True).post("/page").status_code == 403


@pytest.mark.django_db
def test_it_takes_a_path_that_only_begins_alike_for_a_page() -> None:
    assert not "/healthy".startswith(middleware.SESSIONLESS)
    assert not "/api/chats".startswith(middleware.SESSIONLESS)


def test_it_answers_probes_by_any_host_name_and_nothing_else() -> None:
    assert Client().get("/health/x", headers={"host": "10.0.0.7"}).status_code == 200
    assert Client().get("/api/chat/x", headers={"host": "10.0.0.7"}).status_code == 400


async def test_it_never_changes_threads_for_a_middleware(monkeypatch: pytest.MonkeyPatch) -> None:
    hops = []
    call = SyncToAsync.__call__

    async def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        hops.append(self.func)
        return await call(self, *args, **kwargs)

    monkeypatch.setattr(SyncToAsync, "__call__", counted)
    assert (await AsyncClient().get("/api/chat/x")).status_code == 200
    names = [hop.__name__ for hop in hops]
    assert "touch_everything" in names
    assert {"process_request", "process_response"} & set(names) == set()


# --- Static files -------------------------------------------------------------------------------------------

STYLE = "/static/admin/css/base.css"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_it_sends_static_files(method: str) -> None:
    response = await AsyncClient().generic(method, STYLE)
    assert response.status_code == 200
    assert not response.streaming
    assert response.headers["Content-Type"] == 'text/css; charset="utf-8"'
    assert int(response.headers["Content-Length"]) > 1000
    assert (len(response.content) > 1000) is (method == "GET")


async def test_it_sends_a_static_file_only_if_it_changed() -> None:
    known = (await AsyncClient().get(STYLE)).headers["Last-Modified"]
    response = await AsyncClient().get(STYLE, headers={"If-Modified-Since": known})
    assert (response.status_code, response.content) == (304, b"")


async def test_it_sends_a_part_of_a_static_file() -> None:
    response = await AsyncClient().get(STYLE, headers={"Range": "bytes=0-9"})
    assert (response.status_code, len(response.content)) == (206, 10)
