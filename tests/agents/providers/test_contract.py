"""One script, told over every wire: whatever a wire looks like, the loop hears the same."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.providers.base import ProviderEvent, Reader, ResponseEnded, TurnStop
from agents.providers.chat_completions.reader import ChatCompletionsReader
from agents.providers.openai_responses.reader import ResponsesReader
from streaming.events import Usage
from tests.agents.providers.reading import outcome, read
from tests.providers_server import chunk, sse

#: (kind, text) or ("call", id, name, arguments in pieces)
Script = list[tuple[Any, ...]]

SCRIPTS: dict[str, Script] = {
    "text": [("text", "Hel"), ("text", "lo")],
    "thinking": [("thinking", "hm"), ("thinking", " so"), ("text", "42")],
    "call": [("text", "I look."), ("call", "c1", "find", ['{"q":', '"x"}'])],
    "calls": [
        ("call", "c1", "find", ['{"q":"x"}']),
        ("call", "c2", "find", []),
        ("call", "c3", "add", ["{", "}"]),
    ],
    "refusal": [("refusal", "I can"), ("refusal", "not.")],
    "characters": [("text", "漢\u2028字"), ("text", "😀"), ("text", "[DONE]\n\n")],
    "nothing": [],
}


def chat_completions(script: Script) -> bytes:
    documents: list[Any] = []
    keys = {"text": "content", "thinking": "reasoning_content", "refusal": "refusal"}
    calls = 0
    for kind, *more in script:
        if kind != "call":
            documents.append(chunk({keys[kind]: more[0]}))
            continue
        id, name, fragments = more
        head = {"index": calls, "id": id, "function": {"name": name, "arguments": ""}}
        documents.append(chunk({"tool_calls": [head]}))
        for fragment in fragments:
            documents.append(chunk({"tool_calls": [{"index": calls, "function": {"arguments": fragment}}]}))
        calls += 1
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return sse(*documents, chunk(finish="tool_calls" if calls else "stop", usage=usage))


def openai_responses(script: Script) -> bytes:
    kinds = {"text": "output_text", "thinking": "reasoning_summary_text", "refusal": "refusal"}
    documents: list[Any] = []
    for place, (kind, *more) in enumerate(script):
        if kind != "call":
            # A run of deltas is one part.
            first = next(at for at, step in enumerate(script) if step[0] == kind)
            documents.append(
                {"type": f"response.{kinds[kind]}.delta", "output_index": first, "delta": more[0]}
            )
            continue
        id, name, fragments = more
        item = {"type": "function_call", "call_id": id, "name": name, "arguments": ""}
        documents.append({"type": "response.output_item.added", "output_index": place, "item": item})
        for fragment in fragments:
            kind = "response.function_call_arguments.delta"
            documents.append({"type": kind, "output_index": place, "delta": fragment})
        whole = {**item, "arguments": "".join(fragments)}
        documents.append({"type": "response.output_item.done", "output_index": place, "item": whole})
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    response = {"status": "completed", "model": "test-model", "usage": usage}
    return sse(*documents, {"type": "response.completed", "response": response}, done=False)


WIRES: dict[str, tuple[Callable[[Script], bytes], Callable[[], Reader]]] = {
    "chat_completions": (chat_completions, ChatCompletionsReader),
    "openai_responses": (openai_responses, ResponsesReader),
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_tells_a_script_alike(wire: str, script: str) -> None:
    told = SCRIPTS[script]
    render, make = WIRES[wire]
    said = outcome(read(make(), [render(told)]))
    assert said.text == "".join(step[1] for step in told if step[0] in ("text", "refusal"))
    assert said.thinking == "".join(step[1] for step in told if step[0] == "thinking")
    assert said.calls == [
        {"id": step[1], "name": step[2], "arguments": "".join(step[3])} for step in told if step[0] == "call"
    ]
    assert said.ended.usage == Usage(3, 4, 7)
    assert said.ended.stop is (TurnStop.TOOL_CALLS if said.calls else TurnStop.STOP)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_events_are_the_same_one_by_one(script: str) -> None:
    def events(wire: str) -> list[ProviderEvent]:
        render, make = WIRES[wire]
        return [
            event for event in read(make(), [render(SCRIPTS[script])]) if not isinstance(event, ResponseEnded)
        ]

    assert events("chat_completions") == events("openai_responses")
