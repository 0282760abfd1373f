"""Graphs: what fits is read, and everything that does not is named with its path."""

import copy
from itertools import pairwise
from typing import Any

import pytest

from tests.workflows.doubles import agent, graph
from workflows import graph as graphs
from workflows.blocks.agent import Agent, Window
from workflows.problems import GraphError


def problems(value: Any) -> dict[str, str]:
    """Path → sentences."""
    found: dict[str, str] = {}
    for problem in graphs.problems(value):
        found[problem.path] = " ".join(filter(None, [found.get(problem.path, ""), problem.sentence]))
    return found


CHAIN = graph(agent("a"), agent("b"), edges=[("start", "a"), ("a", "b")])


def test_it_reads_a_graph_with_its_defaults() -> None:
    found = graphs.read(graph(agent("a", name="First look")))
    block = found.blocks["a"]
    assert isinstance(block, Agent)
    assert (block.type, block.title, block.memory, block.max_rounds) == ("agent", "First look", "none", 20)
    assert found.blocks["start"].title == "start"
    assert found.edges == (("start", "a"),)


def test_it_gives_the_same_graph_for_the_same_value() -> None:
    assert graphs.read(CHAIN) is graphs.read(copy.deepcopy(CHAIN))


def test_it_does_not_change_what_it_reads() -> None:
    before = copy.deepcopy(CHAIN)
    graphs.read(CHAIN)
    assert before == CHAIN


@pytest.mark.parametrize(
    ("value", "path", "sentence"),
    [
        (None, "", "A graph must be a mapping with blocks and edges."),
        ([], "", "A graph must be a mapping with blocks and edges."),
        ({}, "blocks", "must be a list."),
        ({"blocks": []}, "blocks", "a block of type start is missing."),
        ({"blocks": [7]}, "blocks[0]", "must be a mapping."),
        ({"blocks": [{}]}, "blocks[0].type", "must be one of "),
        ({"blocks": [{"type": ["start"]}]}, "blocks[0].type", "must be one of "),
        ({"blocks": [{"type": "start"}]}, "blocks[0]", "'id' is missing."),
        (graph(agent("a")) | {"nodes": []}, "", "unknown key 'nodes'"),
        (graph(agent("a")) | {"edges": {}}, "edges", "must be a list."),
        (graph(agent("a", model="llama")), "blocks[1].model", "must be provider/model."),
        (
            graph(agent("a", modell="x/y")),
            "blocks[1]",
            "unknown key 'modell'; known are type, id, name, model",
        ),
        (graph(agent("a", temperature="warm")), "blocks[1].temperature", "must be a number or null."),
        (graph(agent("a", temperature=3)), "blocks[1].temperature", "must be at most 2"),
        (graph(agent("a", max_rounds=0)), "blocks[1].max_rounds", "must be at least 1."),
        (graph(agent("a", max_rounds=1.5)), "blocks[1].max_rounds", "must be a whole number."),
        (graph(agent("a", max_rounds=True)), "blocks[1].max_rounds", "must be a whole number."),
        (graph(agent("a", thinking="deep")), "blocks[1].thinking", "must be one of "),
        (graph(agent("a", memory="all")), "blocks[1].memory", "must be none, conversation or {window: 20}."),
        (graph(agent("a", memory={"window": 0})), "blocks[1].memory.window", "must be at least 1."),
        (graph(agent("a", fallbacks="x/y")), "blocks[1].fallbacks", "must be a list."),
        (graph(agent("a", fallbacks=["x"])), "blocks[1].fallbacks[0]", "must be provider/model."),
        (graph(agent("a b")), "blocks[1].id", "must be letters, digits, _ and -"),
        (graph(agent("", model="x/y")), "blocks[1].id", "must be letters, digits, _ and -"),
        (graph(agent("a", name="x" * 101)), "blocks[1].name", "must have at most 100 characters."),
        (graph(agent("a", instructions="\x00")), "blocks[1].instructions", "must not hold NUL characters"),
        (graph(agent("a", instructions="\ud800")), "blocks[1].instructions", "halves of characters"),
        (graph(agent("a", temperature=float("nan"))), "blocks[1].temperature", "must be a finite number."),
        (graph(agent("a", temperature=10**30)), "blocks[1].temperature", "is too large a number."),
        (graph(agent("a", response_schema={1: 2})), "blocks[1].response_schema", "must have texts as keys."),
        (graph(agent("a", name="Start")), "blocks[1]", "too much like those of blocks[0]"),
        (graph(agent("a_1"), agent("A 1", model="x/y")), "blocks[2]", "too much like those of blocks[1]"),
        (graph(agent("a"), agent("a")), "blocks[2]", "too much like those of blocks[1]"),
    ],
)
def test_it_refuses_what_does_not_fit(value: Any, path: str, sentence: str) -> None:
    assert sentence in problems(value)[path]


def test_it_lets_a_block_be_named_like_itself() -> None:
    assert not problems(graph(agent("first_look", name="First look")))


def test_it_names_everything_at_once() -> None:
    value = graph(agent("a", model="llama", thinking="very", foo=1), agent("b", model=7))
    value["edges"] += [["b", "nobody"], ["start"]]
    assert set(problems(value)) == {
        "blocks[1]",
        "blocks[1].model",
        "blocks[1].thinking",
        "blocks[2].model",
        "edges[2]",
        "edges[3]",
    }


@pytest.mark.parametrize(
    ("edges", "path", "sentence"),
    [
        ([["start", "a"], ["a", "x"]], "edges[1]", "there is no block 'x'."),
        ([["start", "a"], ["a", "start"]], "edges[1]", "nothing can lead to the start, 'start'."),
        ([["start", "a"], ["start", "a"]], "edges[1]", "there is an edge from 'start' to 'a' already."),
        ([["start", "a"], ["a", "b"], ["b", "a"]], "edges", "the blocks run in a circle: "),
        ([["start", "a"], ["a", "a"]], "edges", "the blocks run in a circle: a → a."),
        ([["start", "a"]], "blocks[2]", "no edges lead from the start to 'b', so it would never run."),
        ([["start", "a", "b"]], "edges[0]", "must be two ids of blocks: [from, to]."),
        ([["start", 1]], "edges[0]", "must be two ids of blocks: [from, to]."),
    ],
)
def test_it_refuses_edges_that_lead_nowhere_good(edges: Any, path: str, sentence: str) -> None:
    assert sentence in problems(graph(agent("a"), agent("b"), edges=[]) | {"edges": edges})[path]


def test_it_names_a_circle_in_the_order_it_runs() -> None:
    value = graph(
        agent("a"), agent("b"), agent("c"), edges=[("start", "a"), ("a", "b"), ("b", "c"), ("c", "a")]
    )
    circle = (
        problems(value)["edges"].removeprefix("the blocks run in a circle: ").removesuffix(".").split(" → ")
    )
    assert all(pair in [("a", "b"), ("b", "c"), ("c", "a")] for pair in pairwise(circle))


def test_it_wants_exactly_one_start() -> None:
    value = graph(agent("a"))
    value["blocks"].append({"id": "begin", "type": "start"})
    assert problems(value) == {"blocks[2].type": "there is a start already, at blocks[0]."}


def test_it_does_not_complain_of_a_missing_start_that_it_could_not_read() -> None:
    value = {"blocks": [{"id": "start", "type": "start", "foo": 1}, agent("a")], "edges": [["start", "a"]]}
    assert set(problems(value)) == {"blocks[0]"}


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ("{{nobody.content}}", "there is no block 'nobody' ({{nobody.content}})."),
        ("{{c.content}}", "'c' does not run before this block ({{c.content}})."),
        ("{{b.content}}", "'b' does not run before this block ({{b.content}})."),
        ("{{a.contents}}", "'a' has no output 'contents'; it has content, model"),
        ("{{start.order}}", "'start' has no output 'order'; it has input, conversationId."),
        ("{{a..x}}", "names no output"),
        ("{{a[0]}}", "names no output"),
        ("{{a b}}", "is no reference to a value."),
        ("{{secret:KEY}}", "the secret 'KEY' cannot stand here"),
    ],
)
@pytest.mark.parametrize("field", ["prompt", "instructions"])
def test_it_refuses_texts_that_refer_to_nothing_upstream(field: str, prompt: str, sentence: str) -> None:
    value = graph(
        agent("a"),
        agent("b", **{field: prompt}),
        agent("c"),
        edges=[("start", "a"), ("a", "b"), ("start", "c")],
    )
    assert sentence in problems(value)[f"blocks[2].{field}"]


def test_it_lets_texts_refer_to_whatever_runs_before() -> None:
    prompt = "{{start.input}} {{ a.content }} {{a}} {{a.toolCalls.list[0].result}} {{a.city}}"
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    value = graph(
        agent("a", response_schema=schema), agent("b", prompt=prompt), edges=[("start", "a"), ("a", "b")]
    )
    assert not problems(value)


@pytest.mark.parametrize(
    ("tool", "path", "sentence"),
    [
        ({"type": "magic"}, "tools[0]", "'type' must be one of http, builtin, mcp."),
        ({}, "tools[0]", "'type'"),
        ("current_time", "tools[0]", "must be"),
        ({"type": "builtin", "name": "nope"}, "tools[0].name", "there is no built-in tool 'nope'"),
        ({"type": "builtin"}, "tools[0]", "'name' is missing."),
        ({"type": "http", "name": "x"}, "tools[0]", "'url' is missing."),
        ({"type": "http", "name": "a b", "url": "http://x"}, "tools[0].name", "must be 1 to 64 letters"),
        ({"type": "http", "name": "x", "url": "ftp://x"}, "tools[0].url", "must begin with http"),
        ({"type": "http", "name": "x", "url": "http://{{y}}/"}, "tools[0].url", "cannot come from a value"),
        ({"type": "http", "name": "x", "url": "http://h/{{y}}"}, "tools[0].url", "'y' is no parameter"),
        ({"type": "http", "name": "x", "url": "http://h", "method": "LOOK"}, "tools[0].url", "the method"),
        (
            {"type": "http", "name": "x", "url": "http://h", "headers": {"a": 1}},
            "tools[0].headers.a",
            "must be text.",
        ),
        (
            {"type": "http", "name": "x", "url": "http://h", "parameters": {"type": "list"}},
            "tools[0].parameters",
            "is no JSON schema",
        ),
        (
            {"type": "http", "name": "x", "url": "http://h", "parameters": {"type": "array"}},
            "tools[0].parameters",
            "must be an object",
        ),
        (
            {"type": "http", "name": "unknown_tool", "url": "http://h"},
            "tools[0].name",
            "stands for names that a model made up.",
        ),
        (
            {"type": "mcp", "name": "docs", "url": "http://h"},
            "tools[0].type",
            "MCP servers are not supported yet",
        ),
    ],
)
def test_it_refuses_tools_that_cannot_work(tool: Any, path: str, sentence: str) -> None:
    assert sentence in problems(graph(agent("a", tools=[tool])))[f"blocks[1].{path}"]


def test_it_refuses_two_tools_of_one_name() -> None:
    tools = [
        {"type": "builtin", "name": "calculator"},
        {"type": "http", "name": "calculator", "url": "http://h"},
    ]
    found = problems(graph(agent("a", tools=tools)))
    assert found == {"blocks[1].tools[1].name": "the block has a tool 'calculator' already."}


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"type": "objec"}, "is no JSON schema: "),
        ({"type": "array"}, "must describe an object"),
        ({}, "must describe an object"),
        ({"type": "object", "properties": {"content": {}}}, "the field 'content' would hide an output"),
        ({"type": "object", "properties": {"tokens": {}}}, "the field 'tokens' would hide an output"),
        ("object", "must be a mapping or null."),
    ],
)
def test_it_refuses_schemas_of_no_structured_answer(schema: Any, sentence: str) -> None:
    assert sentence in problems(graph(agent("a", response_schema=schema)))["blocks[1].response_schema"]


def test_it_refuses_what_is_nested_too_deeply() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(10_000):
        schema = {"type": "object", "properties": {"x": schema}}
    assert "nested" in problems(graph(agent("a", response_schema=schema)))[""]


def test_it_refuses_graphs_without_measure() -> None:
    assert (
        problems(graph(*(agent(f"a{n}") for n in range(200))))["blocks"] == "must have at most 200 entries."
    )
    value = graph(agent("a")) | {"edges": [["start", "a"]] * 1001}
    assert problems(value)["edges"] == "must have at most 1000 entries."


def test_it_refuses_fields_that_hide_what_a_run_is_given() -> None:
    value = graph(agent("a"))
    value["blocks"][0]["fields"] = [
        {"name": "input"},
        {"name": "x"},
        {"name": "x"},
        {"name": "a-b"},
        {"name": "y", "type": "date"},
    ]
    found = problems(value)
    assert set(found) == {"blocks[0].fields[3].name", "blocks[0].fields[4].type"}
    value["blocks"][0]["fields"] = [{"name": "input"}, {"name": "x"}, {"name": "x"}]
    assert problems(value) == {
        "blocks[0].fields[0].name": "'input' is there already.",
        "blocks[0].fields[2].name": "'x' is there already.",
    }


@pytest.mark.parametrize(
    ("memories", "recall"),
    [
        (["none"], 0),
        (["none", {"window": 3}, {"window": 20}], 20),
        ([{"window": 3}, "conversation"], None),
    ],
)
def test_it_knows_how_much_of_a_conversation_is_read(memories: list[Any], recall: int | None) -> None:
    blocks = [agent(f"a{number}", memory=memory) for number, memory in enumerate(memories)]
    assert graphs.read(graph(*blocks)).recall == recall


def test_it_reads_a_window() -> None:
    block = graphs.read(graph(agent("a", memory={"window": 20}))).blocks["a"]
    assert isinstance(block, Agent)
    assert block.memory == Window(window=20)


def test_it_raises_with_every_problem() -> None:
    with pytest.raises(GraphError) as caught:
        graphs.read({"blocks": [], "x": 1})
    assert [problem.path for problem in caught.value.problems] == ["", "blocks"]
    assert (
        str(caught.value)
        == "unknown key 'x'; known are blocks, edges.; blocks: a block of type start is missing."
    )


@pytest.mark.parametrize(
    "draft", [{}, {"blocks": None, "edges": 3}, {"blocks": [7, {"type": [1]}, {}], "x": 1}]
)
def test_it_leaves_unfinished_drafts_as_they_are(draft: dict[str, Any]) -> None:
    assert graphs.in_order(draft) == draft


def test_it_puts_keys_in_the_order_people_read() -> None:
    value = {"edges": [["start", "a"]], "blocks": [dict(reversed(agent("a", tools=[], name="x").items()))]}
    found = graphs.in_order(value)
    assert list(found) == ["blocks", "edges"]
    assert list(found["blocks"][0]) == ["id", "type", "name", "model", "tools"]
