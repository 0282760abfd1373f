"""What the agents of a run have used so far, for the ledger."""

from dataclasses import replace

from agents.loop import AgentRun
from agents.spending import added
from runs.control import Facts
from streaming.events import Usage


class Tally:
    """Keeps `facts` true: read by the supervisor at any moment, also when the run was closed."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._agents: list[AgentRun] = []

    def add(self, agent: AgentRun) -> None:
        self._agents.append(agent)

    def count(self) -> None:
        """Sum up. A cost is unknown once the cost of any agent is."""
        usage, cost = Usage(), 0.0
        known, rounds, calls = True, 0, 0
        for agent in self._agents:
            usage = added(usage, agent.usage)
            known = known and agent.cost is not None
            cost += agent.cost or 0.0
            rounds += agent.rounds
            calls += sum(not call.abandoned for call in agent.tool_calls)
            if agent.stop_reason is not None:
                self.facts.stop_reason = agent.stop_reason.value
        self.facts.usage = usage
        self.facts.cost = cost if known else None
        self.facts.rounds, self.facts.tool_calls = rounds, calls

    def snapshot(self) -> Facts:
        self.count()
        return replace(self.facts)
