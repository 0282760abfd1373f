"""A published chat: which outputs visitors get, what they may see of the agent, and who may use it."""

import uuid

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from redaction.models import RedactionRule
from workflows.models import Workflow


class AccessMode(models.TextChoices):
    PUBLIC = "public", "Everybody with the link"
    PASSWORD = "password", "Everybody with the password"
    EMAIL = "email", "Listed e-mail addresses, by a code"
    JWT = "jwt", "Visitors your own site signs in (JWT)"


class ChatDeployment(models.Model):
    """A workflow published as a chat. The two toggles are independent and off by default."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="chats")
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    welcome = models.TextField(blank=True)
    suggestions = models.JSONField(default=list, blank=True)
    theme_color = models.CharField(
        max_length=7,
        default="#2563eb",
        validators=[RegexValidator(r"\A#[0-9a-fA-F]{6}\Z", "A colour is # and six hexadecimal digits.")],
    )
    locale = models.CharField(max_length=10, blank=True, help_text="Empty: the visitor's browser decides.")
    active = models.BooleanField(default=True)
    outputs = models.JSONField(default=list, help_text="What visitors get, e.g. agent_1.content")

    include_thinking = models.BooleanField(
        default=False,
        help_text="Visitors whose client speaks the protocol see the model's thinking, where it exposes any.",
    )
    include_tool_calls = models.BooleanField(
        default=False,
        help_text="Visitors whose client speaks the protocol see names and states of tool calls. "
        "Arguments and results are never shown.",
    )

    access_mode = models.CharField(max_length=10, choices=AccessMode, default=AccessMode.PUBLIC)
    password_hash = models.CharField(max_length=200, blank=True, editable=False)
    allowed_emails = models.JSONField(default=list, blank=True)
    identity_key_encrypted = models.TextField(blank=True, editable=False)
    access_version = models.PositiveIntegerField(
        default=1, editable=False, help_text="Grants carry it: changing mode, password or list ends them at once."
    )
    allowed_origins = models.JSONField(default=list, blank=True)

    requests_per_minute = models.PositiveIntegerField(default=30, validators=[MinValueValidator(1)])
    max_runs_visitor = models.PositiveIntegerField(default=2, validators=[MinValueValidator(1)])
    max_runs_address = models.PositiveIntegerField(default=10, validators=[MinValueValidator(1)])
    max_runs_chat = models.PositiveIntegerField(default=100, validators=[MinValueValidator(1)])
    max_input_chars = models.PositiveIntegerField(default=20000, validators=[MinValueValidator(1)])
    max_run_seconds = models.PositiveIntegerField(default=600, validators=[MinValueValidator(1)])
    budget_run_usd = models.FloatField(null=True, blank=True)
    budget_day_usd = models.FloatField(null=True, blank=True)

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["title"]
        verbose_name = "chat"

    def __str__(self) -> str:
        return self.title


class ChatRedactionRule(RedactionRule):
    """A rule for one chat, on top of its workflow's rules."""

    chat = models.ForeignKey(ChatDeployment, on_delete=models.CASCADE, related_name="redaction_rules")

    class Meta(RedactionRule.Meta):
        abstract = False
