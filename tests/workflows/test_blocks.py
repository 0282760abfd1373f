"""Blocks without a model: templates, conditions, requests, responses, alone and together."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agents.secrets import Secret
from redaction.engine import compile_rules
from redaction.spec import RuleSpec
from runs.control import CancelReason, RunControl
from streaming.codes import RunCode
from streaming.events import BlockCompleted, BlockStarted
from tests.agents.doubles import Played, answer
from tests.workflows.doubles import Event, Shelf, agent, end_of, graph, heard, plan
from workflows import graph as graphs
from workflows.plan import build_plan

KEY = "s3cr3t/key+value"
HANGING = web.AppKey("hanging", asyncio.Event)
COUNTED: web.AppKey[list[str]] = web.AppKey("counted", list)


@pytest.fixture
async def server() -> AsyncIterator[TestServer]:
    """Tells what it was asked, secrets included."""

    async def echo(request: web.Request) -> web.Response:
        return web.json_response(
            {
                "rest": request.match_info["rest"],
                "query": dict(request.query),
                "method": request.method,
                "key": request.headers.get("Authorization", ""),
                "body": await request.text(),
            }
        )

    async def broken(request: web.Request) -> web.Response:
        return web.Response(status=500, text=f"no luck with {request.headers.get('Authorization')}")

    async def plain(request: web.Request) -> web.Response:
        return web.Response(text='{"x": NaN}', content_type="application/json")

    async def hang(request: web.Request) -> web.Response:
        request.app[HANGING].set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    async def count(request: web.Request) -> web.Response:
        request.app[COUNTED].append(request.method)
        return web.Response()

    app = web.Application()
    app[HANGING], app[COUNTED] = asyncio.Event(), []
    app.router.add_route("*", "/hang", hang)
    app.router.add_route("*", "/count", count)
    app.router.add_route("*", "/echo/{rest:.*}", echo)
    app.router.add_route("*", "/broken", broken)
    app.router.add_route("*", "/plain", plain)
    running = TestServer(app)
    await running.start_server()
    yield running
    await running.close()


def at(server: TestServer, path: str) -> str:
    return str(server.make_url("/")).rstrip("/") + path


async def run(value: Any, secrets: dict[str, Secret] | None = None, **more: Any) -> list[Event]:
    assert graphs.problems(value) == ()
    return await heard(build_plan(value, resources=Shelf({}, secrets), **{"input": "Hi", **more}))


def chain(*blocks: dict[str, Any]) -> dict[str, Any]:
    names = ["start", *(block["id"] for block in blocks)]
    return graph(*blocks, edges=list(pairwise(names)))


async def test_a_template_is_filled_in() -> None:
    value = chain({"id": "t", "type": "template", "template": "{{start.input}}, {{start.input}}!"})
    end = end_of(await run(value))
    assert end.outputs["t"] == {"text": "Hi, Hi!"}
    assert (end.cost, end.rounds, end.answer) == (0.0, 0, None)


async def test_a_response_keeps_the_types_of_what_it_is_filled_with() -> None:
    value = chain(
        {
            "id": "r",
            "type": "response",
            "status": 201,
            "data": {"said": "{{start.input}}", "n": "{{start.n}}", "l": [1, "x{{start.n}}"]},
        }
    )
    value["blocks"][0]["fields"] = [{"name": "n", "type": "number"}]
    assert end_of(await run(value, fields={"n": 7})).outputs["r"] == {
        "status": 201,
        "data": {"said": "Hi", "n": 7, "l": [1, "x7"]},
    }


BRANCHES = graph(
    {
        "id": "c",
        "type": "condition",
        "cases": [
            {"if": "{{start.input}} contains 'refund'", "then": "yes"},
            {"if": "{{start.input}} contains 'both'", "then": "yes"},
        ],
        "else": "no",
    },
    {"id": "yes", "type": "template", "template": "yes"},
    {"id": "no", "type": "template", "template": "no"},
    {"id": "after", "type": "template", "template": "[{{yes.text}}|{{no.text}}|{{c.branch}}]"},
    edges=[("start", "c"), ("yes", "after"), ("no", "after")],
)


@pytest.mark.parametrize(
    ("said", "branch", "text"), [("a refund", "yes", "[yes||yes]"), ("hello", "no", "[|no|no]")]
)
async def test_a_condition_chooses_the_way(said: str, branch: str, text: str) -> None:
    events = await run(BRANCHES, input=said)
    end = end_of(events)
    assert end.outputs["c"] == {"branch": branch}
    assert end.outputs["after"] == {"text": text}
    assert set(end.outputs) == {"start", "c", branch, "after"}
    assert end.terminal_blocks == ("after",)
    started = [event.block_id for event in events if isinstance(event, BlockStarted)]
    assert started == ["start", "c", branch, "after"]


async def test_a_condition_without_else_may_end_the_run() -> None:
    value = graph(
        {"id": "c", "type": "condition", "cases": [{"if": "1 == 2", "then": "t"}]},
        {"id": "t", "type": "template", "template": "x"},
        edges=[("start", "c")],
    )
    end = end_of(await run(value))
    assert end.code is None
    assert end.outputs["c"] == {"branch": None}
    assert end.terminal_blocks == ("c",)


async def test_a_condition_chooses_between_agents() -> None:
    value = graph(
        {
            "id": "c",
            "type": "condition",
            "cases": [{"if": "{{start.input}} == 'a'", "then": "a"}],
            "else": "b",
        },
        agent("a"),
        agent("b"),
        edges=[("start", "c")],
    )
    a, b = Played(answer("from a")), Played(answer("from b"))
    end = end_of(await heard(plan(value, {"a": a, "b": b}, input="a")))
    assert (end.answer, len(a.requests), len(b.requests)) == ("from a", 1, 0)


async def test_a_request_puts_values_in_as_data(server: TestServer) -> None:
    value = chain(
        {
            "id": "h",
            "type": "http",
            "method": "POST",
            "url": at(server, "/echo/{{start.input}}?q={{start.input}}"),
            "body": {"said": "{{start.input}}", "given": "{{start.given}}"},
        }
    )
    value["blocks"][0]["fields"] = [{"name": "given", "type": "object"}]
    end = end_of(await run(value, input='a/b?c="&{{x}}', fields={"given": {"n": 1}}))
    assert end.detail == ""
    output = end.outputs["h"]
    assert output["status"] == 200
    assert output["headers"]["content-type"].startswith("application/json")
    assert output["body"]["rest"] == 'a/b?c="&{{x}}'
    assert output["body"]["query"] == {"q": 'a/b?c="&{{x}}'}
    assert output["body"]["body"] == '{"said":"a/b?c=\\"&{{x}}","given":{"n":1}}'


async def test_b120_a_secret_is_its_name_wherever_it_is_shown(server: TestServer) -> None:
    secrets = {"KEY": Secret("KEY", KEY, ("127.0.0.1",))}
    block = {
        "id": "h",
        "type": "http",
        "method": "POST",
        "url": at(server, "/echo/{{secret:KEY}}"),
        "headers": {"Authorization": "Bearer {{secret:KEY}}"},
        "body": {"k": "{{secret:KEY}}"},
    }
    events = await run(chain(block), secrets)
    done = next(event for event in events if isinstance(event, BlockCompleted) and event.block_id == "h")
    assert done.input["headers"]["Authorization"] == "Bearer {{secret:KEY}}"
    assert done.output["body"]["key"] == "Bearer {{secret:KEY}}"
    events += await run(chain({**block, "url": at(server, "/broken")}), secrets)
    assert (
        end_of(events[-1:]).detail == "h: HTTP 500 Internal Server Error: no luck with Bearer {{secret:KEY}}"
    )
    for form in (KEY, "s3cr3t%2Fkey%2Bvalue", "s3cr3t/key%2Bvalue"):
        assert form not in str(events)


async def test_a_secret_goes_to_its_own_hosts_only(server: TestServer) -> None:
    block = {"id": "h", "type": "http", "url": at(server, "/echo/x"), "headers": {"A": "{{secret:KEY}}"}}
    end = end_of(await run(chain(block), {"KEY": Secret("KEY", KEY, ("orders.example.com",))}))
    assert end.code is RunCode.BLOCK_FAILED
    assert end.detail == "h: The request was not answered: the secret KEY may not be sent to 127.0.0.1."
    end = end_of(await run(chain(block)))
    assert end.detail == "h: The request was not answered: the secret KEY does not exist."


@pytest.mark.parametrize("said", ["..", "", "."])
async def test_a_value_cannot_change_where_a_request_goes(server: TestServer, said: str) -> None:
    value = chain({"id": "h", "type": "http", "url": at(server, "/echo/{{start.input}}")})
    end = end_of(await run(value, input=said))
    assert end.code is RunCode.BLOCK_FAILED


async def test_b024_what_comes_after_a_stop_does_not_run(server: TestServer) -> None:
    value = chain(
        {"id": "wait", "type": "http", "url": at(server, "/hang")},
        {"id": "count", "type": "http", "method": "POST", "url": at(server, "/count")},
    )
    control = RunControl()
    hanging: asyncio.Event = server.app[HANGING]
    listening = asyncio.create_task(heard(build_plan(value, resources=Shelf({}), input="Hi"), control))
    await hanging.wait()
    control.cancel(CancelReason.USER)
    assert end_of(await listening).code is RunCode.RUN_CANCELLED
    assert server.app[COUNTED] == []


async def test_what_is_no_json_stays_text(server: TestServer) -> None:
    value = chain({"id": "h", "type": "http", "url": at(server, "/plain")})
    assert end_of(await run(value)).outputs["h"]["body"] == '{"x": NaN}'


async def test_outputs_are_masked_for_what_comes_after() -> None:
    value = chain(
        {"id": "t", "type": "template", "template": "Mail {{start.input}}"},
        {
            "id": "c",
            "type": "condition",
            "cases": [{"if": "{{t.text}} contains '@'", "then": "u"}],
            "else": "v",
        },
    )
    value["blocks"] += [{"id": name, "type": "template", "template": "{{t.text}}"} for name in "uv"]
    end = end_of(await run(value, input="ann@example.org", masker=compile_rules([RuleSpec("email")])))
    assert end.outputs["c"] == {"branch": "v"}
    assert end.outputs["v"] == {"text": "Mail [email]"}


@pytest.mark.parametrize(
    ("block", "path", "sentence"),
    [
        ({"type": "template"}, "blocks[1]", "'template' is missing."),
        ({"type": "template", "template": "{{secret:KEY}}"}, "blocks[1].template", "cannot stand here"),
        ({"type": "template", "template": "{{x.y}}"}, "blocks[1].template", "there is no block 'x'"),
        ({"type": "response", "data": {"a": ["{{secret:K}}"]}}, "blocks[1].data.a[0]", "cannot stand here"),
        ({"type": "response", "status": 99}, "blocks[1].status", "must be at least 200."),
        ({"type": "http"}, "blocks[1]", "'url' is missing."),
        ({"type": "http", "url": "http://{{start.input}}/"}, "blocks[1].url", "the host"),
        ({"type": "http", "url": "http://h/{{x.y}}"}, "blocks[1].url", "there is no block 'x'"),
        (
            {"type": "http", "url": "http://h", "headers": {"A": "{{x.y}}"}},
            "blocks[1].headers.A",
            "no block 'x'",
        ),
        ({"type": "http", "url": "http://h", "method": "GET", "body": 1}, "blocks[1].url", "has no body"),
        ({"type": "condition", "cases": []}, "blocks[1].cases", "must not be empty."),
        (
            {"type": "condition", "cases": [{"if": "x", "then": "start"}]},
            "blocks[1].cases[0].if",
            "the condition needs",
        ),
        (
            {"type": "condition", "cases": [{"if": "1 == 1", "then": "y"}]},
            "blocks[1].cases[0].then",
            "no block 'y'",
        ),
        (
            {"type": "condition", "cases": [{"if": "1 == 1", "then": "start"}]},
            "blocks[1].cases[0].then",
            "nothing can lead to the start",
        ),
        (
            {"type": "condition", "cases": [{"if": "{{b.x}} == 1", "then": "b"}]},
            "blocks[1].cases[0].if",
            "'b' does not run before this block",
        ),
        (
            {"type": "condition", "cases": [{"if": "1 == 1", "then": "b"}], "else": "z"},
            "blocks[1].else",
            "there is no block 'z'.",
        ),
    ],
)
def test_it_refuses_blocks_that_cannot_work(block: dict[str, Any], path: str, sentence: str) -> None:
    found = graphs.problems(graph({"id": "b", **block}))
    assert any(problem.path == path and sentence in problem.sentence for problem in found), found


def test_it_refuses_edges_beside_those_of_a_condition() -> None:
    value = graph(
        {"id": "c", "type": "condition", "cases": [{"if": "1 == 1", "then": "t"}]},
        {"id": "t", "type": "template", "template": "x"},
        edges=[("start", "c"), ("c", "t")],
    )
    (problem,) = graphs.problems(value)
    assert str(problem) == "edges[1]: 'c' is a condition and states itself where it leads."
