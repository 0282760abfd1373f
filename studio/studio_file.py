"""The studio file as a whole: which sections there are, in which order; all of it happens or nothing.

What a section means is the business of the application that owns it (its own `studio_file`).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction

import credentials.studio_file
import deployments.studio_file
import workflows.studio_file
from credentials.declare import Change, Context, FileError

Entries = list[dict[str, Any]]


@dataclass(frozen=True)
class Section:
    """`apply` gets the section's list, its path in the file and the context; it raises FileError.

    `export` returns what `apply` would find unchanged, without secrets. `verify` is asked with the same list
    when all sections are applied, about what only then can be true; it raises FileError, too.
    """

    apply: Callable[[object, str, Context], list[Change]]
    export: Callable[[], Entries]
    verify: Callable[[object, str], None] = lambda value, path: None


#: In the order in which they are applied: a section may name what an earlier one made.
SECTIONS = {
    "providers": Section(credentials.studio_file.apply_providers, credentials.studio_file.export_providers),
    "secrets": Section(credentials.studio_file.apply_secrets, credentials.studio_file.export_secrets),
    "workflows": Section(
        workflows.studio_file.apply_workflows,
        workflows.studio_file.export_workflows,
        workflows.studio_file.verify_workflows,
    ),
    "chats": Section(deployments.studio_file.apply_chats, deployments.studio_file.export_chats),
}
#: Sections of the format that this version does not know yet.
UNSUPPORTED = ("agents", "api_keys")


def apply(document: dict[str, Any], context: Context, *, dry_run: bool = False) -> list[Change]:
    """Do all the file says and return what changed; or raise FileError and change nothing."""
    for key in document:
        if key in UNSUPPORTED:
            raise FileError(key, "this section is not supported yet.")
        if key not in SECTIONS:
            raise FileError(key, f"unknown section; known are {', '.join(SECTIONS)}.")
    changes: list[Change] = []
    with transaction.atomic():
        for name, section in SECTIONS.items():
            if name in document:
                changes += section.apply(document[name], name, context)
        for name in document:
            SECTIONS[name].verify(document[name], name)
        if dry_run:
            transaction.set_rollback(True)
    return changes


def export() -> dict[str, Entries]:
    """Return everything stored as one document."""
    return {name: section.export() for name, section in SECTIONS.items()}


def only_chats(document: dict[str, Entries], slugs: Iterable[str]) -> dict[str, Entries]:
    """Keep these chats and what they need: workflows, and the providers and secrets that those name.

    Raises KeyError with the first slug that is no chat.
    """
    chats = {chat["slug"]: chat for chat in document["chats"]}
    chosen = [chats[slug] for slug in dict.fromkeys(slugs)]
    wanted = {chat["workflow"] for chat in chosen}
    flows = [flow for flow in document["workflows"] if flow["slug"] in wanted]
    texts = list(_texts(flows))
    secrets = {name for text in texts for name in re.findall(r"\{\{\s*secret:\s*([^}\s]+)\s*\}\}", text)}
    providers = {text.partition("/")[0] for text in texts if "/" in text}
    return {
        "providers": [entry for entry in document["providers"] if entry["name"] in providers],
        "secrets": [entry for entry in document["secrets"] if entry["name"] in secrets],
        "workflows": flows,
        "chats": chosen,
    }


def _texts(value: Any) -> Iterable[str]:
    """Yield every string in a JSON value."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for item in value.values():
                yield from _texts(item)
