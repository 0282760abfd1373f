"""Runs worth a transcript: what happened, and what of it was selected. Hidden things have marked names."""

from dataclasses import dataclass

from streaming.codes import RunCode
from streaming.events import RunEvent, ToolStatus
from streaming.selection import Selected
from tests.streaming.runs import (
    ABANDONED,
    FINAL,
    INTERMEDIATE,
    agent,
    agent_output,
    block,
    broke,
    call,
    completed,
    failed,
    said,
    settled,
    started,
    succeeded,
    text,
    thinking,
    tool_call,
)


@dataclass(frozen=True)
class Scenario:
    selected: tuple[Selected, ...]
    events: tuple[RunEvent, ...]


ONE = (agent(),)
TWO = (agent("agent_1"), agent("agent_2"))

_ANSWER = agent_output("It is 42.", tool_call(1))
_BOTH = agent_output("Both done.", tool_call(1), tool_call(2, "convert", "error"))
_UNKNOWN = agent_output("Done.", tool_call(1, "MADE-UP", "error"), tool_call(2))
_MOOD = agent_output('{"mood": "good", "why": ["sun", "tea"]}', mood="good", why=["sun", "tea"])
_SPECIAL = ("line1\n", "\n", "a\u2028b", "x\x0by", "data: [DONE]\r\n", "é😀", '"\\')

SCENARIOS: dict[str, Scenario] = {
    "thinking-tool-answer": Scenario(
        ONE,
        (
            started("agent_1"),
            said("agent_1", thinking("I should ")),
            said("agent_1", thinking("look it up."), call(1)),
            said("agent_1", INTERMEDIATE),
            said("agent_1", settled(1)),
            said("agent_1", text("It is ")),
            said("agent_1", text("42.")),
            said("agent_1", FINAL),
            completed("agent_1", _ANSWER),
            succeeded({"agent_1": _ANSWER}),
        ),
    ),
    "tool-turn-with-reset": Scenario(
        ONE,
        (
            started("agent_1"),
            said("agent_1", text("Let me look")),
            said("agent_1", text(" twice."), call(1), call(2, "convert")),
            said("agent_1", INTERMEDIATE),
            said("agent_1", settled(2, "convert", ToolStatus.ERROR)),
            said("agent_1", settled(1)),
            said("agent_1", text("Both "), text("done."), FINAL),
            completed("agent_1", _BOTH),
            succeeded({"agent_1": _BOTH}),
        ),
    ),
    "parallel-blocks": Scenario(
        (*TWO, block("text_1", "text")),
        (
            started("agent_1"),
            started("agent_2"),
            said("agent_1", text("One ")),
            said("agent_2", text("Ein")),
            said("agent_1", text("two."), FINAL),
            completed("agent_1", agent_output("One two.")),
            said("agent_2", text("s."), FINAL),
            completed("agent_2", agent_output("Eins.")),
            completed("text_1", {"text": "One two. Eins."}, "template"),
            succeeded(
                {
                    "agent_1": agent_output("One two."),
                    "agent_2": agent_output("Eins."),
                    "text_1": {"text": "One two. Eins."},
                },
                "text_1",
            ),
        ),
    ),
    "fallback": Scenario(
        ONE,
        (
            started("agent_1"),
            said("agent_1", thinking("Hm."), text("It i"), call(1)),
            said("agent_1", settled(1, status=ToolStatus.ERROR), ABANDONED),
            said("agent_1", text("It is "), text("42."), FINAL),
            completed("agent_1", agent_output("It is 42.")),
            succeeded({"agent_1": agent_output("It is 42.")}),
        ),
    ),
    "failing-block": Scenario(
        TWO,
        (
            started("agent_1"),
            started("agent_2"),
            said("agent_1", text("It i")),
            said("agent_2", text("Let me look."), call(1)),
            failed("agent_1"),
            said("agent_2", settled(1, status=ToolStatus.CANCELLED)),
            broke(RunCode.PROVIDER_STREAM_BROKEN),
        ),
    ),
    "cancelled": Scenario(
        ONE,
        (
            started("agent_1"),
            said("agent_1", text("Let me look."), call(1), INTERMEDIATE),
            broke(RunCode.RUN_CANCELLED),
        ),
    ),
    "timeout": Scenario(
        ONE,
        (
            started("agent_1"),
            said("agent_1", text("Let me look."), call(1), call(2, "convert")),
            said("agent_1", INTERMEDIATE, settled(2, "convert")),
            broke(RunCode.RUN_TIMEOUT),
        ),
    ),
    "unknown-tool": Scenario(
        ONE,
        (
            started("agent_1"),
            said("agent_1", call(1, "MADE-UP", declared=False), call(2), INTERMEDIATE),
            said("agent_1", settled(1, "MADE-UP", ToolStatus.ERROR, declared=False), settled(2)),
            said("agent_1", text("Done."), FINAL),
            completed("agent_1", _UNKNOWN),
            succeeded({"agent_1": _UNKNOWN}),
        ),
    ),
    "structured-answer": Scenario(
        (agent(path="mood", live=False), agent(path="why", live=False)),
        (
            started("agent_1"),
            said("agent_1", text('{"mood": "good",')),
            said("agent_1", text(' "why": ["sun", "tea"]}'), FINAL),
            completed("agent_1", _MOOD),
            succeeded({"agent_1": _MOOD}),
        ),
    ),
    "ended-by-rule": Scenario(
        ONE,
        (
            started("agent_1"),
            said("agent_1", text("Once more."), call(1), INTERMEDIATE),
            said("agent_1", settled(1, status=ToolStatus.ERROR)),
            completed("agent_1", agent_output("", tool_call(1, status="error"))),
            broke(RunCode.TOOL_FAILURE_LIMIT, {"agent_1": agent_output("", tool_call(1, status="error"))}),
        ),
    ),
    "special-characters": Scenario(
        ONE,
        (
            started("agent_1"),
            said("agent_1", text(*_SPECIAL), FINAL),
            completed("agent_1", agent_output("".join(_SPECIAL))),
            succeeded({"agent_1": agent_output("".join(_SPECIAL))}),
        ),
    ),
}
