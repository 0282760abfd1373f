"""The guards of the tool loop (agent-runtime-v1 section 4), the same on every surface. Pure.

A turn's calls are admitted together before any of them runs, and counted together, in call order, when all
have settled. Texts for the model say what happened and what helps; they are part of the contract.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from agents.conversation import ToolCall
from agents.tools.arguments import canonical
from agents.tools.base import ToolResult
from streaming.events import Warned, WarningKind

#: So many identical calls in a row run; the next one is refused.
IDENTICAL_CALLS = 6
#: So many failures in a row suspend a tool.
TOOL_FAILURES = 5
#: So many failures in a row over all tools end the run.
RUN_FAILURES = 15

REPETITION_WARNING = (
    "the platform refused a repeated call because neither the arguments nor the result changed"
    " — this is not a limit on the number of tool calls"
)
REPETITION_TEXT = (
    "The platform refused this repeated call and did not run it, because neither the arguments nor the result"
    " changed in the calls before it. This is a guard against loops, not a limit on the number of tool calls:"
    " you may go on calling tools. Use the result you already have, or call with other arguments."
)
SUSPENSION_WARNING = f"the platform suspended a tool after {TOOL_FAILURES} failures in a row"
SUSPENSION_TEXT = (
    f"The platform did not run this call: this tool is suspended after {TOOL_FAILURES} failures in a row."
    " It becomes available again when a call of another tool succeeds. Go on without it, or answer with what"
    " you know and say what could not be done."
)


@dataclass(frozen=True)
class Repeated:
    """Refused by the repetition guard; no tool failure. `count`: how many in a row, this call included."""

    tool: str
    count: int

    @property
    def result(self) -> ToolResult:
        return ToolResult(REPETITION_TEXT, is_error=True)

    @property
    def warning(self) -> Warned:
        facts = {"tool": self.tool, "count": self.count}
        return Warned(WarningKind.TOOL_LOOP_GUARD, facts, REPETITION_WARNING)


@dataclass(frozen=True)
class Suspended:
    """Refused because the tool is suspended; counts as a failure. The warning came with the suspension."""

    tool: str

    @property
    def result(self) -> ToolResult:
        return ToolResult(SUSPENSION_TEXT, is_error=True)


Refusal = Repeated | Suspended


@dataclass(frozen=True)
class Counted:
    """One settled call of a turn. `result` None: it was cancelled, which is neither failure nor success."""

    call: ToolCall
    refusal: Refusal | None
    result: ToolResult | None


@dataclass
class _Row:
    """What is remembered of one tool."""

    arguments: str = ""
    result: str = ""
    identical: int = 0
    failures: int = 0

    @property
    def suspended(self) -> bool:
        return self.failures >= TOOL_FAILURES


class Guards:
    """The counts of one run."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, _Row] = defaultdict(_Row)
        self._failures = 0
        #: The run ends with `tool_failure_limit`. Once true, it stays true.
        self.exhausted = False

    def admit(self, calls: Sequence[ToolCall]) -> list[Refusal | None]:
        """Decide for each call of a turn, before any runs; None: it may run.

        A suspension is looked at first, so that a tool that only fails always leads to the run's end.
        """
        changed: set[str] = set()
        return [self._admit(call, changed) for call in calls]

    def _admit(self, call: ToolCall, changed: set[str]) -> Refusal | None:
        row = self._rows[call.name]
        if row.suspended:
            return Suspended(call.name)
        if row.identical and canonical(call.arguments) != row.arguments:
            changed.add(call.name)
        if row.identical < IDENTICAL_CALLS or call.name in changed:
            return None
        row.identical += 1
        return Repeated(call.name, row.identical)

    def count(self, turn: Sequence[Counted]) -> list[Warned]:
        """Count a turn's calls, in call order, after all have settled; return the suspensions it brought."""
        warnings: list[Warned] = []
        for settled in turn:
            if isinstance(settled.refusal, Repeated) or settled.result is None:
                continue
            if settled.refusal is None:
                self._compare(settled.call, settled.result)
            if settled.result.is_error:
                warnings += self._fail(settled.call.name)
            else:
                self._succeed()
        return warnings

    def _compare(self, call: ToolCall, result: ToolResult) -> None:
        row, arguments = self._rows[call.name], canonical(call.arguments)
        same = row.identical > 0 and (row.arguments, row.result) == (arguments, result.text)
        row.identical = row.identical + 1 if same else 1
        row.arguments, row.result = arguments, result.text

    def _fail(self, tool: str) -> list[Warned]:
        row = self._rows[tool]
        row.failures += 1
        self._failures += 1
        self.exhausted = self.exhausted or self._failures >= RUN_FAILURES
        if row.failures != TOOL_FAILURES:
            return []
        facts = {"tool": tool, "count": row.failures}
        return [Warned(WarningKind.TOOL_SUSPENDED, facts, SUSPENSION_WARNING)]

    def _succeed(self) -> None:
        self._failures = 0
        for row in self._rows.values():
            row.failures = 0
