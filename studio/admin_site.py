"""The admin, arranged by task instead of by application, with the day's numbers on its first page."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from deployments.models import ChatDeployment
from runs.models import Run
from studio import start_page

#: Task → models ("app_label.ObjectName") in order. What no task names comes last, in Django's order.
TASKS: dict[str, tuple[str, ...]] = {
    "Publish": ("deployments.ChatDeployment", "workflows.Workflow"),
    "Watch": ("runs.Run", "runs.Conversation", "audit.AuditEntry"),
    "Connect": ("credentials.ProviderConnection", "credentials.Secret"),
    "People": ("auth.User", "auth.Group"),
}


class StudioAdminSite(admin.AdminSite):
    site_header = "Studio"
    site_title = "Studio"
    index_title = "Today"
    enable_nav_sidebar = True

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        apps = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        return group_by_task(apps)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        start = _start(request) if request.user.has_perm("runs.view_run") else None
        return super().index(request, {"start": start, **(extra_context or {})})


def group_by_task(apps: list[Any]) -> list[Any]:
    """Rearrange Django's list of applications into our tasks; what none of them names comes last."""
    models = {f"{app['app_label']}.{model['object_name']}": model for app in apps for model in app["models"]}
    groups = []
    for task, names in TASKS.items():
        found = [models.pop(name) for name in names if name in models]
        if found:
            groups.append({**_empty_group(task), "models": found})
    for app in apps:
        rest = [model for model in app["models"] if f"{app['app_label']}.{model['object_name']}" in models]
        if rest:
            groups.append({**app, "models": rest})
    return groups


def _empty_group(task: str) -> dict[str, Any]:
    return {"name": task, "app_label": task.lower(), "app_url": "", "has_module_perms": True}


def _start(request: HttpRequest) -> dict[str, Any]:
    now = timezone.now()
    if not Run.objects.exists():
        return {"tiles": start_page.tiles(now), "empty": True, "demo_url": _demo_url()}
    found = start_page.days(now)
    return {
        "tiles": start_page.tiles(now),
        "empty": False,
        "runs": start_page.run_chart(found),
        "costs": start_page.cost_chart(found),
        "durations": start_page.duration_chart(found),
        "attention": start_page.attention(now),
        "live": start_page.live_runs(),
        "failures": start_page.last_failures(),
    }


def _demo_url() -> str:
    chat = ChatDeployment.objects.filter(active=True).order_by("created_at").first()
    try:
        return reverse("chat-page", args=[chat.slug]) if chat else ""
    except NoReverseMatch:
        return ""
