"""The ledger in the admin. Who may see runs sees how they went; what was said in them is a permission of its
own (`runs.view_trace`), and so is stopping them (`runs.stop_run`). Nobody changes a row by hand.
"""

import json
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs import registry, wording
from runs.erasure import erase
from runs.models import ACTIVE, Conversation, Message, Run, Status, TraceEntry

VIEW_TRACE = "runs.view_trace"
STOP = "runs.stop_run"

#: How a status looks: a sign and a word, so that none depends on its colour.
SIGNS = {
    Status.QUEUED: "◌",
    Status.RUNNING: "●",
    Status.COMPLETED: "✓",
    Status.FAILED: "✗",
    Status.CANCELLED: "■",
}


class ReadOnly:
    """Rows that only the system writes."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class Private(ReadOnly):
    """Rows that say what a run was given, did and answered."""

    extra = 0
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm(VIEW_TRACE)


class TraceInline(Private, admin.TabularInline[TraceEntry, Run]):
    model = TraceEntry
    verbose_name_plural = "Trace"
    fields = readonly_fields = ("seq", "at", "block_id", "kind", "content")

    @admin.display(description="Data")
    def content(self, entry: TraceEntry) -> SafeString:
        return _pretty(entry.data)


class MessageInline(Private, admin.TabularInline[Message, Conversation]):
    model = Message
    verbose_name_plural = "Messages"
    fields = readonly_fields = ("created_at", "role", "status", "content", "run")


@admin.register(Run)
class RunAdmin(ReadOnly, admin.ModelAdmin[Run]):
    list_display = ("created_at", "state", "surface", "what", "code", "duration", "tokens", "price")
    list_filter = ("surface", "status", "code", "workflow_slug")
    search_fields = ("id__startswith", "conversation__id__startswith")
    search_help_text = "Execution id or conversation id"
    date_hierarchy = "created_at"
    list_per_page = 50
    show_full_result_count = False
    actions = ("stop",)
    inlines = (TraceInline,)
    readonly_fields = ("state", "what", "duration", "tokens", "price", "given", "answered")
    fieldsets = (
        (None, {"fields": ("id", "state", "code", "stop_reason", "surface", "what", "workflow_version")}),
        ("Times", {"fields": ("created_at", "started_at", "finished_at", "duration", "lease_until")}),
        ("Use", {"fields": ("rounds", "tool_calls", "tokens", "price")}),
        ("Who", {"fields": ("conversation", "credential_id", "visitor")}),
    )
    private = ("Content", {"fields": ("detail", "given", "answered")})

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return super().get_queryset(request).defer("input", "output", "policy", "detail", "terminal_blocks")

    def get_fieldsets(self, request: HttpRequest, obj: Run | None = None) -> Any:
        return (*self.fieldsets, self.private) if request.user.has_perm(VIEW_TRACE) else self.fieldsets

    def has_stop_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(STOP)

    @admin.action(description="Stop selected runs", permissions=["stop"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        asked = 0
        for run in queryset.filter(status__in=ACTIVE):
            registry.stop(run.pk)
            self.log_change(request, run, "Stopped.")
            asked += 1
        rest = queryset.count() - asked
        text = f"{asked} asked to stop." + (f" {rest} had ended already." if rest else "")
        self.message_user(request, text, messages.SUCCESS if asked else messages.WARNING)

    @admin.display(description="Status", ordering="status")
    def state(self, run: Run) -> str:
        return f"{SIGNS[Status(run.status)]} {Status(run.status).label}"

    @admin.display(description="Chat or workflow")
    def what(self, run: Run) -> str:
        return run.chat_slug or run.workflow_slug or "–"

    @admin.display(description="Duration")
    def duration(self, run: Run) -> str:
        if run.finished_at is None:
            return "–"
        return wording.duration((run.finished_at - (run.started_at or run.created_at)).total_seconds())

    @admin.display(description="Tokens")
    def tokens(self, run: Run) -> str:
        total = run.usage.get("total_tokens")
        return "–" if total is None else f"{'about ' if run.usage.get('estimated') else ''}{total:,}"

    @admin.display(description="Cost", ordering="cost")
    def price(self, run: Run) -> str:
        return wording.money(run.cost)

    @admin.display(description="Input")
    def given(self, run: Run) -> SafeString:
        return _pretty(run.input)

    @admin.display(description="Output")
    def answered(self, run: Run) -> SafeString:
        return _pretty(run.output)


@admin.register(Conversation)
class ConversationAdmin(ReadOnly, admin.ModelAdmin[Conversation]):
    """Deleting one erases what was said in it, from the ledger too."""

    list_display = ("id", "scope", "name", "turns", "updated_at")
    search_fields = ("id__startswith",)
    search_help_text = "Conversation id"
    date_hierarchy = "updated_at"
    list_per_page = 50
    inlines = (MessageInline,)
    fields = readonly_fields = ("id", "scope", "name", "created_at", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return super().get_queryset(request).annotate(turn_count=Count("runs")).order_by("-updated_at")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("runs.delete_conversation")

    def delete_model(self, request: HttpRequest, obj: Conversation) -> None:
        erase(obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> None:
        for conversation_id in queryset.values_list("pk", flat=True):
            erase(conversation_id)

    @admin.display(description="Turns", ordering="turn_count")
    def turns(self, conversation: Conversation) -> int:
        return int(getattr(conversation, "turn_count", 0))


def _pretty(value: Any) -> SafeString:
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False))
