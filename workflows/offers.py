"""What of a graph can be selected by a chat or a caller (agent-events-v1 section 5). Pure."""

from streaming.selection import Offer, Selected
from workflows.blocks.agent import Agent
from workflows.blocks.base import Block
from workflows.graph import Graph


def offers(graph: Graph) -> tuple[Offer, ...]:
    """What each block offers, in the graph's order, for `streaming.selection.resolve`."""
    return tuple(_offer(block) for block in graph.blocks.values())


def speaking(graph: Graph) -> tuple[Selected, ...]:
    """Who speaks where nothing is selected: the agents without outgoing edges (section 4)."""
    leading = {source for source, _ in graph.edges}
    last = (block for block in graph.blocks.values() if isinstance(block, Agent) and block.id not in leading)
    return tuple(Selected(block.id, "content", agent=True, live=block.is_live) for block in last)


def _offer(block: Block) -> Offer:
    outputs = block.outputs()
    return Offer(
        block_id=block.id,
        name=block.name,
        agent=isinstance(block, Agent),
        live=isinstance(block, Agent) and block.is_live,
        paths=tuple(output.path for output in outputs),
        default=outputs[0].path,
        opaque=tuple(output.path for output in outputs if output.opaque),
    )
