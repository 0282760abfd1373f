"""The output of an agent block, whole (agent-events-v1 section 5). Whoever shows it selects from it. Pure."""

from typing import Any

from agents.loop import AgentRun
from agents.records import ToolRecord
from agents.timeline import iso
from streaming.chips import UNKNOWN_TOOL
from streaming.events import Usage

#: In this order; `content` is what the block alone stands for.
PATHS = ("content", "model", "tokens", "cost", "toolCalls", "providerTiming")


def of(agent: AgentRun) -> dict[str, Any]:
    """Of an agent that has finished. Nothing in it comes from a turn that was not final."""
    calls = [_call(agent, record) for record in agent.tool_calls if not record.abandoned]
    return {
        "content": agent.content,
        "model": agent.model,
        "tokens": _tokens(agent.usage),
        "cost": {"total_cost_usd": agent.cost},
        "toolCalls": {"list": calls, "count": len(calls)},
        "providerTiming": agent.provider_timing,
    }


def _tokens(usage: Usage) -> dict[str, Any]:
    return {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "total": usage.total_tokens,
        "cached": usage.cached_tokens,
        "reasoning": usage.reasoning_tokens,
        "estimated": usage.estimated,
    }


def _call(agent: AgentRun, record: ToolRecord) -> dict[str, Any]:
    """`arguments` is the text as the model emitted it, valid JSON or not; `result` what it was given back."""
    assert record.started is not None
    assert record.ended is not None
    assert record.status is not None
    return {
        "id": record.id,
        "name": record.name if record.declared else UNKNOWN_TOOL,
        "status": record.status.value,
        "startTime": iso(agent.timeline.at(record.started)),
        "endTime": iso(agent.timeline.at(record.ended)),
        "durationMs": record.duration_ms,
        "arguments": record.arguments,
        "result": record.result,
    }
