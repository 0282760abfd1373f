"""A graph with all its run needs, in memory: models, tools, secrets, what it was given, what may leave.

Made where queries are allowed; from then on the run never asks the database again.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.conversation import Message
from redaction.engine import Masker
from streaming.selection import Selected
from workflows.blocks.base import Resources, Work
from workflows.blocks.start import Start
from workflows.graph import Graph, read
from workflows.problems import GraphError
from workflows.resources import resources_of_process

logger = logging.getLogger("workflows")

_NO_GRAPH = Graph({"start": Start(id="start")}, ())


@dataclass(frozen=True)
class Plan:
    """`problem` says why it cannot run; its execution then ends at once with BLOCK_FAILED and that detail.

    `masked_texts` false (the builder): while rules are active an agent's texts wait for the block's output.
    A caller that learns the history only at admission asks for `graph.recall` before, and uses
    `dataclasses.replace(plan, history=…)`.
    """

    graph: Graph
    works: Mapping[str, Work]
    given: Mapping[str, Any]
    history: Sequence[Message] = ()
    masker: Masker | None = None
    masked_texts: bool = True
    selected: Sequence[Selected] = ()
    problem: str = ""


def build_plan(
    graph: object,
    *,
    input: Any,
    fields: Mapping[str, Any] | None = None,
    conversation_id: str | None = None,
    history: Sequence[Message] = (),
    summaries: bool = False,
    masker: Masker | None = None,
    masked_texts: bool = True,
    selected: Sequence[Selected] = (),
    resources: Resources | None = None,
) -> Plan:
    """Make a plan of a stored graph. Raises nothing for what is wrong with it: the run's end says so.

    `summaries`: thinking can reach somebody. `resources`: where models and secrets come from; None: from what
    is stored and the environment.
    """
    resources = resources or resources_of_process(summaries=summaries)
    given = {**(fields or {}), "input": input, "conversationId": conversation_id}
    try:
        found = read(graph)
        works = {name: block.prepare(resources, start=found.start.id) for name, block in found.blocks.items()}
    except GraphError as error:
        logger.error("A stored graph does not validate: %s", error)
        return Plan(_NO_GRAPH, {}, given, problem=f"The graph does not validate: {error}")
    return Plan(found, works, given, history, masker, masked_texts, selected)
