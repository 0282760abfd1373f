"""What visitors get of a run: outputs of the published graph, and never what is private about an agent."""

from collections.abc import Iterable, Sequence

from streaming.selection import Selected, UnknownOutput, is_private, resolve, selectable
from workflows.graph import Graph, read
from workflows.models import Workflow
from workflows.offers import offers
from workflows.problems import GraphError

NOTHING = "A chat needs at least one output."


def problems(entries: object, workflow: Workflow) -> list[str]:
    """Return a sentence for each entry that visitors cannot get; an empty list: they can get all of it.

    What is not published yet offers nothing to compare with; publishing asks again.
    """
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        return ["This must be a list of texts."]
    if not entries:
        return [NOTHING]
    return [sentence for entry in entries if (sentence := problem(entry, workflow))]


def problem(entry: str, workflow: Workflow) -> str | None:
    """Say why visitors cannot get an entry; None: they can."""
    if workflow.published is None:
        return None
    try:
        graph = read(workflow.published.graph)
    except GraphError as error:
        return f"Version {workflow.published.number} of the workflow cannot run: {error}"
    return missing(entry, graph)


def missing(entry: str, graph: Graph) -> str | None:
    """Say why a graph does not give `entry` to visitors; None: it does."""
    try:
        (found,) = resolve([entry], offers(graph))
    except UnknownOutput:
        return f"There is no output {entry}. {_choice(graph)}"
    return f"{entry} is never shown to visitors. {_choice(graph)}" if is_private(found) else None


def choices(graph: Graph) -> Sequence[str]:
    """All that visitors can get, as `block.path`."""
    return selectable(offers(graph), chat=True)


def selected(entries: Iterable[str], graph: Graph) -> tuple[Selected, ...]:
    """Return what visitors get. An entry that the graph does not offer to them selects nothing."""
    good = [entry for entry in entries if missing(entry, graph) is None]
    return resolve(good, offers(graph))


def _choice(graph: Graph) -> str:
    return f"Choose of: {', '.join(choices(graph)) or 'nothing, this graph answers nothing'}."
