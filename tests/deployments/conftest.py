"""Chats to speak to: a workflow with a published graph, and chats of every access mode."""

from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from credentials.models import ProviderConnection
from deployments.models import ChatDeployment
from tests.deployments.wire import Visitor, serving
from tests.providers_server import ProviderServer
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


# --- The main job -------------------------------------------------------------------------------------------


@pytest.fixture
async def provider(transactional_db: None) -> AsyncIterator[ProviderServer]:
    """A model server that the graph's model is served by."""
    async with ProviderServer() as server:
        await sync_to_async(ProviderConnection.objects.create)(
            name="local", kind="openai-compat", base_url=server.base_url
        )
        yield server
    await sync_to_async(connections.close_all)()  # of the thread that `aget` and its like use


@pytest.fixture
async def visit(provider: ProviderServer) -> AsyncIterator[Callable[[str], Visitor]]:
    """Meet a chat as a new visitor: `visit("support")`."""
    async with serving() as client:
        yield lambda slug: Visitor(client, slug)
