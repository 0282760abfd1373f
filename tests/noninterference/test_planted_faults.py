"""The proof can fail: each fault here is one that such systems have really had, and the property finds it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from agents.loop import AgentRun
from agents.turn import Turn
from deployments import serializers, stream
from runs import ledger, refusals
from runs.control import ExecutionEnded
from runs.models import Message, Run, TraceEntry
from streaming import agent_events_v1, chips, envelope
from streaming.agent_events_v1 import Encoder
from streaming.chips import Chip, Chips
from streaming.events import (
    BlockStreamed,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
    ToolSettled,
    TurnEnd,
)
from streaming.speaker import Speaker
from studio.leakcheck import endpoints
from tests.noninterference.conftest import Check
from tests.noninterference.scenes import Pair, pairs
from tests.noninterference.worlds import Interference
from workflows.masking import Disclosure
from workflows.models import Workflow
from workflows.speech import MaskedSpeech

#: So many pairs must be enough to find any of the faults.
ENOUGH = 80


def is_found(check: Check) -> None:
    """The property, on a bounded number of pairs, fails."""
    names = tuple(endpoint.name for endpoint in endpoints.TABLE if not endpoint.always)

    @seed(1)
    @settings(
        max_examples=ENOUGH,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(pair=pairs(names))
    def holds(pair: Pair) -> None:
        check(pair)

    with pytest.raises(Interference):
        holds()


Plant = Callable[[pytest.MonkeyPatch], None]


def result_in_the_final_frame(patch: pytest.MonkeyPatch) -> None:
    honest = envelope.picked

    def picked(output: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
        calls = output.get("toolCalls", {}).get("list", [])
        return {**honest(output, paths), "results": [call["result"] for call in calls]}

    patch.setattr(envelope, "picked", picked)


def number_of_calls_in_the_final_frame(patch: pytest.MonkeyPatch) -> None:
    honest = envelope.picked

    def picked(output: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
        return {**honest(output, paths), "calls": output.get("toolCalls", {}).get("count", 0)}

    patch.setattr(envelope, "picked", picked)


def argument_in_an_error_text(patch: pytest.MonkeyPatch) -> None:
    last: list[str] = []
    honest = Encoder._stream

    def tell(self: Encoder, speaker: Speaker, events: Sequence[Any]) -> list[Any]:
        last.extend(event.fragment for event in events if hasattr(event, "fragment"))
        return honest(self, speaker, events)

    patch.setattr(Encoder, "_stream", tell)
    patch.setattr(Encoder, "_reason", lambda self, code, detail: f"It failed with {last[-1:]}.")


def tool_name_with_the_policy_off(patch: pytest.MonkeyPatch) -> None:
    honest = Encoder._start_call

    def start_call(self: Encoder, speaker: Speaker, call: ToolCallStarted) -> list[Any]:
        frames = honest(self, speaker, call)
        return frames or [{"blockId": speaker.block_id, "event": "tool", "name": call.name}]

    patch.setattr(Encoder, "_start_call", start_call)


def status_with_the_policy_off(patch: pytest.MonkeyPatch) -> None:
    def settle(self: Chips, call: ToolSettled) -> list[Any]:
        return [{"blockId": "agent_1", "event": "tool", "phase": "end", "status": call.status.value}]

    patch.setattr(Chips, "settle", settle)


def provider_id_on_the_wire(patch: pytest.MonkeyPatch) -> None:
    """As if the run kept the provider's ids for its own."""
    honest = Turn._start

    def start(self: Turn, event: Any) -> ToolCallStarted:
        made = honest(self, event)
        if event.id:
            self.calls[-1].id = event.id
        return ToolCallStarted(made.index, self.calls[-1].id, made.name, made.declared)

    patch.setattr(Turn, "_start", start)
    patch.setattr(Chips, "start", _start_with_run_ids)


def run_ids_instead_of_dense_ones(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Chips, "start", _start_with_run_ids)


def _start_with_run_ids(self: Chips, block_id: str, call: ToolCallStarted) -> list[Any]:
    if call.id in self._chips or not call.declared:
        return []
    chip = Chip(block_id, call.id, call.name)
    self._chips[call.id] = chip
    return [chips._frame(chip, "start")]


def undeclared_calls_as_unknown_tool(patch: pytest.MonkeyPatch) -> None:
    honest = Chips.__init__
    patch.setattr(Chips, "__init__", lambda self, public: honest(self, public=False))


def thinking_in_the_timing(patch: pytest.MonkeyPatch) -> None:
    """As if a segment kept what was thought in it, and the envelope were given whole."""
    honest = envelope.picked
    patch.setattr(
        AgentRun,
        "provider_timing",
        property(lambda self: {"timeSegments": [{"thinking": self._attempt.turn.thinking}]}),
    )

    def picked(output: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
        return {**honest(output, paths), "providerTiming": output.get("providerTiming")}

    patch.setattr(envelope, "picked", picked)


def thinking_without_negotiation(patch: pytest.MonkeyPatch) -> None:
    honest = Encoder.__init__

    def init(self: Encoder, view: agent_events_v1.View) -> None:
        honest(self, view)
        self._thinking_left = agent_events_v1.THINKING_LIMIT

    patch.setattr(Encoder, "__init__", init)


def detail_instead_of_the_sentence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Encoder, "_reason", lambda self, code, detail: detail)


def usage_in_the_final_frame(patch: pytest.MonkeyPatch) -> None:
    honest = envelope.picked

    def picked(output: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
        return {**honest(output, paths), "tokens": output.get("tokens")}

    patch.setattr(envelope, "picked", picked)


def blocks_in_a_header(patch: pytest.MonkeyPatch) -> None:
    honest = stream.response

    def response(admitted: Any) -> Any:
        made = honest(admitted)
        if hasattr(admitted.answer, "plan"):
            made.headers["X-Studio-Blocks"] = ",".join(admitted.answer.plan.graph.blocks)
        return made

    patch.setattr(stream, "response", response)


def unselected_block_speaks(patch: pytest.MonkeyPatch) -> None:
    honest = Encoder.encode

    def encode(self: Encoder, event: Any) -> list[Any]:
        if isinstance(event, BlockStreamed) and event.block_id not in self._speakers:
            texts = [inner.text for inner in event.events if isinstance(inner, TextDelta)]
            return [{"blockId": event.block_id, "chunk": text} for text in texts]
        return honest(self, event)

    patch.setattr(Encoder, "encode", encode)


def intermediate_text_for_plain_clients(patch: pytest.MonkeyPatch) -> None:
    honest = Speaker.end_turn
    patch.setattr(Speaker, "end_turn", lambda self, kind: honest(self, TurnEnd.FINAL))


def unmasked_text_goes_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Disclosure, "speech", lambda self: None)


def unmasked_thinking_goes_out(patch: pytest.MonkeyPatch) -> None:
    honest = MaskedSpeech.feed

    def feed(self: MaskedSpeech, batch: Sequence[Any]) -> list[Any]:
        texts = [event for event in batch if isinstance(event, ThinkingDelta)]
        return [*texts, *honest(self, batch)]

    patch.setattr(MaskedSpeech, "feed", feed)


def history_tells_intermediate_text(patch: pytest.MonkeyPatch) -> None:
    """As if memory got the text of every turn."""
    said: list[str] = []
    message, remember = Turn.message, ledger._remember

    def kept(self: Turn, vendor: str, taken: set[str]) -> Any:
        said.append(self.text)
        return message(self, vendor, taken)

    def remember_all(conversation_id: str, run_id: str, ended: ExecutionEnded, at: datetime) -> None:
        answer = ended.answer and "".join([*said, ended.answer])
        said.clear()
        remember(conversation_id, run_id, replace(ended, answer=answer), at)

    patch.setattr(Turn, "message", kept)
    patch.setattr(ledger, "_remember", remember_all)


def history_tells_results(patch: pytest.MonkeyPatch) -> None:
    def results(run: Run) -> list[str]:
        return [entry.data["output"] for entry in TraceEntry.objects.filter(run=run, kind="tool_result")]

    _tell_in_history(patch, results)


def history_tells_why_it_failed(patch: pytest.MonkeyPatch) -> None:
    _tell_in_history(patch, lambda run: run.detail)


def _tell_in_history(patch: pytest.MonkeyPatch, tell: Callable[[Run], Any]) -> None:
    honest = serializers._message

    def message(stored: Message) -> dict[str, Any]:
        return {**honest(stored), "of": None if stored.run is None else str(tell(stored.run))}

    patch.setattr(serializers, "_message", message)


def memory_keeps_unmasked_text(patch: pytest.MonkeyPatch) -> None:
    """As if the answer were remembered as the model gave it."""
    said: list[str] = []
    finished, remember = AgentRun._finished, ledger._remember

    def finish(self: AgentRun, reason: StopReason) -> Any:
        said.append(self.content)
        return finished(self, reason)

    def remember_raw(conversation_id: str, run_id: str, ended: ExecutionEnded, at: datetime) -> None:
        remember(conversation_id, run_id, replace(ended, answer=ended.answer and said[-1]), at)

    patch.setattr(AgentRun, "_finished", finish)
    patch.setattr(ledger, "_remember", remember_raw)


def config_tells_the_version(patch: pytest.MonkeyPatch) -> None:
    honest = serializers.config

    def config(chat: Any) -> dict[str, Any]:
        return {**honest(chat), "version": chat.workflow.published.number}

    patch.setattr(serializers, "config", config)


def refusal_tells_the_workflow(patch: pytest.MonkeyPatch) -> None:
    honest = refusals.Refused.body

    def body(self: refusals.Refused, *, explained: bool = False) -> dict[str, Any]:
        return {**honest(self, explained=explained), "of": Workflow.objects.get().name}

    patch.setattr(refusals.Refused, "body", body)


PLANTED: tuple[Plant, ...] = (
    result_in_the_final_frame,
    number_of_calls_in_the_final_frame,
    argument_in_an_error_text,
    tool_name_with_the_policy_off,
    status_with_the_policy_off,
    provider_id_on_the_wire,
    run_ids_instead_of_dense_ones,
    undeclared_calls_as_unknown_tool,
    thinking_in_the_timing,
    thinking_without_negotiation,
    detail_instead_of_the_sentence,
    usage_in_the_final_frame,
    blocks_in_a_header,
    unselected_block_speaks,
    intermediate_text_for_plain_clients,
    unmasked_text_goes_out,
    unmasked_thinking_goes_out,
    history_tells_intermediate_text,
    history_tells_results,
    history_tells_why_it_failed,
    memory_keeps_unmasked_text,
    config_tells_the_version,
    refusal_tells_the_workflow,
)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Plant, check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        plant(patch)
        is_found(check)
