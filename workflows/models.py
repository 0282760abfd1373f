"""Workflows: a draft that people edit, and published versions that never change."""

import uuid

from django.conf import settings
from django.db import models

from redaction.models import RedactionRule


class Workflow(models.Model):
    """A graph of blocks. `draft` is edited; what runs for others is `published`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    draft = models.JSONField(default=dict, help_text="{blocks: […], edges: […]} as in the studio file.")
    revision = models.PositiveIntegerField(default=1, help_text="Counts saves of the draft.")
    published = models.ForeignKey(
        "WorkflowVersion", null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        permissions = [("run_workflow", "Can run the draft of workflows")]

    def __str__(self) -> str:
        return self.name


class WorkflowVersion(models.Model):
    """A published graph. `number` counts from 1 within its workflow."""

    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=200, blank=True)
    graph = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["workflow", "number"], name="one_version_a_number")]

    def __str__(self) -> str:
        return f"{self.workflow.slug} v{self.number}"


class WorkflowRedactionRule(RedactionRule):
    """A rule for every surface of its workflow."""

    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="redaction_rules")

    class Meta(RedactionRule.Meta):
        abstract = False
