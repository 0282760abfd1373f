"""What a final frame may hold of a block's output (agent-events-v1 section 5). Pure.

Everything is picked key by key: what is not named here does not go out.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from streaming.chips import UNKNOWN_TOOL
from streaming.selection import look_up

JSONObject = dict[str, Any]

_CALL_KEYS = ("id", "name", "status", "startTime", "endTime", "durationMs", "arguments", "result")
#: Of a time segment; what a model thought or said in it is in none of them.
_SEGMENT_KEYS = ("type", "name", "startTime", "endTime", "duration")
_TIMING_KEYS = ("startTime", "endTime", "duration")


def picked(output: Mapping[str, Any], paths: Sequence[str]) -> JSONObject:
    """Return what `paths` find in `output`, each under its path as one flat key."""
    found: JSONObject = {}
    for path in paths:
        try:
            found[path] = look_up(output, path)
        except LookupError:
            continue
    return found


def whole_agent(output: Mapping[str, Any], paths: Sequence[str], unknown: Collection[str]) -> JSONObject:
    """Return an agent block for an authenticated caller: all it has, then the selected `paths` beyond that.

    `unknown` are the ids of calls to tools that do not exist.
    """
    whole: JSONObject = {
        "content": output.get("content"),
        "model": output.get("model"),
        "tokens": output.get("tokens"),
        "cost": output.get("cost"),
        "toolCalls": _tool_calls(output, unknown),
        "providerTiming": _timing(output.get("providerTiming") or {}),
    }
    return whole | picked({**output, **whole}, paths)


def call_ids(output: Mapping[str, Any]) -> frozenset[str]:
    """Return the run's ids of the calls that count as the agent's."""
    return frozenset(call["id"] for call in _calls(output))


def _calls(output: Mapping[str, Any]) -> list[JSONObject]:
    calls: list[JSONObject] = (output.get("toolCalls") or {}).get("list") or []
    return calls


def _tool_calls(output: Mapping[str, Any], unknown: Collection[str]) -> JSONObject:
    calls = [_only(call, _CALL_KEYS) for call in _calls(output)]
    for call in calls:
        if call["id"] in unknown:
            call["name"] = UNKNOWN_TOOL
    return {"list": calls, "count": len(calls)}


def _timing(timing: Mapping[str, Any]) -> JSONObject:
    segments = [_only(segment, _SEGMENT_KEYS) for segment in timing.get("timeSegments") or []]
    return {**_only(timing, _TIMING_KEYS), "timeSegments": segments}


def _only(value: Mapping[str, Any], keys: Sequence[str]) -> JSONObject:
    return {key: value[key] for key in keys if key in value}
