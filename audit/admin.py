"""The audit in the admin: read, filter, export. Nobody adds, changes or deletes an entry here."""

import csv
import json
from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from audit.models import AuditEntry

HEADER = ("at", "who", "action", "kind", "object", "name", "changes")


class _Echo:
    """csv.writer needs something to write to; what it writes is what we stream."""

    def write(self, value: str) -> str:
        return value


@admin.register(AuditEntry)
class AuditEntryAdmin(admin.ModelAdmin[AuditEntry]):
    list_display = ("at", "actor_name", "action", "kind", "object_name", "summary")
    list_filter = ("action", "kind", "actor_name")
    search_fields = ("object_name", "object_id")
    search_help_text = "Name or id of the object"
    date_hierarchy = "at"
    list_per_page = 50
    actions = ("export_csv",)
    fields = ("at", "actor_name", "action", "kind", "object_name", "object_id", "summary")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AuditEntry | None = None) -> bool:
        return False

    @admin.display(description="From → to")
    def summary(self, entry: AuditEntry) -> SafeString:
        return format_html_join("", "<div><strong>{}</strong>: {}</div>", _lines(entry.changes))

    @admin.action(description="Export selected entries as CSV", permissions=["view"])
    def export_csv(self, request: HttpRequest, queryset: QuerySet[AuditEntry]) -> StreamingHttpResponse:
        writer = csv.writer(_Echo())
        rows = (
            (
                e.at.isoformat(),
                e.actor_name,
                e.action,
                e.kind,
                e.object_id,
                e.object_name,
                json.dumps(e.changes),
            )
            for e in queryset.order_by("at", "id").iterator()
        )

        def lines() -> Iterator[str]:
            yield writer.writerow(HEADER)
            for row in rows:
                yield writer.writerow([_inert(cell) for cell in row])

        response = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="audit.csv"'
        return response


def _lines(changes: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field, change in changes.items():
        label = field.removesuffix("_encrypted").removesuffix("_hash").replace("_", " ")
        yield label, change if isinstance(change, str) else f"{_shown(change[0])} → {_shown(change[1])}"


def _shown(value: Any) -> str:
    match value:
        case None | "" | [] | {}:
            return "nothing"
        case True:
            return "on"
        case False:
            return "off"
        case str():
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)


def _inert(cell: str) -> str:
    """A spreadsheet runs a cell that begins like a formula; an apostrophe makes it text."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
