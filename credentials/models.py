"""What lets us in elsewhere: provider connections and secrets. Encrypted, never shown again."""

from django.db import models


class ProviderKind(models.TextChoices):
    OPENAI = "openai", "OpenAI (Responses)"
    OPENAI_COMPAT = "openai-compat", "OpenAI-compatible (Chat Completions)"
    ANTHROPIC = "anthropic", "Anthropic"
    GEMINI = "gemini", "Gemini"
    BEDROCK = "bedrock", "Bedrock"
    DEMO = "demo", "Demo (scripted answers, no model)"


class ProviderConnection(models.Model):
    """A place that answers model calls, named as the first half of `provider/model`."""

    name = models.SlugField(
        max_length=64, unique=True, help_text="The part before the slash in provider/model."
    )
    kind = models.CharField(max_length=20, choices=ProviderKind)
    base_url = models.URLField(max_length=500, blank=True, help_text="Empty: the vendor's own address.")
    api_key_encrypted = models.TextField(blank=True, editable=False)
    model_overrides = models.JSONField(
        default=dict, blank=True, help_text="What the registry should know of its models, by model name."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Secret(models.Model):
    """A value that tools may put into a request to its hosts, and nowhere else."""

    name = models.CharField(max_length=64, unique=True)
    value_encrypted = models.TextField(editable=False)
    hosts = models.JSONField(default=list, help_text="Host names, e.g. orders.example.com")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
