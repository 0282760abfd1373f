"""Every refusal is `{"error","code"}` with `no-store`, whoever refuses; nothing of an error goes out."""

import json
import logging
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpResponse
from django.test import Client, override_settings
from django.urls import path
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.http import framework_refusal, refusal
from runs.refusals import Refused
from streaming.codes import REFUSALS, RefusalCode

SECRET = "MAPLE-31"

ERRORS: dict[str, tuple[Exception, int, str]] = {
    "refused": (Refused(RefusalCode.ORIGIN_NOT_ALLOWED, SECRET), 403, "ORIGIN_NOT_ALLOWED"),
    "unavailable": (Refused(RefusalCode.SERVICE_UNAVAILABLE, SECRET), 503, "SERVICE_UNAVAILABLE"),
    "parse": (exceptions.ParseError(SECRET), 400, "INVALID_JSON"),
    "invalid": (exceptions.ValidationError({SECRET: [SECRET]}), 400, "INVALID_BODY"),
    "media": (exceptions.UnsupportedMediaType(SECRET), 415, "UNSUPPORTED_MEDIA_TYPE"),
    "denied": (exceptions.PermissionDenied(SECRET), 403, "FORBIDDEN"),
    "django denied": (PermissionDenied(SECRET), 403, "FORBIDDEN"),
    "missing": (Http404(SECRET), 404, "NOT_FOUND"),
    "gone": (exceptions.NotFound(SECRET), 404, "NOT_FOUND"),
    "throttled": (exceptions.Throttled(9, SECRET), 429, "RATE_LIMITED"),
    "large": (RequestDataTooBig(SECRET), 413, "BODY_TOO_LARGE"),
    "database": (OperationalError(SECRET), 503, "SERVICE_UNAVAILABLE"),
    "server": (exceptions.APIException(SECRET), 500, "INTERNAL_ERROR"),
    "suspicious": (SuspiciousOperation(SECRET), 400, "INVALID_BODY"),
    "bug": (ZeroDivisionError(SECRET), 500, "INTERNAL_ERROR"),
}


class Failing(APIView):
    def post(self, request: Request, name: str) -> Response:
        raise ERRORS[name][0]


class Explaining(Failing):
    explains_refusals = True


class Reading(APIView):
    def post(self, request: Request) -> Response:
        return Response(request.data)


urlpatterns = [
    path("fail/<name>", Failing.as_view()),
    path("explain/<name>", Explaining.as_view()),
    path("read", Reading.as_view()),
]


def handler400(request: Any, exception: Exception) -> HttpResponse:
    return framework_refusal(400, exception)


def handler404(request: Any, exception: Exception) -> HttpResponse:
    return framework_refusal(404, exception)


def handler500(request: Any) -> HttpResponse:
    return framework_refusal(500)


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


pytestmark = pytest.mark.usefixtures("urls")


@pytest.fixture
def urls() -> Any:
    with override_settings(ROOT_URLCONF=__name__):
        yield


def check(response: Any, status: int, code: str) -> None:
    body = json.loads(response.content)
    assert (response.status_code, body["code"]) == (status, code)
    assert set(body) == {"error", "code"}
    assert response["Cache-Control"] == "no-store"
    assert response["Content-Type"] == "application/json"
    assert SECRET not in str(response.headers) + response.content.decode()


@pytest.mark.parametrize("name", ERRORS)
def test_it_answers_every_error_in_one_shape(client: Client, name: str) -> None:
    _, status, code = ERRORS[name]

    check(client.post(f"/fail/{name}"), status, code)


def test_it_answers_the_refusals_of_routing_and_methods(client: Client) -> None:
    check(client.get("/nothing"), 404, "NOT_FOUND")
    response = client.put("/fail/bug")
    check(response, 405, "METHOD_NOT_ALLOWED")
    assert response["Allow"] == "POST, OPTIONS"


def test_it_ignores_what_a_client_accepts(client: Client) -> None:
    for accept in ("text/event-stream", "text/html", "image/png;q=0.1", "nonsense"):
        check(client.post("/fail/missing", HTTP_ACCEPT=accept), 404, "NOT_FOUND")


def test_it_answers_what_the_framework_cannot_read(client: Client) -> None:
    check(client.post("/read", b"{", content_type="application/json"), 400, "INVALID_JSON")
    check(client.post("/read", b"a=b", content_type="text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("name", ["bug", "database"])
def test_it_logs_what_nobody_expected_once(
    client: Client, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        client.post(f"/fail/{name}")

    errors = [record for record in caplog.records if record.levelno >= logging.ERROR and record.exc_info]
    assert len(errors) == 1
    assert SECRET in caplog.text


def test_it_says_when_to_come_again(client: Client) -> None:
    assert client.post("/fail/throttled")["Retry-After"] == "5"
    assert refusal(Refused(RefusalCode.RATE_LIMITED, retry_after=0))["Retry-After"] == "1"
    assert refusal(Refused(RefusalCode.IDEMPOTENCY_IN_PROGRESS))["Retry-After"] == "1"
    assert "Retry-After" not in refusal(Refused(RefusalCode.NOT_FOUND))


def test_it_explains_only_where_the_caller_may_read_reasons(client: Client) -> None:
    response = client.post("/explain/refused")

    assert json.loads(response.content) == {"error": SECRET, "code": "ORIGIN_NOT_ALLOWED"}


def test_it_adds_public_fields() -> None:
    response = refusal(Refused(RefusalCode.UNKNOWN_OUTPUT, SECRET, extra={"outputs": ["a.content"]}))

    assert json.loads(response.content) == {
        "error": REFUSALS[RefusalCode.UNKNOWN_OUTPUT][1],
        "code": "UNKNOWN_OUTPUT",
        "outputs": ["a.content"],
    }


@pytest.mark.parametrize("code", RefusalCode)
def test_it_has_a_status_and_a_sentence_for_every_code(code: RefusalCode) -> None:
    response = refusal(Refused(code, SECRET))

    assert response.status_code == REFUSALS[code][0]
    assert json.loads(response.content)["error"] == REFUSALS[code][1]
    assert (response.status_code in {429, 503} or code is RefusalCode.IDEMPOTENCY_IN_PROGRESS) == (
        "Retry-After" in response
    )


@pytest.mark.parametrize("status", [400, 403, 404, 405, 413, 418, 500, 502, 503])
def test_it_gives_the_framework_a_body_for_any_status(status: int) -> None:
    response = framework_refusal(status)

    assert response.status_code == status
    assert set(json.loads(response.content)) == {"error", "code"}
