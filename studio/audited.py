"""What is audited: all that decides what a deployment discloses and to whom. One table."""

from audit.tracking import track
from credentials.models import ProviderConnection, Secret
from deployments.models import ChatDeployment, ChatRedactionRule
from workflows.models import Workflow, WorkflowRedactionRule, WorkflowVersion

_RULE = ("kind", "regions", "pattern", "words", "replacement", "active", "position")
_CHAT = (
    "slug",
    "title",
    "workflow",
    "active",
    "outputs",
    "include_thinking",
    "include_tool_calls",
    "access_mode",
    "allowed_emails",
    "allowed_origins",
    "requests_per_minute",
    "max_runs_visitor",
    "max_runs_address",
    "max_runs_chat",
    "max_input_chars",
    "max_run_seconds",
    "budget_run_usd",
    "budget_day_usd",
)


def begin() -> None:
    """Called once, when the applications are ready."""
    track(ChatDeployment, "chat", _CHAT, secrets=("password_hash", "identity_key_encrypted"))
    track(ChatRedactionRule, "redaction rule", _RULE, name=lambda rule: f"{rule.chat}: {rule}")
    track(Workflow, "workflow", ("slug", "name", "published"))
    track(WorkflowVersion, "workflow version", ("number", "name"))
    track(WorkflowRedactionRule, "redaction rule", _RULE, name=lambda rule: f"{rule.workflow}: {rule}")
    track(
        ProviderConnection,
        "provider",
        ("name", "kind", "base_url", "model_overrides"),
        secrets=("api_key_encrypted",),
    )
    track(Secret, "secret", ("name", "hosts"), secrets=("value_encrypted",))
