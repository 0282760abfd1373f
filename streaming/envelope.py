"""The data of a `final` frame (agent-events-v1 section 5): selected from a run's whole outputs, by audience. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from streaming.chips import Chips
from streaming.selection import MISSING, Selected, lookup

Outputs = Mapping[str, Mapping[str, Any]]

#: What a segment of `providerTiming` may hold. Thinking and text of a turn are none of it, on every surface.
_SEGMENT = ("type", "name", "startTime", "endTime", "duration")


def for_chat(
    outputs: Outputs, selected: Sequence[Selected], chips: Chips | None
) -> dict[str, dict[str, Any]]:
    """The selected paths, flat. `chips`: with the tool calls the client saw (policy on, negotiated)."""
    found: dict[str, dict[str, Any]] = {}
    for one in selected:
        if one.block_id not in outputs:
            continue
        values = found.setdefault(one.block_id, {})
        value = lookup(outputs[one.block_id], one.path)
        if value is not MISSING:
            values[one.path] = value
    if chips is not None:
        for block_id in {one.block_id: None for one in selected if one.agent and one.block_id in found}:
            found[block_id]["toolCalls"] = _seen_calls(outputs[block_id], chips)
    return found


def for_api(
    outputs: Outputs, selected: Sequence[Selected], terminal_blocks: Sequence[str], agents: set[str]
) -> dict[str, dict[str, Any]]:
    """Agent blocks whole, other blocks by path; without a selection the run's terminal blocks, whole."""
    if not selected:
        return {
            block: _whole(outputs[block], block in agents) for block in terminal_blocks if block in outputs
        }
    found: dict[str, dict[str, Any]] = {}
    for one in selected:
        if one.block_id not in outputs:
            continue
        values = found.setdefault(one.block_id, _whole(outputs[one.block_id], True) if one.agent else {})
        value = lookup(outputs[one.block_id], one.path)
        if value is not MISSING:
            values.setdefault(one.path, value)
    return found


def _whole(output: Mapping[str, Any], agent: bool) -> dict[str, Any]:
    whole = dict(output)
    timing = whole.get("providerTiming")
    if agent and isinstance(timing, Mapping):
        segments = timing.get("timeSegments", ())
        kept = [{key: segment[key] for key in _SEGMENT if key in segment} for segment in segments]
        whole["providerTiming"] = {**timing, "timeSegments": kept}
    return whole


def _seen_calls(output: Mapping[str, Any], chips: Chips) -> dict[str, Any]:
    seen = [
        {"id": shown, "name": call["name"], "status": call["status"]}
        for call in output.get("toolCalls", {}).get("list", ())
        if (shown := chips.shown_id(call["id"])) is not None
    ]
    return {"list": seen, "count": len(seen)}
