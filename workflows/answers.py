"""What a conversation remembers of a run: what its reader was shown as the answer. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from streaming.selection import Selected, as_text, look_up
from workflows.blocks.agent import Agent
from workflows.graph import Graph


def answer(
    graph: Graph,
    selected: Sequence[Selected],
    outputs: Mapping[str, Mapping[str, Any]],
    terminal: Sequence[str],
) -> str | None:
    """The selected outputs as their chunks say them, a blank line between two; None if there are none.

    Without a selection: the answers of the agents among the `terminal` blocks. A block's memory setting
    decides what it reads of a conversation, not what is kept.
    """
    wanted = [(output.block_id, output.path) for output in selected]
    agents = [(block, "content") for block in terminal if isinstance(graph.blocks[block], Agent)]
    texts = (_shown(outputs.get(block, {}), path) for block, path in wanted or agents)
    return "\n\n".join(filter(None, texts)) or None


def _shown(output: Mapping[str, Any], path: str) -> str:
    try:
        return as_text(look_up(output, path))
    except LookupError:
        return ""
