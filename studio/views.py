"""Pages and answers of no application in particular: the start, health, what the framework itself refuses."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs.http import framework_refusal
from studio import background

#: Below these paths every answer is JSON.
PROGRAMS = ("/api/", "/v1/", "/health/")


@require_safe
def start(request: HttpRequest) -> HttpResponse:
    return redirect("admin:index")


@never_cache
@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """The process answers. Restart it if this fails."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Send requests here only while this is 200: the database answers, is migrated, and no stop came."""
    reason = "stopping" if background.stopping() else _database_fault()
    if reason:
        return JsonResponse({"status": "unavailable", "reason": reason}, status=503)
    return JsonResponse({"status": "ok"})


_migrated = False


def _database_fault() -> str:
    """Return what is wrong, or nothing. Migrations found applied are not looked at again: it costs 50 ms."""
    global _migrated
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not _migrated:
            executor = MigrationExecutor(connection)
            _migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return "database"
    return "" if _migrated else "migrations"


# --- What the framework refuses -----------------------------------------------------------------------------


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _refuse(request, 400, "This request cannot be understood.", exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _refuse(request, 403, "This page is not open to you.", exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _refuse(request, 404, "There is no page at this address.", exception)


def server_error(request: HttpRequest) -> HttpResponse:
    return _refuse(request, 500, "This page failed on our side. Please try again.")


def _refuse(request: HttpRequest, status: int, sentence: str, error: Exception | None = None) -> HttpResponse:
    """Answer a program with `{"error","code"}`, a person with a page; nothing of the exception goes out."""
    if request.path_info.startswith(PROGRAMS):
        return framework_refusal(status, error)
    # Without the request: a page about a failure asks nothing of sessions or the database.
    return HttpResponse(render_to_string("error.html", {"sentence": sentence}), status=status)
