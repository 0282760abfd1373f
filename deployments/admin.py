"""Chats in the admin: what each setting exposes stands beside it, and both toggles are in the list.

Passwords and keys go in and never come out; whoever may only look sees less than whoever may change.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from deployments import wording
from deployments.forms import ChatForm, RuleForm
from deployments.models import ChatDeployment, ChatRedactionRule

#: Fields of the form that are no fields of the row: a page for looking has nothing to show for them.
_WRITE_ONLY = ("replace_password", "replace_identity_key")

#: What is said after saving, by toggle and its new state.
_SAID = {
    ("include_thinking", True): "Thinking is now shown to visitors of {}. Their next message will use it.",
    ("include_thinking", False): "Thinking is now hidden from visitors of {}, from their next message on.",
    (
        "include_tool_calls",
        True,
    ): "Tool calls are now shown to visitors of {}. Their next message will use it.",
    (
        "include_tool_calls",
        False,
    ): "Tool calls are now hidden from visitors of {}, from their next message on.",
}


class RuleInline(admin.TabularInline[ChatRedactionRule, ChatDeployment]):
    model = ChatRedactionRule
    form = RuleForm
    extra = 0
    verbose_name = "redaction rule"
    verbose_name_plural = f"Redaction rules. {wording.REDACTION}"


@admin.register(ChatDeployment)
class ChatAdmin(admin.ModelAdmin[ChatDeployment]):
    form = ChatForm
    inlines = (RuleInline,)
    save_as = False
    list_display = (
        "title",
        "slug",
        "workflow",
        "state",
        "access_mode",
        "include_thinking",
        "include_tool_calls",
        "rules",
        "open_link",
    )
    list_editable = ("include_thinking", "include_tool_calls")
    list_filter = ("active", "access_mode", "include_thinking", "include_tool_calls")
    list_select_related = ("workflow__published",)
    search_fields = ("title", "slug")
    search_help_text = "Title or slug"
    readonly_fields = ("stored",)
    fieldsets = (
        ("Chat", {"fields": ("title", "slug", "workflow", "active", "description")}),
        ("Words", {"fields": ("welcome", "suggestions", "locale")}),
        (
            "What visitors may see",
            {
                "fields": ("outputs", "include_thinking", "include_tool_calls"),
                "description": wording.REDACTION,
            },
        ),
        (
            "Who may use it",
            {
                "fields": (
                    "access_mode",
                    "stored",
                    "replace_password",
                    "allowed_emails",
                    "replace_identity_key",
                    "allowed_origins",
                )
            },
        ),
        (
            "Limits",
            {
                "classes": ("collapse",),
                "fields": (
                    "requests_per_minute",
                    "max_runs_visitor",
                    "max_runs_address",
                    "max_runs_chat",
                    "max_input_chars",
                    "max_run_seconds",
                    "budget_run_usd",
                    "budget_day_usd",
                ),
            },
        ),
        ("Look", {"fields": ("theme_color",)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChatDeployment]:
        active = Count("redaction_rules", filter=Q(redaction_rules__active=True))
        return super().get_queryset(request).annotate(active_rules=active)

    def get_fieldsets(self, request: HttpRequest, obj: ChatDeployment | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if self.has_change_permission(request, obj) if obj else self.has_add_permission(request):
            return fieldsets
        return [(name, {**options, "fields": _readable(options["fields"])}) for name, options in fieldsets]

    def save_model(
        self, request: HttpRequest, obj: ChatDeployment, form: ModelForm[ChatDeployment], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        for toggle in ("include_thinking", "include_tool_calls"):
            if toggle in form.changed_data:
                said = _SAID[toggle, bool(getattr(obj, toggle))]
                messages.info(request, said.format(obj.title))

    @admin.display(description="State")
    def state(self, chat: ChatDeployment) -> str:
        return chat.state.label

    @admin.display(description="Stored", empty_value="No password and no signing key is set.")
    def stored(self, chat: ChatDeployment) -> str | None:
        kinds = {"A password": chat.password_hash, "A signing key": chat.identity_key_encrypted}
        return " ".join(f"{kind} is set." for kind, value in kinds.items() if value) or None

    @admin.display(description="Rules")
    def rules(self, chat: Any) -> int:
        count: int = chat.active_rules
        return count

    @admin.display(description="Page")
    def open_link(self, chat: ChatDeployment) -> str:
        return format_html('<a href="{}">Open</a>', reverse("chat-page", args=[chat.slug]))


def _readable(fields: Sequence[Any]) -> list[Any]:
    return [field for field in fields if field not in _WRITE_ONLY]
