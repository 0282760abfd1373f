"""Who changed what a deployment discloses, when, from what to what. Entries are written and never edited."""

from django.conf import settings
from django.db import models


class Action(models.TextChoices):
    ADDED = "added", "Added"
    CHANGED = "changed", "Changed"
    DELETED = "deleted", "Deleted"


class AuditEntry(models.Model):
    """One change of one object. `changes` maps a field to [before, after], a secret's to "changed".

    The object is named by value, so that its history outlives it. `actor_name` is kept for the same reason.
    """

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=10, choices=Action)
    kind = models.CharField(max_length=60, help_text="What was changed: chat, redaction rule, secret…")
    object_id = models.CharField(max_length=64)
    object_name = models.CharField(max_length=200)
    changes = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name = "audit entry"
        verbose_name_plural = "audit"
        indexes = [models.Index(fields=["kind", "object_id"])]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.kind} {self.object_name}"
