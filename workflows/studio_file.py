"""The section `workflows` of the studio file. Applying what was exported changes nothing."""

from collections.abc import Sequence
from typing import Any

from credentials.declare import Change, Context, FileError, Item, Outcome, entries, refuse_twins, store
from redaction.rules import rules_to_file
from workflows import graph, publishing, redaction_section
from workflows.models import Workflow
from workflows.problems import Problem

_OPTIONAL = ("name", "publish", "blocks", "edges", "redaction")


def apply_workflows(value: object, path: str, context: Context) -> list[Change]:
    """Create or update each workflow of the list; raises FileError, which names every mistake of a graph."""
    items = [Item(entry, at, required=("slug",), optional=_OPTIONAL) for entry, at in entries(value, path)]
    refuse_twins((item.text("slug"), item.at("slug")) for item in items)
    return [_apply(item) for item in items]


def verify_workflows(value: object, path: str) -> None:
    """Refuse what was published if a chat cannot do with it."""
    for entry, at in entries(value, path):
        workflow = Workflow.objects.select_related("published").get(slug=entry["slug"])
        if entry.get("publish") and workflow.published is not None:
            graph_now = graph.read(workflow.published.graph)
            if sentences := list(publishing.objections(workflow, graph_now)):
                raise FileError(f"{at}.publish", " ".join(sentences))


def export_workflows() -> list[dict[str, Any]]:
    workflows = Workflow.objects.select_related("published").prefetch_related("redaction_rules")
    return [_export(workflow) for workflow in workflows.order_by("slug")]


# --- In -----------------------------------------------------------------------------------------------------


def _apply(item: Item) -> Change:
    slug = item.text("slug", empty=False)
    found = Workflow.objects.select_related("published").filter(slug=slug).first()
    workflow = found or Workflow(slug=slug, name=slug)
    rules = redaction_section.read(item)
    publish = item.flag("publish", default=False)
    change = store(workflow, _values(item, workflow), item.path, name=slug)
    more = rules is not None and redaction_section.replace(workflow.redaction_rules, rules)
    # Whether chats can do with it is asked when the file's chats are there: it may change both.
    more = (publish and publishing.publish(workflow, ask=False).new) or more
    if more and change.outcome is Outcome.UNCHANGED:
        return Change(item.path, slug, Outcome.UPDATED)
    return change


def _values(item: Item, workflow: Workflow) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if "name" in item:
        values["name"] = item.text("name", empty=False, max_length=200)
    draft = _draft(item, workflow)
    if draft != workflow.draft:
        values["draft"] = draft
        values["revision"] = workflow.revision if workflow._state.adding else workflow.revision + 1
    return values


def _draft(item: Item, workflow: Workflow) -> Any:
    """The graph as the file has it; a list that is left out stays as it is stored."""
    stored = {} if workflow._state.adding else workflow.draft
    draft = {
        key: item.raw(key, stored.get(key, [] if key == "edges" else None)) for key in ("blocks", "edges")
    }
    if problems := graph.problems(draft):
        raise _file_error(item, problems)
    return draft


def _file_error(item: Item, problems: Sequence[Problem]) -> FileError:
    """One error for all of them, the first at its own path."""
    first, *others = problems
    lines = [first.sentence, *(f"{item.at(other.path)}: {other.sentence}" for other in others)]
    return FileError(item.at(first.path), "\n".join(lines))


# --- Out ----------------------------------------------------------------------------------------------------


def _export(workflow: Workflow) -> dict[str, Any]:
    """`publish` says that the draft is what is published: only then applying this would change nothing."""
    published = workflow.published is not None and not workflow.is_behind
    return {
        "slug": workflow.slug,
        "name": workflow.name,
        **({"publish": True} if published else {}),
        **graph.in_order(workflow.draft),
        "redaction": rules_to_file(workflow.redaction_rules.all()),
    }
