"""What a conversation remembers of a run: what its reader was shown as the answer. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workflows.plan import Plan
from workflows.templates import Outputs


def answer(plan: Plan, outputs: Mapping[str, Mapping[str, Any]], terminal: Sequence[str]) -> str | None:
    """The selected outputs as their chunks say them, a blank line between two; None if there are none.

    Without a selection: the answers of the agents among the run's terminal blocks. What a block's memory
    setting decides is what it reads of a conversation, not what is kept.
    """
    selected = [f"{output.block_id}.{output.path}" for output in plan.selected]
    agents = [block for block in terminal if plan.graph.blocks[block].type == "agent"]
    said = Outputs(outputs)
    texts = [_shown(said, name) for name in selected or [f"{block}.content" for block in agents]]
    return "\n\n".join(text for text in texts if text) or None


def _shown(outputs: Outputs, name: str) -> str:
    """A text as it is, any other value as JSON with two-space indent (section 5); nothing for none."""
    try:
        value = outputs.look_up(name)
    except LookupError:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
