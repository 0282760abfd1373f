"""Workflows in the admin: what was typed comes back, and publishing says what it did or why not."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from tests.workflows.doubles import agent, graph
from workflows import publishing
from workflows.models import Workflow

pytestmark = pytest.mark.django_db

LIST = "admin:workflows_workflow_changelist"


@pytest.fixture
def workflow() -> Workflow:
    return Workflow.objects.create(slug="support", name="Support", draft=graph(agent("a")))


@pytest.fixture
def signed_in(owner: User, client: Client) -> Client:
    client.force_login(owner)
    return client


def form(draft: str, **more: Any) -> dict[str, Any]:
    counts = {
        f"{inline}-{count}_FORMS": "0"
        for inline in ("redaction_rules", "versions")
        for count in ("TOTAL", "INITIAL")
    }
    return {"name": "Support", "slug": "support", "draft": draft, **counts, **more}


def change(workflow: Workflow) -> str:
    return reverse("admin:workflows_workflow_change", args=[workflow.pk])


def act(client: Client, action: str, *objects: Any, where: str = LIST) -> str:
    data = {"action": action, "_selected_action": [str(one.pk) for one in objects]}
    response = client.post(reverse(where), data, follow=True)
    return " ".join(str(message) for message in response.context["messages"])


def test_it_begins_with_a_graph_that_answers(signed_in: Client) -> None:
    page = signed_in.get(reverse("admin:workflows_workflow_add"))
    draft = page.context["adminform"].form["draft"].value()
    assert signed_in.post(page.request["PATH_INFO"], form(draft)).status_code == 302
    assert Workflow.objects.get().draft["blocks"][1]["model"] == "demo/demo"


def test_it_saves_a_draft_and_counts_it(signed_in: Client, workflow: Workflow) -> None:
    draft = graph(agent("a", instructions="Be brief."))
    assert signed_in.post(change(workflow), form(json.dumps(draft))).status_code == 302
    workflow.refresh_from_db()
    assert (workflow.draft, workflow.revision) == (draft, 2)
    assert signed_in.post(change(workflow), form(json.dumps(draft, indent=4), name="Help")).status_code == 302
    workflow.refresh_from_db()
    assert (workflow.name, workflow.revision) == ("Help", 2)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ('[{"a":1},,]', "This is not JSON: line 1, column 10"),
        ('{"blocks": NaN}', "NaN is no number of JSON"),
        ('{"blocks": [], "blocks": [1]}', "the key &#x27;blocks&#x27; is there twice"),
        ('{"blocks": [{"id": "\\u0000", "type": "start"}]}', "must not hold NUL characters"),
        ("[" * 100_000, "This is not JSON"),
        ('{"blocks": [' + "1" * 5000 + "]}", "This is not JSON"),
        ('{"blocks": [{"id": "start",   "type": "stort"}]}', "blocks[0].type: must be one of start, agent"),
        ("", "This field is required."),
    ],
)
def test_b148_it_shows_what_was_typed_with_an_error(
    signed_in: Client, workflow: Workflow, typed: str, sentence: str
) -> None:
    shown = typed
    for _ in range(2):
        page = signed_in.post(change(workflow), form(shown))
        assert page.status_code == 200
        assert sentence in page.content.decode()
        shown = page.context["adminform"].form["draft"].value()
        assert shown == typed
    workflow.refresh_from_db()
    assert workflow.revision == 1


def test_b148_it_refuses_a_document_without_measure(signed_in: Client, workflow: Workflow) -> None:
    page = signed_in.post(change(workflow), form('"' + "x" * 600_000 + '"'))
    assert page.status_code == 200
    assert "A graph has at most 500000 characters." in page.content.decode()


def test_it_publishes_and_says_so(signed_in: Client, workflow: Workflow, owner: User) -> None:
    assert act(signed_in, "publish_draft", workflow) == "Support: version 1 is published."
    assert act(signed_in, "publish_draft", workflow) == "Support: the draft is version 1 already."
    workflow.refresh_from_db()
    assert workflow.published is not None
    assert workflow.published.created_by == owner


def test_it_says_whose_chat_would_lose_its_outputs(
    signed_in: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_checks", [lambda workflow, graph: ["The chat Help shows a.content."]])
    said = act(signed_in, "publish_draft", workflow)
    assert said == "Support was not published. The chat Help shows a.content."


def test_it_says_why_a_draft_cannot_run(signed_in: Client, workflow: Workflow) -> None:
    Workflow.objects.update(draft={"blocks": []})
    assert "a block of type start is missing" in act(signed_in, "publish_draft", workflow)


def test_it_rolls_back_and_loads_versions(signed_in: Client, workflow: Workflow) -> None:
    first = publishing.publish(workflow).version
    workflow.set_draft(graph(agent("b")))
    workflow.save()
    publishing.publish(workflow)
    versions = "admin:workflows_workflowversion_changelist"
    assert act(signed_in, "publish_again", first, where=versions) == "Support: version 1 is published again."
    assert (
        act(signed_in, "load_into_draft", first, where=versions) == "The draft of Support is now version 1."
    )
    workflow.refresh_from_db()
    assert workflow.published == first
    assert workflow.draft == first.graph


def test_it_shows_versions_and_what_is_behind(signed_in: Client, workflow: Workflow) -> None:
    publishing.publish(workflow)
    assert "Published" in signed_in.get(reverse(LIST)).content.decode()
    workflow.set_draft(graph(agent("b")))
    workflow.save()
    assert "Ahead of version 1" in signed_in.get(reverse(LIST)).content.decode()
    page = signed_in.get(change(workflow)).content.decode()
    assert "a removed" in page
    assert reverse("admin:workflows_workflowversion_change", args=[workflow.versions.get().pk]) in page


def test_who_may_only_look_cannot_publish(client: Client, staff: User, workflow: Workflow) -> None:
    staff.user_permissions.add(Permission.objects.get(codename="view_workflow"))
    client.force_login(staff)
    assert client.get(change(workflow)).status_code == 200
    assert "publish_draft" not in client.get(reverse(LIST)).content.decode()
    assert act(client, "publish_draft", workflow) != "Support: version 1 is published."
    assert not workflow.versions.exists()


def test_its_list_needs_few_queries(
    signed_in: Client, workflow: Workflow, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        other = Workflow.objects.create(slug=f"w{number}", name=f"W{number}", draft=workflow.draft)
        publishing.publish(other)
    with django_assert_max_num_queries(8):
        signed_in.get(reverse(LIST))
