"""What holds of every run: any graph, any script, any pace, ended at any moment from outside or not at all.

The same runs are then read as clients do, through the encoder: sections 3 to 5 of agent-events-v1.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings

from runs.control import CancelReason, ExecutionEnded, RunControl
from runs.ledger import status_of
from streaming.agent_events_v1 import Audience, Encoder, View
from streaming.codes import ENDED_BY_RULE
from streaming.events import (
    AgentEvent,
    BlockCompleted,
    BlockFailed,
    BlockStarted,
    BlockStreamed,
    RunEnded,
    RunStatus,
    TextDelta,
    ToolCallStarted,
    ToolSettled,
    ToolStatus,
    TurnEnd,
    TurnEnded,
)
from streaming.selection import Selected
from tests.workflows.doubles import Event, end_of, plan
from tests.workflows.scripts import Paced, Scene, scenes
from workflows import outbox
from workflows.executor import execute

MANY = settings(max_examples=40, deadline=None)


async def play(scene: Scene, control: RunControl, providers: dict[str, Paced]) -> list[Event]:
    """Listen to a scene; at its cut cancel it, or leave."""
    events: list[Event] = []
    selected = [Selected(block, "content", agent=True, live=True) for block in scene.selected]
    run = plan(scene.graph, providers, selected=selected)
    with patch.object(outbox, "ROOM", scene.room):
        async with aclosing(execute(run, control)) as stream:
            async for event in stream:
                events.append(event)
                for _ in range(scene.pauses[len(events) % len(scene.pauses)]):
                    await asyncio.sleep(0)
                if len(events) == scene.cut:
                    if scene.how is None:
                        break
                    control.cancel(scene.how)
    return events


def left(scene: Scene, events: Sequence[Event]) -> bool:
    return scene.how is None and len(events) == scene.cut


@given(scenes())
@MANY
async def test_it_ends_once_and_leaves_nothing_behind(scene: Scene) -> None:
    control, providers = RunControl(), scene.providers()
    events = await play(scene, control, providers)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert all(provider.open == 0 for provider in providers.values())
    if left(scene, events):
        return
    end = end_of(events)
    spoke = set(scene.selected) & set(end.outputs)
    assert (end.answer is not None) == (end.code is None and bool(spoke))
    facts = control.facts
    assert (facts.usage, facts.cost, facts.rounds, facts.tool_calls) == (
        end.usage,
        end.cost,
        end.rounds,
        end.tool_calls,
    )
    assert set(end.outputs) == {event.block_id for event in events if isinstance(event, BlockCompleted)}


@given(scenes())
@MANY
async def test_it_keeps_the_order_of_blocks(scene: Scene) -> None:
    events = await play(scene, RunControl(), scene.providers())
    done: set[str] = set()
    failed: set[str] = set()
    begun: list[str] = []
    for event in events:
        match event:
            case BlockStarted():
                assert event.block_id not in begun
                assert scene.predecessors(event.block_id) <= done
                begun.append(event.block_id)
                assert event.order == len(begun)
            case BlockStreamed():
                assert event.block_id in begun
                assert event.block_id not in done
                assert event.events
                if event.block_id in failed:
                    assert all(isinstance(said, ToolSettled) for said in event.events)
            case BlockCompleted():
                assert event.block_id in begun
                assert event.block_id not in done
                done.add(event.block_id)
            case BlockFailed():
                assert event.block_id in begun
                assert not failed
                failed.add(event.block_id)
            case _:
                pass
    assert not done & failed
    assert set(begun) <= scene.running()
    if isinstance(events[-1], ExecutionEnded) and events[-1].code is None:
        assert done == scene.running()


@given(scenes())
@MANY
async def test_it_ends_every_call_it_began(scene: Scene) -> None:
    events = await play(scene, RunControl(), scene.providers())
    began: dict[str, str] = {}
    ended: dict[str, ToolStatus] = {}
    failed, over = None, False
    for event in events:
        if isinstance(event, BlockFailed):
            failed = event.block_id
        for said in event.events if isinstance(event, BlockStreamed) else ():
            if isinstance(said, ToolCallStarted):
                assert said.id == f"call_{len(began) + 1}" or said.id not in began
                began[said.id] = event.block_id  # type: ignore[union-attr]  # it was streamed
            if isinstance(said, ToolSettled):
                assert said.id in began
                assert said.id not in ended
                ended[said.id] = said.status
                over = failed is not None
                if over and began[said.id] == failed:
                    assert said.status is ToolStatus.ERROR
    if not left(scene, events):
        assert set(ended) == set(began)
        end = end_of(events)
        if scene.how is CancelReason.TIMEOUT and end.code == "RUN_TIMEOUT":
            assert ToolStatus.CANCELLED not in ended.values()
    assert len({*began}) == len(began)


@given(scenes())
@MANY
async def test_its_text_converges_to_what_a_block_came_to(scene: Scene) -> None:
    events = await play(scene, RunControl(), scene.providers())
    texts: dict[str, str] = defaultdict(str)
    for event in events:
        if isinstance(event, BlockStreamed):
            for said in event.events:
                texts[event.block_id] = _grown(texts[event.block_id], said)
        if isinstance(event, BlockCompleted) and event.type == "agent":
            rule_ended = isinstance(events[-1], ExecutionEnded) and events[-1].code in ENDED_BY_RULE
            assert event.output["content"] == texts[event.block_id] or rule_ended


def _grown(text: str, said: AgentEvent) -> str:
    match said:
        case TextDelta():
            return text + said.text
        case TurnEnded(kind=TurnEnd.INTERMEDIATE | TurnEnd.ABANDONED):
            return ""
        case _:
            return text


# --- As clients read it -------------------------------------------------------------------------------------


def frames(
    scene: Scene, events: Sequence[Event], *, audience: Audience, negotiated: bool
) -> list[dict[str, Any]]:
    """What one client gets of a run, all policies on."""
    selected = tuple(Selected(block, "content", agent=True, live=True) for block in scene.selected)
    encoder = Encoder(View(audience, negotiated, thinking=True, tool_calls=True, selected=selected))
    said: list[dict[str, Any]] = []
    for event in events:
        said += encoder.encode(_ended(event) if isinstance(event, ExecutionEnded) else event)
    return said


def _ended(end: ExecutionEnded) -> RunEnded:
    status = RunStatus(status_of(end.code))
    return RunEnded(
        "run_1", status, end.code is None, end.code, end.detail, end.outputs, end.terminal_blocks, 1
    )


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("negotiated", [True, False])
@given(scene=scenes())
@settings(max_examples=40, deadline=None)
async def test_its_frames_keep_the_rules_of_the_protocol(
    scene: Scene, audience: Audience, negotiated: bool
) -> None:
    events = await play(scene, RunControl(), scene.providers())
    if left(scene, events):
        return
    said = frames(scene, events, audience=audience, negotiated=negotiated)
    terminals = [frame for frame in said if frame.get("event") in ("final", "error")]
    assert terminals == [said[-1]]
    assert all(frame["blockId"] in scene.selected for frame in said[:-1])
    if not negotiated:
        assert {frame.get("event") for frame in said[:-1]} <= {None, "stream_error"}
    _check_chips(said)
    if said[-1].get("event") == "final" and said[-1]["data"]["success"]:
        shown = _shown(said)
        contents = said[-1]["data"]["output"]
        assert set(contents) == set(scene.selected) & set(end_of(events).outputs)
        for block, output in contents.items():
            assert shown[block] == output["content"]
    if not negotiated:
        chunks = [frame["blockId"] for frame in said if "event" not in frame]
        assert len(chunks) == len(set(chunks))


def _shown(said: Sequence[dict[str, Any]]) -> dict[str, str]:
    """What a conforming client has on its screen (section 11)."""
    shown: dict[str, str] = defaultdict(str)
    for frame in said:
        if "event" not in frame:
            assert frame["chunk"]
            shown[frame["blockId"]] += frame["chunk"]
        elif frame["event"] == "chunk_reset":
            assert shown[frame["blockId"]], "a reset without a chunk before it"
            shown[frame["blockId"]] = ""
    return shown


def _check_chips(said: Sequence[dict[str, Any]]) -> None:
    open_chips: set[str] = set()
    seen: set[str] = set()
    for frame in said:
        if frame.get("event") != "tool":
            continue
        if frame["phase"] == "start":
            assert frame["id"] not in seen
            seen.add(frame["id"])
            open_chips.add(frame["id"])
        else:
            open_chips.remove(frame["id"])
    assert not open_chips
