"""A published chat: which outputs visitors get, what they may see of the agent, and who may use it.

Saving a chat with another access mode, password, list or key ends every grant: `access_version` counts on.
"""

import uuid
from collections.abc import Callable, Collection, Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction

from deployments import selection, slugs, theme
from deployments.entries import check_emails, check_origins, check_suggestions
from redaction.models import RedactionRule
from workflows.models import Workflow


class AccessMode(models.TextChoices):
    PUBLIC = "public", "Everybody with the link"
    PASSWORD = "password", "Everybody with the password"
    EMAIL = "email", "Listed e-mail addresses, by a code"
    JWT = "jwt", "Visitors your own site signs in (JWT)"


class ChatState(models.TextChoices):
    """What a visitor meets. Only `LIVE` and `BEHIND` can be used."""

    LIVE = "live", "Live"
    BEHIND = "behind", "Live, behind its draft"
    INACTIVE = "inactive", "Inactive"
    UNPUBLISHED = "unpublished", "Not published"


#: The purpose under which `identity_key_encrypted` is encrypted.
IDENTITY_KEY = "chat identity key"

#: What a grant stands on: changing any of it ends all grants.
ACCESS_FIELDS = ("access_mode", "password_hash", "allowed_emails", "identity_key_encrypted")

_RESERVED = "This word is one of Studio's own addresses."
#: What each mode cannot do without, and the sentence for whoever forgot it.
_NEEDED: dict[str, tuple[str, str]] = {
    AccessMode.PASSWORD: ("password_hash", "This way of access needs a password."),
    AccessMode.EMAIL: ("allowed_emails", "This way of access needs at least one address or @domain."),
    AccessMode.JWT: ("identity_key_encrypted", "This way of access needs the key your site signs with."),
}


def _limit(default: int, most: int) -> "models.PositiveIntegerField[int, int]":
    return models.PositiveIntegerField(
        default=default, validators=[MinValueValidator(1), MaxValueValidator(most)]
    )


def _budget() -> "models.FloatField[float | None, float | None]":
    """Dollars; None: no limit."""
    return models.FloatField(null=True, blank=True, validators=[MinValueValidator(0)])


class ChatDeployment(models.Model):
    """A workflow published as a chat. The two toggles are independent and off by default."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=slugs.MAX_LENGTH, unique=True, blank=True)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="chats")
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    welcome = models.TextField(blank=True)
    suggestions = models.JSONField(default=list, blank=True)
    theme_color = models.CharField(
        "colour",
        max_length=7,
        default=theme.DEFAULT_COLOR,
        validators=[
            RegexValidator(rf"\A{theme.COLOR.pattern}\Z", "A colour is # and six hexadecimal digits.")
        ],
    )
    locale = models.CharField(
        "language",
        max_length=10,
        blank=True,
        validators=[RegexValidator(r"\A[a-z]{2,3}(-[A-Z]{2})?\Z", "A language is like en, pt-BR or es.")],
    )
    active = models.BooleanField(default=True)
    outputs = models.JSONField(default=list, blank=True)

    include_thinking = models.BooleanField(default=False)
    include_tool_calls = models.BooleanField(default=False)

    access_mode = models.CharField(max_length=10, choices=AccessMode, default=AccessMode.PUBLIC)
    password_hash = models.CharField(max_length=200, blank=True, editable=False)
    allowed_emails = models.JSONField(default=list, blank=True)
    identity_key_encrypted = models.TextField(blank=True, editable=False)
    access_version = models.PositiveIntegerField(default=1, editable=False)
    allowed_origins = models.JSONField(default=list, blank=True)

    requests_per_minute = _limit(30, 100_000)
    max_runs_visitor = _limit(2, 10_000)
    max_runs_address = _limit(10, 10_000)
    max_runs_chat = _limit(100, 100_000)
    max_input_chars = _limit(20_000, 250_000)
    max_run_seconds = _limit(600, 86_400)
    budget_run_usd = _budget()
    budget_day_usd = _budget()

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["title"]
        verbose_name = "chat"

    def __str__(self) -> str:
        return self.title

    def save(
        self,
        *,
        force_insert: bool | tuple[models.base.ModelBase, ...] = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        self._fill_slug()
        with transaction.atomic(using=using):
            self._end_grants_if_access_changed(using)
            if update_fields is not None and not set(ACCESS_FIELDS).isdisjoint(update_fields):
                update_fields = {*update_fields, "access_version"}
            super().save(
                force_insert=force_insert,
                force_update=force_update,
                using=using,
                update_fields=update_fields,
            )

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        """Check each field, those too that depend on others: an excluded one is never complained about."""
        if not self.slug:
            self._fill_slug()
        faults: dict[str, list[Any]] = {}
        try:
            super().clean_fields(exclude)
        except ValidationError as error:
            faults |= error.error_dict
        for field, check in self._checks().items():
            if field not in faults and field not in (exclude or ()) and (found := check()):
                faults[field] = [ValidationError(sentence) for sentence in found]
        if faults:
            raise ValidationError(faults)

    def _checks(self) -> dict[str, Callable[[], list[str]]]:
        return {
            "slug": lambda: [_RESERVED] if slugs.is_reserved(self.slug) else [],
            "suggestions": lambda: check_suggestions(self.suggestions),
            "outputs": lambda: selection.problems(self.outputs, self.workflow) if self.workflow_id else [],
            "access_mode": self._missing_for_access,
            "allowed_emails": lambda: check_emails(self.allowed_emails),
            "allowed_origins": lambda: check_origins(self.allowed_origins),
        }

    @property
    def state(self) -> ChatState:
        published = self.workflow.published
        if published is None:
            return ChatState.UNPUBLISHED
        if not self.active:
            return ChatState.INACTIVE
        return ChatState.LIVE if published.graph == self.workflow.draft else ChatState.BEHIND

    @property
    def scope(self) -> str:
        """Whose conversations and limits these are, in the ledger."""
        return f"chat:{self.id.hex}"

    def _end_grants_if_access_changed(self, using: str | None) -> None:
        # Compared with the row, not with what was loaded: a stale copy must not bring an old version back.
        rows = ChatDeployment.objects.using(using).select_for_update().filter(pk=self.pk)
        stored = rows.values("access_version", *ACCESS_FIELDS).first()
        if stored is not None:
            changed = any(stored[field] != getattr(self, field) for field in ACCESS_FIELDS)
            self.access_version = stored["access_version"] + changed

    def _fill_slug(self) -> None:
        if not self.slug:
            self.slug = slugs.slug_for(self.title, self._slug_is_taken)

    def _slug_is_taken(self, slug: str) -> bool:
        return ChatDeployment.objects.filter(slug=slug).exclude(pk=self.pk).exists()

    def _missing_for_access(self) -> list[str]:
        field, sentence = _NEEDED.get(self.access_mode, ("", ""))
        return [sentence] if field and not getattr(self, field) else []


class ChatRedactionRule(RedactionRule):
    """A rule for one chat, on top of its workflow's rules."""

    chat = models.ForeignKey(ChatDeployment, on_delete=models.CASCADE, related_name="redaction_rules")

    class Meta(RedactionRule.Meta):
        abstract = False
