"""Sections 3, 4, 5 and 9 over every legal run and every client."""

from collections.abc import Sequence
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from streaming import sse
from streaming.agent_events_v1 import Audience, Encoder, View
from streaming.codes import PUBLIC_RUN_SENTENCES, RunCode
from streaming.events import (
    BlockStreamed,
    RunEnded,
    RunEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    ToolSettled,
    TurnEnd,
    TurnEnded,
)
from tests.streaming.client import decode, read
from tests.streaming.generated import Block, Run, runs
from tests.streaming.hidden import Hider
from tests.streaming.runs import Message, told

CLIENTS = st.builds(
    View,
    audience=st.sampled_from(Audience),
    negotiated=st.booleans(),
    thinking=st.booleans(),
    tool_calls=st.booleans(),
    selected=st.just(()),
)
CHATS = CLIENTS.filter(lambda view: view.audience is Audience.CHAT)
SEEDS = st.integers(0, 2**16)


def seeing(client: View, run: Run) -> View:
    return View(client.audience, client.negotiated, client.thinking, client.tool_calls, run.selected)


def messages_of(client: View, run: Run) -> list[Message]:
    return told(seeing(client, run), *run.events())


def of_block(events: Sequence[RunEvent], block_id: str) -> list[Any]:
    """What a block says, flat."""
    return [
        inner
        for event in events
        if isinstance(event, BlockStreamed) and event.block_id == block_id
        for inner in event.events
    ]


def is_live(block: Block) -> bool:
    return block.is_agent and not block.structured and "content" in block.paths


@given(runs(), CLIENTS)
def test_it_says_only_what_a_conforming_client_understands(run: Run, client: View) -> None:
    event(run.ending)
    messages = messages_of(client, run)
    # Shapes, one terminal, nothing after it, starts and ends paired, resets of something: all in `read`.
    held = read(decode(sse.frames(messages)))
    assert held == read(messages)
    assert held.spoke <= {block.id for block in run.blocks if block.paths}


@given(runs(), CLIENTS, SEEDS)
def test_it_says_the_same_for_every_cut_into_batches(run: Run, client: View, seed: int) -> None:
    assert told(seeing(client, run), *run.events(seed)) == messages_of(client, run)


@given(runs(), CLIENTS)
def test_it_is_deterministic(run: Run, client: View) -> None:
    first, second = Encoder(seeing(client, run)), Encoder(seeing(client, run))
    for one in run.events():
        assert first.encode(one) == second.encode(one)


@given(runs(endings=["success"]), CLIENTS)
def test_it_converges_on_the_content(run: Run, client: View) -> None:
    held = read(messages_of(client, run))
    assert held.terminal is not None
    for block in run.blocks:
        if block.is_agent and "content" in block.paths:
            assert held.text(block.id) == block.content
            assert held.terminal["data"]["output"][block.id]["content"] == block.content


@given(runs(), CLIENTS)
def test_it_tells_a_plain_client_one_chunk_a_block_and_nothing_else_of_it(run: Run, client: View) -> None:
    if client.negotiated:
        client = View(client.audience, False, client.thinking, client.tool_calls, ())
    messages = messages_of(client, run)
    assert {message.get("event") for message in messages} <= {None, "stream_error", "final", "error"}
    for block in run.blocks:
        if is_live(block):
            chunks = [
                message["chunk"]
                for message in messages
                if message.get("blockId") == block.id and "chunk" in message
            ]
            assert chunks in ([], [block.content])


@given(runs(), CLIENTS)
def test_it_tells_each_text_delta_as_one_chunk(run: Run, client: View) -> None:
    if not client.negotiated:
        client = View(client.audience, True, client.thinking, client.tool_calls, ())
    messages = messages_of(client, run)
    for block in run.blocks:
        if is_live(block):
            deltas = [one.text for one in of_block(run.events(), block.id) if isinstance(one, TextDelta)]
            assert deltas == [m["chunk"] for m in messages if m.get("blockId") == block.id and "chunk" in m]


@given(runs(), CLIENTS)
def test_it_tells_thinking_and_tools_only_by_policy_and_protocol(run: Run, client: View) -> None:
    messages = messages_of(client, run)
    heard = {block.id for block in run.blocks if block.paths}
    said = [one for block_id in heard for one in of_block(run.events(), block_id)]
    thought = [one.text for one in said if isinstance(one, ThinkingDelta)]
    called = [one for one in said if isinstance(one, ToolCallStarted)]
    if client.audience is Audience.CHAT:
        called = [one for one in called if one.declared]
    shown = [message["data"] for message in messages if message.get("event") == "thinking"]
    assert sorted(shown) == (sorted(thought) if client.negotiated and client.thinking else [])
    starts = [message for message in messages if message.get("phase") == "start"]
    assert len(starts) == (len(called) if client.negotiated and client.tool_calls else 0)
    if client.audience is Audience.CHAT:
        assert [start["id"] for start in starts] == [f"call_{n + 1}" for n in range(len(starts))]
    names = {"lookup", "convert"} | ({"unknown_tool"} if client.audience is Audience.API else set())
    assert {start["name"] for start in starts} <= names


@given(runs(), CLIENTS)
def test_it_takes_back_what_was_no_answer(run: Run, client: View) -> None:
    """Between the events of a run, what a negotiated client holds of a block is the open turn's text."""
    view = seeing(View(client.audience, True, client.thinking, client.tool_calls, ()), run)
    encoder, held = Encoder(view), {block.id: "" for block in run.blocks}
    for one in run.events():
        for message in encoder.encode(one):
            if "chunk" in message:
                held[message["blockId"]] += message["chunk"]
            elif message.get("event") == "chunk_reset":
                assert held[message["blockId"]] != ""
                held[message["blockId"]] = ""
        if isinstance(one, BlockStreamed) and isinstance(one.events[-1], TurnEnded):
            kept = one.events[-1].kind is TurnEnd.FINAL
            assert kept or held[one.block_id] == ""


@given(runs(endings=["failure", "cancel", "timeout", "shutdown", "rule"]), CLIENTS)
def test_it_leaves_the_open_turns_text_unless_that_is_known_to_be_no_answer(run: Run, client: View) -> None:
    view = seeing(View(client.audience, True, client.thinking, client.tool_calls, ()), run)
    held = read(told(view, *run.events()))
    for block in run.blocks:
        if not is_live(block):
            continue
        turn: list[Any] = []
        for one in of_block(run.events(), block.id):
            over = isinstance(one, TurnEnded) and one.kind is not TurnEnd.FINAL
            turn = [] if over else [*turn, one]
        calls = any(isinstance(one, ToolCallStarted) for one in turn)
        partial = "".join(one.text for one in turn if isinstance(one, TextDelta))
        assert held.text(block.id) == ("" if calls else partial)


@given(runs(), CLIENTS)
def test_it_ends_chips_as_their_calls_ended(run: Run, client: View) -> None:
    view = seeing(View(Audience.API, True, True, True, ()), run)
    held = read(told(view, *run.events()))
    ends = {
        one.id: one.status.value
        for block in run.blocks
        for one in of_block(run.events(), block.id)
        if isinstance(one, ToolSettled)
    }
    for call_id, tool in held.tools.items():
        default = "error" if run.ending == "timeout" or tool.block_id in held.failed else "cancelled"
        assert tool.status == ends.get(call_id, default)


@given(runs(), CLIENTS)
def test_it_ends_as_the_run_ended(run: Run, client: View) -> None:
    (ended,) = [one for one in run.events() if isinstance(one, RunEnded)]
    terminal = messages_of(client, run)[-1]
    chat = client.audience is Audience.CHAT
    if ended.code is None:
        assert terminal["data"]["success"] is True
        return
    reason = PUBLIC_RUN_SENTENCES[ended.code] if chat else ended.detail
    told_why = terminal["data"] if ended.code is RunCode.TOOL_FAILURE_LIMIT else terminal
    assert terminal["event"] == ("final" if ended.code is RunCode.TOOL_FAILURE_LIMIT else "error")
    assert (told_why["error"], told_why["code"]) == (reason, ended.code.value)


@given(runs(), CHATS, SEEDS)
def test_it_writes_the_same_bytes_whatever_is_hidden(run: Run, client: View, seed: int) -> None:
    view = seeing(client, run)
    other = list(Hider(view, seed).events(run.events()))
    written = sse.frames(told(view, *other))
    assert written.decode() == sse.frames(told(view, *run.events())).decode()
    assert b"HIDDEN" not in written
