"""Workflows: a draft that people edit, and published versions that never change."""

import uuid
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

from redaction.models import RedactionRule
from workflows import graph


class Workflow(models.Model):
    """A graph of blocks. `draft` is edited; what runs for others is `published`.

    A form or a file never saves a draft that cannot run. Who saves unfinished ones does not call `clean`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    draft = models.JSONField(default=dict, help_text="{blocks: […], edges: […]} as in the studio file.")
    revision = models.PositiveIntegerField(default=1, editable=False, help_text="Counts saves of the draft.")
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

    def clean(self) -> None:
        super().clean()
        if problems := graph.problems(self.draft):
            raise ValidationError({"draft": [str(problem) for problem in problems]})

    def set_draft(self, draft: dict[str, Any]) -> bool:
        """Take a draft and say whether it is another one. Does not save."""
        if draft == self.draft:
            return False
        self.draft = draft
        self.revision += not self._state.adding
        return True

    @property
    def is_behind(self) -> bool:
        """Whether others run something else than the draft."""
        return self.published is not None and self.published.graph != self.draft


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
