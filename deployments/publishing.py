"""What chats ask of a version before it is published: that it still gives their visitors what they select."""

from deployments.models import ChatDeployment
from deployments.selection import missing
from workflows.graph import Graph
from workflows.models import Workflow


def check(workflow: Workflow, graph: Graph) -> list[str]:
    """Return a sentence for each chat and output that the graph would take away."""
    return [
        f"The chat “{chat.title}” ({chat.slug}): {sentence}"
        for chat in ChatDeployment.objects.filter(workflow=workflow).order_by("slug")
        for entry in chat.outputs
        if (sentence := missing(entry, graph))
    ]
