"""Which fields of which models are audited. Signals, so that no path is forgotten: form, list, inline, bulk
action, studio file, API. Only `QuerySet.update()` passes by: audited fields are saved through `save()`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.db.models.signals import post_delete, post_save, pre_save

from audit import actor
from audit.models import Action, AuditEntry

CHANGED = "changed"
_STASH = "_audit_before"


@dataclass(frozen=True)
class Tracked:
    """How a model is audited. Values of `secrets` are never stored, only that they changed."""

    kind: str
    fields: Sequence[str]
    secrets: Sequence[str]
    name: Callable[[Any], str]


_TRACKED: dict[type[Model], Tracked] = {}


def track(
    model: type[Model],
    kind: str,
    fields: Sequence[str],
    *,
    secrets: Sequence[str] = (),
    name: Callable[[Any], str] = str,
) -> None:
    """Audit `fields` and `secrets` of `model` from now on. Called once, when its application is ready."""
    _TRACKED[model] = Tracked(kind, fields, secrets, name)
    uid = f"audit.{model._meta.label}"
    pre_save.connect(_remember, sender=model, dispatch_uid=uid)
    post_save.connect(_record_save, sender=model, dispatch_uid=uid)
    post_delete.connect(_record_delete, sender=model, dispatch_uid=uid)


def _snapshot(instance: Model, tracked: Tracked) -> dict[str, Any]:
    raw = {field: getattr(instance, field) for field in (*tracked.fields, *tracked.secrets)}
    plain = {field: str(value) if isinstance(value, Model) else value for field, value in raw.items()}
    values: dict[str, Any] = json.loads(json.dumps(plain, cls=DjangoJSONEncoder))
    return values


def _remember(sender: type[Model], instance: Model, **kwargs: Any) -> None:
    stored = None
    if instance.pk is not None and not instance._state.adding:
        stored = sender._default_manager.filter(pk=instance.pk).first()
    before = _snapshot(stored, _TRACKED[sender]) if stored is not None else None
    setattr(instance, _STASH, before)


def _record_save(sender: type[Model], instance: Model, raw: bool = False, **kwargs: Any) -> None:
    if raw:
        return
    tracked = _TRACKED[sender]
    before = getattr(instance, _STASH, None)
    changes = differences(before, _snapshot(instance, tracked), tracked.secrets)
    if before is None:
        _write(instance, tracked, Action.ADDED, changes)
    elif changes:
        _write(instance, tracked, Action.CHANGED, changes)


def _record_delete(sender: type[Model], instance: Model, **kwargs: Any) -> None:
    tracked = _TRACKED[sender]
    _write(instance, tracked, Action.DELETED, {})


def differences(
    before: dict[str, Any] | None, after: dict[str, Any], secrets: Sequence[str]
) -> dict[str, Any]:
    """Field → [before, after] where they differ; a secret → "changed": its values never leave its row."""
    found: dict[str, Any] = {}
    for field, value in after.items():
        old = None if before is None else before[field]
        if old == value or (before is None and value in (None, "", [], {})):
            continue
        found[field] = CHANGED if field in secrets else [old, value]
    return found


def _write(instance: Model, tracked: Tracked, action: Action, changes: dict[str, Any]) -> None:
    who = actor.current()
    AuditEntry.objects.create(
        actor=who.user,
        actor_name=who.name,
        action=action,
        kind=tracked.kind,
        object_id=str(instance.pk),
        object_name=tracked.name(instance)[:200],
        changes=changes,
    )
