"""From draft to version and back. A published version never changes; which one is published does.

Whoever depends on what a workflow offers registers a check, which may refuse a version with a sentence.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from workflows.graph import Graph, read
from workflows.models import Workflow, WorkflowVersion

#: Says why a workflow's users cannot do with a graph, each sentence naming who; empty: they can.
Check = Callable[[Workflow, Graph], Sequence[str]]

_checks: list[Check] = []


class NotPublishable(ValueError):
    """Somebody depends on outputs that the graph would take away. Says who, a sentence each."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__(" ".join(sentences))
        self.sentences = tuple(sentences)


@dataclass(frozen=True)
class Published:
    """`new` is false if the draft was the published version already."""

    version: WorkflowVersion
    new: bool


def register(check: Check) -> None:
    """Ask `check` before anything is published. Called once, when its application is ready."""
    _checks.append(check)


def objections(workflow: Workflow, graph: Graph) -> Iterator[str]:
    """Why the users of a workflow cannot do with this graph."""
    for check in _checks:
        yield from check(workflow, graph)


@transaction.atomic
def publish(workflow: Workflow, *, by: User | None = None, name: str = "", ask: bool = True) -> Published:
    """Make the draft the published version; unchanged, it stays the same one.

    Raises GraphError if it cannot run, NotPublishable if somebody cannot do with it. `ask` false: the caller
    asks for `objections` itself, later in the same transaction.
    """
    _check(workflow, workflow.draft, ask=ask)
    # One at a time: two people must not take the same number.
    Workflow.objects.select_for_update().get(pk=workflow.pk)
    if workflow.published is not None and workflow.published.graph == workflow.draft:
        return Published(workflow.published, new=False)
    last = workflow.versions.aggregate(last=Max("number"))["last"] or 0
    version = workflow.versions.create(number=last + 1, name=name, graph=workflow.draft, created_by=by)
    _make_published(workflow, version)
    return Published(version, new=True)


@transaction.atomic
def promote(version: WorkflowVersion) -> None:
    """Publish an earlier version again. Raises as `publish` does."""
    _check(version.workflow, version.graph, ask=True)
    _make_published(version.workflow, version)


def load_into_draft(version: WorkflowVersion) -> None:
    """Go on editing from a version."""
    workflow = version.workflow
    workflow.set_draft(version.graph)
    workflow.save(update_fields=["draft", "revision", "updated_at"])


def _check(workflow: Workflow, value: object, *, ask: bool) -> None:
    graph = read(value)
    if ask and (sentences := list(objections(workflow, graph))):
        raise NotPublishable(sentences)


def _make_published(workflow: Workflow, version: WorkflowVersion) -> None:
    workflow.published = version
    workflow.save(update_fields=["published", "updated_at"])
