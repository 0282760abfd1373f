"""An answer as bytes: events of a run become messages, messages frames; one terminal, then the sentinel."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import assert_never

from django.conf import settings

from deployments.messages import Admitted, Beginning
from runs import registry
from runs.control import CancelReason
from runs.idempotency import Stored
from runs.supervisor import supervise
from streaming import sse
from streaming.agent_events_v1 import Encoder, View
from streaming.codes import PUBLIC_RUN_SENTENCES, RunCode
from streaming.events import RunEnded
from streaming.keepalive import KeepAlive
from streaming.replay import replay
from streaming.response import EventStreamResponse
from workflows.executor import execute

logger = logging.getLogger("deployments")

CONVERSATION = "X-Studio-Conversation"

_BROKEN = {
    "event": "error",
    "error": PUBLIC_RUN_SENTENCES[RunCode.AGENT_RUN_FAILED],
    "code": RunCode.AGENT_RUN_FAILED.value,
}


def response(admitted: Admitted) -> EventStreamResponse:
    """Return the stream of an admitted message. It is never empty, and pings while nothing comes."""
    match admitted.answer:
        case Stored():
            source, unstarted = KeepAlive(_again(admitted.answer, admitted.view)), None
        case Beginning():
            source, unstarted = _live(admitted.answer, admitted.view)
        case _:
            assert_never(admitted.answer)
    conversation = admitted.conversation_id
    return EventStreamResponse(
        source,
        negotiated=admitted.view.negotiated,
        headers={} if conversation is None else {CONVERSATION: conversation},
        on_unstarted=unstarted,
    )


def _live(beginning: Beginning, view: View) -> tuple[KeepAlive, Callable[[], None]]:
    run_id = beginning.ticket.run_id

    def give_up() -> None:
        registry.cancel(run_id, CancelReason.STALLED)

    def stop() -> None:
        registry.stop(run_id)

    seconds = settings.STUDIO_HEARTBEAT_SECONDS
    return KeepAlive(_frames(beginning, view), ping_seconds=seconds, on_stall=give_up), stop


async def _frames(beginning: Beginning, view: View) -> AsyncGenerator[bytes, None]:
    encoder, ended = Encoder(view), False
    try:
        async with aclosing(supervise(beginning.ticket, partial(execute, beginning.plan))) as events:
            async for event in events:
                if messages := encoder.encode(event):
                    yield sse.frames(messages)
                ended = isinstance(event, RunEnded)
    except Exception:
        # Only by a fault of our own; whoever reads must not wait for an end that never comes.
        logger.exception("The stream of run %s broke.", beginning.ticket.run_id)
    if not ended:
        yield sse.frame(_BROKEN)
    yield sse.DONE


async def _again(stored: Stored, view: View) -> AsyncGenerator[bytes, None]:
    yield sse.frames(replay(stored.ended, view))
    yield sse.DONE
