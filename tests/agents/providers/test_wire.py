"""Short bodies of our own, one for each way of saying the same. What is in it stands beside each."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.providers.base import Reader
from agents.providers.chat_completions.reader import ChatCompletionsReader
from agents.providers.openai_responses.reader import ResponsesReader
from tests.agents.providers.reading import read, read_whole, single_bytes
from tests.agents.providers.recordings import Recording, check_end, numbers

FOLDER = Path(__file__).parent / "wire"

READERS: dict[str, Callable[[], Reader]] = {
    "chat_completions": ChatCompletionsReader,
    "openai_responses": ResponsesReader,
}

BODIES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*.sse"))


@pytest.mark.parametrize("name", BODIES)
def test_it_reads_a_body_as_written_beside_it(name: str) -> None:
    path = FOLDER / name
    expected = Recording(name, json.loads(path.with_suffix(".json").read_text()), path.read_bytes())
    make = READERS[path.parent.name]
    said = read_whole(make, expected.body)
    assert said.text == expected.text
    assert said.thinking == expected.thinking
    assert said.calls == expected.expect["tool_calls"]
    assert numbers(said) == expected.expect["usage"]
    check_end(said, expected)
    assert read(make(), single_bytes(expected.body)) == read(make(), [expected.body])
