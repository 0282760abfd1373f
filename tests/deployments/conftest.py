"""Chats to speak to: a workflow with a published graph, and chats of every access mode."""

from typing import Any, Protocol

import pytest

from deployments.models import ChatDeployment
from workflows.models import Workflow, WorkflowVersion

GRAPH: dict[str, Any] = {
    "blocks": [
        {"id": "start", "type": "start"},
        {"id": "agent_1", "type": "agent", "name": "First look", "model": "local/llama-3"},
    ],
    "edges": [["start", "agent_1"]],
}


class MakeChat(Protocol):
    def __call__(self, slug: str = "support", **fields: Any) -> ChatDeployment: ...


@pytest.fixture
def workflow(db: None) -> Workflow:
    made = Workflow.objects.create(slug="support", name="Support", draft=GRAPH)
    made.published = WorkflowVersion.objects.create(workflow=made, number=1, graph=GRAPH)
    made.save()
    return made


@pytest.fixture
def make_chat(workflow: Workflow) -> MakeChat:
    def make(slug: str = "support", **fields: Any) -> ChatDeployment:
        values: dict[str, Any] = {"workflow": workflow, "title": "Support", "outputs": ["agent_1.content"]}
        return ChatDeployment.objects.create(slug=slug, **{**values, **fields})

    return make


@pytest.fixture
def chat(make_chat: MakeChat) -> ChatDeployment:
    return make_chat()
