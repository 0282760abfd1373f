"""The section `chats` of the studio file. Applying an export changes nothing; secrets never come out."""

from hmac import compare_digest
from typing import Any

from django.contrib.auth.hashers import check_password, make_password

from credentials.crypto import CredentialError, decrypt, encrypt
from credentials.declare import (
    Change,
    Context,
    FileError,
    Item,
    Outcome,
    entries,
    env_value,
    refuse_twins,
    store,
)
from deployments import origins, selection
from deployments.models import IDENTITY_KEY, AccessMode, ChatDeployment
from redaction.rules import rules_to_file
from workflows import redaction_section
from workflows.models import Workflow

_REQUIRED = ("slug", "workflow", "title", "outputs")
_OPTIONAL = (
    "description",
    "welcome",
    "suggestions",
    "theme",
    "locale",
    "active",
    "include_thinking",
    "include_tool_calls",
    "access",
    "allowed_origins",
    "limits",
    "redaction",
)
_ACCESS_KEYS = {
    AccessMode.PUBLIC: (),
    AccessMode.PASSWORD: ("password_env",),
    AccessMode.EMAIL: ("allowed",),
    AccessMode.JWT: ("identity_key_env",),
}
_LIMITS = ("requests_per_minute", "max_input_chars", "max_run_seconds")
_ROOMS = ("visitor", "address", "chat")
_BUDGETS = ("run", "day")

#: Where a field stands in the file, if not under its own name.
_PATHS = {
    "theme_color": "theme.color",
    "access_mode": "access.mode",
    "allowed_emails": "access.allowed",
    **{key: f"limits.{key}" for key in _LIMITS},
    **{f"max_runs_{key}": f"limits.max_concurrent_runs.{key}" for key in _ROOMS},
    **{f"budget_{key}_usd": f"limits.budget_usd.{key}" for key in _BUDGETS},
}


def apply_chats(value: object, path: str, context: Context) -> list[Change]:
    """Create or update each chat of the list; raises FileError with the path of the first mistake."""
    items = [Item(entry, at, required=_REQUIRED, optional=_OPTIONAL) for entry, at in entries(value, path)]
    refuse_twins((item.text("slug"), item.at("slug")) for item in items)
    return [_apply(item, context) for item in items]


def export_chats() -> list[dict[str, Any]]:
    chats = ChatDeployment.objects.select_related("workflow").prefetch_related("redaction_rules")
    return [_export(chat) for chat in chats.order_by("slug")]


# --- In -----------------------------------------------------------------------------------------------------


def _apply(item: Item, context: Context) -> Change:
    slug = item.text("slug", empty=False)
    chat = ChatDeployment.objects.filter(slug=slug).first() or ChatDeployment(slug=slug)
    rules = redaction_section.read(item)
    workflow = _workflow(item)
    values = {
        "workflow_id": workflow.pk,
        "outputs": _outputs(item, workflow),
        **_words(item),
        **_access(item, chat, context),
        **_limits(item),
    }
    try:
        change = store(chat, values, item.path, name=slug)
    except FileError as error:
        raise FileError(_file_path(item, error.path), error.message) from error
    more = rules is not None and redaction_section.replace(chat.redaction_rules, rules)
    return (
        Change(item.path, slug, Outcome.UPDATED) if more and change.outcome is Outcome.UNCHANGED else change
    )


def _file_path(item: Item, path: str) -> str:
    field = path.removeprefix(f"{item.path}.")
    return item.at(_PATHS[field]) if field in _PATHS else path


def _workflow(item: Item) -> Workflow:
    slug = item.text("workflow")
    found = Workflow.objects.select_related("published").filter(slug=slug).first()
    if found is None:
        raise item.error("workflow", f"there is no workflow '{slug}'.")
    return found


def _outputs(item: Item, workflow: Workflow) -> list[str]:
    outputs = item.texts("outputs")
    if not outputs:
        raise item.error("outputs", selection.NOTHING)
    for entry, path in entries(outputs, item.at("outputs")):
        if problem := selection.problem(entry, workflow):
            raise FileError(path, problem)
    return outputs


def _words(item: Item) -> dict[str, Any]:
    values: dict[str, Any] = {"title": item.text("title", empty=False, max_length=200)}
    values |= {key: item.text(key) for key in ("description", "welcome") if key in item}
    for key in ("active", "include_thinking", "include_tool_calls"):
        if key in item:
            values[key] = item.flag(key)
    if "suggestions" in item:
        values["suggestions"] = item.texts("suggestions")
    if "locale" in item:
        values["locale"] = item.text_or_none("locale", max_length=10) or ""
    if "theme" in item:
        values["theme_color"] = item.item("theme", required=["color"]).text("color")
    if "allowed_origins" in item:
        values["allowed_origins"] = _origins(item)
    return values


def _origins(item: Item) -> list[str]:
    listed = item.texts("allowed_origins")
    for entry, path in entries(listed, item.at("allowed_origins")):
        if problem := origins.problem(entry):
            raise FileError(path, problem)
    return listed


def _access(item: Item, chat: ChatDeployment, context: Context) -> dict[str, Any]:
    if "access" not in item:
        return {}
    any_key = [key for keys in _ACCESS_KEYS.values() for key in keys]
    mode = AccessMode(
        item.item("access", required=["mode"], optional=any_key).choice("mode", AccessMode.values)
    )
    access = item.item("access", required=["mode"], optional=_ACCESS_KEYS[mode])
    values: dict[str, Any] = {"access_mode": mode.value}
    if "allowed" in access:
        values["allowed_emails"] = access.texts("allowed")
    password = env_value(context, access, "password_env")
    if password is not None and not _is_password(chat, password):
        values["password_hash"] = make_password(password)
    key = env_value(context, access, "identity_key_env")
    if key is not None and not _is_identity_key(chat, key):
        values["identity_key_encrypted"] = encrypt(key, IDENTITY_KEY)
    return values


def _is_password(chat: ChatDeployment, password: str) -> bool:
    return bool(chat.password_hash) and check_password(password, chat.password_hash)


def _is_identity_key(chat: ChatDeployment, key: str) -> bool:
    try:
        stored = chat.identity_key_encrypted
        return bool(stored) and compare_digest(decrypt(stored, IDENTITY_KEY).encode(), key.encode())
    except CredentialError:
        return False


def _limits(item: Item) -> dict[str, Any]:
    limits = item.item("limits", optional=[*_LIMITS, "max_concurrent_runs", "budget_usd"])
    rooms = limits.item("max_concurrent_runs", optional=_ROOMS)
    budget = limits.item("budget_usd", optional=_BUDGETS)
    values: dict[str, Any] = {key: limits.whole(key, least=1) for key in _LIMITS if key in limits}
    values |= {f"max_runs_{key}": rooms.whole(key, least=1) for key in _ROOMS if key in rooms}
    values |= {f"budget_{key}_usd": budget.number_or_none(key) for key in _BUDGETS if key in budget}
    return values


# --- Out ----------------------------------------------------------------------------------------------------


def _export(chat: ChatDeployment) -> dict[str, Any]:
    return {
        "slug": chat.slug,
        "workflow": chat.workflow.slug,
        "title": chat.title,
        "description": chat.description,
        "welcome": chat.welcome,
        "suggestions": chat.suggestions,
        "theme": {"color": chat.theme_color},
        "locale": chat.locale or None,
        "active": chat.active,
        "outputs": chat.outputs,
        "include_thinking": chat.include_thinking,
        "include_tool_calls": chat.include_tool_calls,
        "access": _exported_access(chat),
        "allowed_origins": chat.allowed_origins,
        "limits": _exported_limits(chat),
        "redaction": rules_to_file(chat.redaction_rules.all()),
    }


def _exported_access(chat: ChatDeployment) -> dict[str, Any]:
    allowed = {"allowed": chat.allowed_emails} if chat.access_mode == AccessMode.EMAIL else {}
    return {"mode": chat.access_mode, **allowed}


def _exported_limits(chat: ChatDeployment) -> dict[str, Any]:
    return {
        **{key: getattr(chat, key) for key in _LIMITS},
        "max_concurrent_runs": {key: getattr(chat, f"max_runs_{key}") for key in _ROOMS},
        "budget_usd": {key: getattr(chat, f"budget_{key}_usd") for key in _BUDGETS},
    }
