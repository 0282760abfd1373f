"""From draft to version and back."""

import copy
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.workflows.doubles import agent, graph
from workflows import publishing
from workflows.graph import Graph
from workflows.models import Workflow
from workflows.problems import GraphError
from workflows.publishing import NotPublishable, load_into_draft, promote, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def workflow() -> Workflow:
    return Workflow.objects.create(slug="support", name="Support", draft=graph(agent("a")))


@pytest.fixture
def objecting(monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """A check that refuses graphs without block `a`; what it was asked."""
    asked: list[Graph] = []

    def check(workflow: Workflow, value: Graph) -> list[str]:
        asked.append(value)
        return [] if "a" in value.blocks else [f"The chat Help of {workflow} shows a.content."]

    monkeypatch.setattr(publishing, "_checks", [])
    publishing.register(check)
    return asked


def edit(workflow: Workflow, draft: Any) -> None:
    assert workflow.set_draft(draft)
    workflow.save()


def test_it_publishes_the_draft_as_a_new_version(workflow: Workflow, owner: User) -> None:
    published = publish(workflow, by=owner, name="First")
    assert published.new
    version = published.version
    assert (version.number, version.name, version.created_by) == (1, "First", owner)
    workflow.refresh_from_db()
    assert workflow.published == version
    assert version.graph == workflow.draft
    assert not workflow.is_behind


def test_it_makes_no_version_of_what_is_published_already(workflow: Workflow) -> None:
    first = publish(workflow).version
    again = publish(workflow)
    assert (again.new, again.version, workflow.versions.count()) == (False, first, 1)


def test_a_published_version_never_changes_with_the_draft(workflow: Workflow) -> None:
    before = copy.deepcopy(publish(workflow).version.graph)
    edit(workflow, graph(agent("a", instructions="Be brief.")))
    workflow.refresh_from_db()
    assert workflow.published is not None
    assert workflow.published.graph == before
    assert workflow.is_behind


def test_it_counts_versions_on(workflow: Workflow) -> None:
    publish(workflow)
    edit(workflow, graph(agent("a"), agent("b")))
    assert publish(workflow).version.number == 2
    assert [version.number for version in workflow.versions.all()] == [2, 1]


def test_it_publishes_an_earlier_version_again(workflow: Workflow) -> None:
    first = publish(workflow).version
    edit(workflow, graph(agent("a"), agent("b")))
    publish(workflow)
    promote(first)
    workflow.refresh_from_db()
    assert workflow.published == first
    assert workflow.is_behind
    assert workflow.versions.count() == 2


def test_it_loads_a_version_into_the_draft(workflow: Workflow) -> None:
    first = publish(workflow).version
    edit(workflow, graph(agent("a"), agent("b")))
    load_into_draft(first)
    workflow.refresh_from_db()
    assert workflow.draft == first.graph
    assert workflow.revision == 3


def test_it_refuses_a_draft_that_cannot_run(workflow: Workflow) -> None:
    edit(workflow, {"blocks": []})
    with pytest.raises(GraphError, match="a block of type start is missing"):
        publish(workflow)
    assert not workflow.versions.exists()


def test_it_refuses_what_somebody_cannot_do_without(workflow: Workflow, objecting: list[Graph]) -> None:
    first = publish(workflow).version
    edit(workflow, graph(agent("b")))
    with pytest.raises(NotPublishable) as caught:
        publish(workflow)
    assert caught.value.sentences == ("The chat Help of Support shows a.content.",)
    workflow.refresh_from_db()
    assert workflow.published == first
    assert workflow.versions.count() == 1
    assert len(objecting) == 2


def test_it_asks_before_it_publishes_an_earlier_version_again(
    workflow: Workflow, objecting: list[Graph]
) -> None:
    without = workflow.versions.create(number=1, graph=graph(agent("b")))
    with pytest.raises(NotPublishable):
        promote(without)
    workflow.refresh_from_db()
    assert workflow.published is None


def test_a_draft_that_is_no_other_changes_nothing(workflow: Workflow) -> None:
    assert not workflow.set_draft(copy.deepcopy(workflow.draft))
    assert workflow.revision == 1
