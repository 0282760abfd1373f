"""The shape of a redaction rule. Whoever owns rules (a chat, a workflow) makes a table of its own from it."""

from django.db import models


class RuleKind(models.TextChoices):
    EMAIL = "email", "E-mail address"
    PHONE = "phone", "Phone number"
    CREDIT_CARD = "credit_card", "Payment card number"
    IBAN = "iban", "IBAN"
    IP_ADDRESS = "ip_address", "IP address"
    URL = "url", "Web address"
    CPF = "cpf", "CPF (Brazil)"
    CNPJ = "cnpj", "CNPJ (Brazil)"
    US_SSN = "us_ssn", "Social Security number (US)"
    SECRET_KEY = "secret_key", "Key or token"
    REGEX = "regex", "Pattern (RE2)"
    WORDS = "words", "Words"


class RedactionRule(models.Model):
    """One kind of value that is replaced in block output, and what stands in its place."""

    kind = models.CharField(max_length=20, choices=RuleKind)
    regions = models.JSONField(default=list, blank=True, help_text="For phone numbers: countries, e.g. BR, US.")
    pattern = models.TextField(blank=True, help_text="For patterns: RE2 syntax, without look-around.")
    words = models.JSONField(default=list, blank=True, help_text="For words: each word or phrase.")
    replacement = models.CharField(max_length=100, blank=True, help_text="Empty: [kind], e.g. [email].")
    active = models.BooleanField(default=True)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}"
