"""The admin's form of a chat. Lists are one entry a line; passwords and keys go in and never come out."""

from typing import Any

from django import forms
from django.contrib.auth.hashers import make_password

from credentials.crypto import encrypt
from deployments import access, selection, wording
from deployments.models import IDENTITY_KEY, ChatDeployment, ChatRedactionRule
from workflows.graph import read
from workflows.problems import GraphError

_NEVER_SHOWN = forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"})
#: HS256 signs with 256 bits: a shorter key would be the weakest part.
MIN_IDENTITY_KEY = 32


class LinesField(forms.CharField):
    """A list of texts, one a line; blank lines say nothing."""

    def __init__(self, *, rows: int = 4, **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "cols": 60})
        super().__init__(widget=widget, required=False, strip=False, **options)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class ChatForm(forms.ModelForm[ChatDeployment]):
    suggestions = LinesField(help_text=wording.SUGGESTIONS)
    outputs = LinesField(help_text=wording.OUTPUTS)
    allowed_emails = LinesField(label="Allowed addresses", help_text=wording.EMAIL)
    allowed_origins = LinesField(help_text=wording.ALLOWED_ORIGINS)
    replace_password = forms.CharField(
        label="Password",
        required=False,
        strip=False,
        max_length=access.MAX_PASSWORD_CHARS,
        widget=_NEVER_SHOWN,
        help_text=f"{wording.PASSWORD} Empty keeps the stored one.",
    )
    replace_identity_key = forms.CharField(
        label="Signing key",
        required=False,
        min_length=MIN_IDENTITY_KEY,
        widget=_NEVER_SHOWN,
        help_text=f"{wording.JWT} Empty keeps the stored one.",
    )

    class Meta:
        model = ChatDeployment
        exclude: list[str] = []
        widgets = {
            "access_mode": forms.RadioSelect,
            "theme_color": forms.TextInput(attrs={"type": "color"}),
            "description": forms.Textarea(attrs={"rows": 2}),
            "welcome": forms.Textarea(attrs={"rows": 3}),
        }
        help_texts = {
            "slug": wording.SLUG,
            "active": wording.ACTIVE,
            "description": wording.DESCRIPTION,
            "welcome": wording.WELCOME,
            "locale": wording.LOCALE,
            "include_thinking": wording.INCLUDE_THINKING,
            "include_tool_calls": wording.INCLUDE_TOOL_CALLS,
            "access_mode": wording.PUBLIC,
            "requests_per_minute": wording.REQUESTS_PER_MINUTE,
            "max_runs_visitor": wording.MAX_RUNS_VISITOR,
            "max_runs_address": wording.MAX_RUNS_ADDRESS,
            "max_runs_chat": wording.MAX_RUNS_CHAT,
            "max_input_chars": wording.MAX_INPUT_CHARS,
            "max_run_seconds": wording.MAX_RUN_SECONDS,
            "budget_run_usd": wording.BUDGET_RUN,
            "budget_day_usd": wording.BUDGET_DAY,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if offered := _offered(self.instance):
            self.fields["outputs"].help_text = f"{wording.OUTPUTS} One a line. Offered are: {offered}."

    def clean(self) -> dict[str, Any]:
        # Before the chat checks itself: whether a mode has what it needs depends on these.
        data = super().clean() or self.cleaned_data
        if password := data.get("replace_password"):
            self.instance.password_hash = make_password(password)
        if key := data.get("replace_identity_key"):
            self.instance.identity_key_encrypted = encrypt(key, IDENTITY_KEY)
        return data


def _offered(chat: ChatDeployment) -> str:
    """What the published version of a chat's workflow offers; empty: nothing is published, or cannot run."""
    version = chat.workflow.published if chat.workflow_id else None
    try:
        return "" if version is None else ", ".join(selection.choices(read(version.graph)))
    except GraphError:
        return ""


class RuleForm(forms.ModelForm[ChatRedactionRule]):
    regions = LinesField(rows=2)
    words = LinesField(rows=2)

    class Meta:
        model = ChatRedactionRule
        fields = ["kind", "regions", "words", "pattern", "replacement", "active", "position"]
        widgets = {"pattern": forms.Textarea(attrs={"rows": 2, "cols": 30})}
