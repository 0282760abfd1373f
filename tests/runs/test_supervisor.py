"""However an execution ends, the row ends, and the listener gets one terminal made from it."""

import pytest

from runs.supervisor import supervise
from streaming.events import RunStatus
from tests.runs.conftest import USED, Played, admit_async, completed, listen, row_async, text

pytestmark = pytest.mark.usefixtures("ledger_loop")


async def test_it_passes_events_through_and_ends_with_the_row() -> None:
    ticket = await admit_async()
    said = [text("Forty"), text("-two.")]

    events, terminal = await listen(supervise(ticket, Played(said, completed())))

    assert events == said
    assert terminal.success
    assert terminal.outputs == {"agent_1": {"content": "Forty-two."}}
    run = await row_async(ticket.run_id)
    assert run.status == RunStatus.COMPLETED
    assert run.started_at is not None
    assert run.usage["total_tokens"] == USED.total_tokens
