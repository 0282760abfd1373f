"""Workflows in the admin: the draft is edited, versions are looked at, publishing is an action."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from workflows import publishing
from workflows.differences import differences
from workflows.forms import WorkflowForm
from workflows.models import Workflow, WorkflowRedactionRule, WorkflowVersion
from workflows.problems import GraphError
from workflows.publishing import NotPublishable


class RuleInline(admin.TabularInline[WorkflowRedactionRule, Workflow]):
    model = WorkflowRedactionRule
    extra = 0
    verbose_name = "redaction rule"
    verbose_name_plural = "Redaction rules, for every chat and key that uses this workflow"


class VersionInline(admin.TabularInline[WorkflowVersion, Workflow]):
    """Published graphs, newest first. They never change."""

    model = WorkflowVersion
    fields = ("number", "name", "created_at", "created_by")
    readonly_fields = fields
    extra = 0
    can_delete = False
    show_change_link = True
    verbose_name_plural = "Versions"

    def has_add_permission(self, request: HttpRequest, obj: Workflow | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Workflow | None = None) -> bool:
        return False


@admin.register(Workflow)
class WorkflowAdmin(admin.ModelAdmin[Workflow]):
    form = WorkflowForm
    inlines = (RuleInline, VersionInline)
    list_display = ("name", "slug", "version", "draft_state", "updated_at")
    list_select_related = ("published",)
    search_fields = ("name", "slug")
    search_help_text = "Name or slug"
    prepopulated_fields = {"slug": ("name",)}
    actions = ("publish_draft",)
    fields = ("name", "slug", "draft", "not_published_yet")
    readonly_fields = ("not_published_yet",)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Workflow | None = None) -> dict[str, Any]:
        """A slug is an address: it follows the name only until it is saved."""
        return {} if obj else dict(super().get_prepopulated_fields(request, obj))

    @admin.display(description="Published version", ordering="published__number", empty_value="Not published")
    def version(self, workflow: Workflow) -> str | None:
        published = workflow.published
        return None if published is None else f"{published.number}, {published.created_at:%Y-%m-%d}"

    @admin.display(description="Not published yet")
    def not_published_yet(self, workflow: Workflow) -> str:
        """What publishing would change, by block and field."""
        if workflow.published is None:
            return "All of it: nothing is published."
        changes = differences(workflow.published.graph, workflow.draft)
        return ", ".join(map(str, changes)) or "Nothing: this is what others use."

    @admin.display(description="Draft")
    def draft_state(self, workflow: Workflow) -> str:
        if workflow.published is None:
            return "Not published"
        return f"Ahead of version {workflow.published.number}" if workflow.is_behind else "Published"

    @admin.action(description="Publish the draft", permissions=["change"])
    def publish_draft(self, request: HttpRequest, queryset: QuerySet[Workflow]) -> None:
        by = request.user if isinstance(request.user, User) else None
        for workflow in queryset.select_related("published"):
            _say(self, request, workflow.name, partial(_published, workflow, by))


@admin.register(WorkflowVersion)
class WorkflowVersionAdmin(admin.ModelAdmin[WorkflowVersion]):
    """One version, read; reached from its workflow."""

    list_display = ("workflow", "number", "name", "created_at", "created_by")
    list_filter = ("workflow",)
    fields = ("workflow", "number", "name", "created_at", "created_by", "graph")
    readonly_fields = tuple(field for field in fields if field != "name")
    actions = ("publish_again", "load_into_draft")

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: WorkflowVersion | None = None) -> bool:
        return False

    @admin.action(description="Publish this version again", permissions=["change"])
    def publish_again(self, request: HttpRequest, queryset: QuerySet[WorkflowVersion]) -> None:
        for version in queryset.select_related("workflow"):
            _say(self, request, str(version), partial(_promoted, version))

    @admin.action(description="Load into the draft", permissions=["change"])
    def load_into_draft(self, request: HttpRequest, queryset: QuerySet[WorkflowVersion]) -> None:
        for version in queryset.select_related("workflow"):
            publishing.load_into_draft(version)
            messages.success(request, f"The draft of {version.workflow} is now version {version.number}.")


def _published(workflow: Workflow, by: User | None) -> str:
    done = publishing.publish(workflow, by=by)
    if not done.new:
        return f"{workflow}: the draft is version {done.version.number} already."
    return f"{workflow}: version {done.version.number} is published."


def _promoted(version: WorkflowVersion) -> str:
    publishing.promote(version)
    return f"{version.workflow}: version {version.number} is published again."


def _say(where: admin.ModelAdmin[Any], request: HttpRequest, name: str, act: Callable[[], str]) -> None:
    """Do it and say what came of it."""
    try:
        where.message_user(request, act(), messages.SUCCESS)
    except (GraphError, NotPublishable) as error:
        where.message_user(request, f"{name} was not published. {error}", messages.ERROR)
