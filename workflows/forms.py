"""Forms of the admin: a graph as JSON text, which never comes back other than it was typed."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput

from workflows import strict_json
from workflows.graph import in_order
from workflows.models import Workflow

MAX_CHARACTERS = 500_000


class GraphField(forms.JSONField):
    """Strict JSON: what other readers would guess at (NaN, a key twice, a number too long) is a mistake."""

    widget = forms.Textarea(
        attrs={"rows": 30, "cols": 100, "spellcheck": "false", "class": "vLargeTextField"}
    )

    def to_python(self, value: Any) -> Any:
        if not isinstance(value, str) or value in self.empty_values:
            return super().to_python(value)
        if len(value) > MAX_CHARACTERS:
            raise ValidationError(f"A graph has at most {MAX_CHARACTERS} characters.")
        try:
            return strict_json.loads(value)
        except json.JSONDecodeError as error:
            raise ValidationError(
                f"This is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
            ) from error
        except ValueError as error:
            raise ValidationError(f"This is not JSON: {error}.") from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What was typed is shown as it was typed, mistakes and spaces included."""
        return InvalidJSONInput(data) if isinstance(data, str) else super().bound_data(data, initial)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, InvalidJSONInput):
            return value
        return json.dumps(value, ensure_ascii=False, indent=2)

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != initial)
        except ValidationError:
            return True


#: What a new workflow begins with: the smallest graph that answers.
_FIRST_DRAFT = {
    "blocks": [
        {"id": "start", "type": "start"},
        {"id": "agent_1", "type": "agent", "model": "demo/demo", "memory": "conversation"},
    ],
    "edges": [["start", "agent_1"]],
}


class WorkflowForm(forms.ModelForm[Workflow]):
    draft = GraphField(help_text="Blocks and edges as in the studio file. Saving changes the draft only.")

    class Meta:
        model = Workflow
        fields = ["name", "slug", "draft"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        draft = _FIRST_DRAFT if self.instance._state.adding else self.instance.draft
        self.initial["draft"] = in_order(draft)

    def save(self, commit: bool = True) -> Workflow:
        if "draft" in self.changed_data and not self.instance._state.adding:
            self.instance.revision += 1
        return super().save(commit)
