"""What of a graph can be selected, and who speaks where nothing is."""

import pytest

from streaming.selection import PRIVATE_PATHS, UnknownOutput, resolve, selectable
from tests.workflows.doubles import agent, graph
from workflows.blocks import agent_output
from workflows.graph import read
from workflows.offers import offers, speaking

SCHEMA = {"type": "object", "properties": {"city": {"type": "object"}}}
VALUE = graph(
    agent("agent_1", name="First look"),
    agent("agent_2", response_schema=SCHEMA),
    edges=[("start", "agent_1"), ("agent_1", "agent_2")],
)
OFFERS = offers(read(VALUE))


def test_it_offers_what_blocks_put_out() -> None:
    assert [(offer.block_id, offer.agent, offer.live, offer.default) for offer in OFFERS] == [
        ("start", False, False, "input"),
        ("agent_1", True, True, "content"),
        ("agent_2", True, False, "content"),
    ]
    assert selectable(OFFERS, chat=True) == (
        "start.input",
        "start.conversationId",
        "agent_1.content",
        "agent_2.content",
        "agent_2.city",
    )


def test_all_that_an_agent_says_of_itself_is_known_to_be_private() -> None:
    assert set(agent_output.PATHS) == {"content", *PRIVATE_PATHS}


@pytest.mark.parametrize(
    "entry", ["agent_1", "First look.content", "AGENT 1.tokens.total", "agent_2.city.name[0]"]
)
def test_it_knows_what_can_be_selected(entry: str) -> None:
    assert resolve([entry], OFFERS)


@pytest.mark.parametrize("entry", ["agent_3.content", "agent_1.contents", "agent_1.content.x", "start.order"])
def test_it_knows_what_cannot(entry: str) -> None:
    with pytest.raises(UnknownOutput):
        resolve([entry], OFFERS)


def test_the_agents_without_outgoing_edges_speak() -> None:
    assert [(one.block_id, one.path, one.live) for one in speaking(read(VALUE))] == [
        ("agent_2", "content", False)
    ]
    assert [one.block_id for one in speaking(read(graph(agent("a"), agent("b"))))] == ["a", "b"]
