"""The shape of a redaction rule. Whoever owns rules (a chat, a workflow) makes a table of its own from it."""

from django.core.exceptions import ValidationError
from django.db import models

from redaction import rules


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
    PRESIDIO = "presidio", "Names, places and more (presidio)"


class RedactionRule(models.Model):
    """One kind of value that is replaced in block output, and what stands in its place."""

    kind = models.CharField(
        max_length=20,
        choices=RuleKind,
        help_text="Numbers with check digits (cards, IBAN, CPF, CNPJ) are masked only if these are right: "
        "4000 0012 3456 7899 is a card number, 4000 0012 3456 7890 is none. Mask others by a pattern.",
    )
    regions = models.JSONField(
        default=list,
        blank=True,
        help_text="For phone numbers: countries, e.g. BR, US. Empty: only numbers that begin with + or 00.",
    )
    pattern = models.TextField(blank=True, help_text="For patterns: RE2 syntax, without look-around.")
    words = models.JSONField(
        default=list,
        blank=True,
        help_text="For words: each word or phrase, masked as a whole word in any case.",
    )
    replacement = models.CharField(max_length=100, blank=True, help_text="Empty: [kind], e.g. [email].")
    active = models.BooleanField(default=True)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}"

    def clean(self) -> None:
        """A rule that cannot be compiled is never saved by a form or a file."""
        super().clean()
        if mistakes := rules.mistakes(self):
            raise ValidationError(mistakes)
