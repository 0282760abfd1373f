"""What lets us in elsewhere: provider connections and secrets. Encrypted, never shown again."""

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from credentials import crypto
from credentials.addresses import validate_base_url, validate_hosts
from credentials.overrides import validate_overrides

_API_KEY = "provider-key"
_SECRET = "secret-value"
_SECRET_NAME = RegexValidator(
    r"\A[A-Za-z_][A-Za-z0-9_]*\Z", "A name has letters, digits and underscores, as in {{secret:ORDER_KEY}}."
)


class ProviderKind(models.TextChoices):
    OPENAI = "openai", "OpenAI (Responses)"
    OPENAI_COMPAT = "openai-compat", "OpenAI-compatible (Chat Completions)"
    ANTHROPIC = "anthropic", "Anthropic"
    GEMINI = "gemini", "Gemini"
    BEDROCK = "bedrock", "Bedrock"
    DEMO = "demo", "Demo (scripted answers, no model)"


class ProviderConnection(models.Model):
    """A place that answers model calls, named as the first half of `provider/model`."""

    name = models.SlugField(max_length=64, unique=True, help_text="The first half of provider/model.")
    kind = models.CharField(max_length=20, choices=ProviderKind)
    base_url = models.CharField(
        "address",
        max_length=500,
        blank=True,
        validators=[validate_base_url],
        help_text="E.g. http://127.0.0.1:9000/v1. Empty: the vendor's own.",
    )
    api_key_encrypted = models.TextField(blank=True, editable=False)
    api_key_set_at = models.DateTimeField(null=True, editable=False)
    model_overrides = models.JSONField(
        default=dict,
        blank=True,
        validators=[validate_overrides],
        help_text="What the registry should know of its models, by model name: "
        '{"llama-3": {"thinking": "full", "context_window": 8192, "price": {"input": 0, "output": 0}}}.',
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        super().clean()
        if self.kind == ProviderKind.OPENAI_COMPAT and not self.base_url:
            raise ValidationError({"base_url": "An OpenAI-compatible server has no address of its own."})

    def set_api_key(self, key: str) -> None:
        """Store a key; an empty one removes it. Does not save."""
        self.api_key_encrypted = crypto.encrypt(key, _API_KEY) if key else ""
        self.api_key_set_at = timezone.now() if key else None

    def read_api_key(self) -> str:
        """Return the key, empty if there is none. Raises CredentialError."""
        return crypto.decrypt(self.api_key_encrypted, _API_KEY) if self.api_key_encrypted else ""


class Secret(models.Model):
    """A value that tools may put into a request to its hosts, and nowhere else."""

    name = models.CharField(max_length=64, unique=True, validators=[_SECRET_NAME])
    value_encrypted = models.TextField(editable=False)
    value_set_at = models.DateTimeField(null=True, editable=False)
    hosts = models.JSONField(
        default=list, validators=[validate_hosts], help_text="Host names, e.g. orders.example.com"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def set_value(self, value: str) -> None:
        """Store the value. Does not save."""
        self.value_encrypted = crypto.encrypt(value, _SECRET)
        self.value_set_at = timezone.now()

    def read_value(self) -> str:
        """Raises CredentialError."""
        return crypto.decrypt(self.value_encrypted, _SECRET)
