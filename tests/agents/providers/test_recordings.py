"""What providers really sent, read as the manifest says, however it is cut."""

from collections.abc import Callable

import pytest

from agents.providers.base import Reader, ResponseFailed
from agents.providers.chat_completions.reader import ChatCompletionsReader
from agents.providers.openai_responses.reader import ResponsesReader
from tests.agents.providers.reading import outcome, random_cuts, read, read_whole, single_bytes
from tests.agents.providers.recordings import ABSENT, check_end, names, numbers, recording

pytestmark = [pytest.mark.recordings, ABSENT]

READERS: dict[str, Callable[[], Reader]] = {
    **dict.fromkeys(names("openai-chat", "openai-compat"), ChatCompletionsReader),
    **dict.fromkeys(names("openai-responses"), ResponsesReader),
}

#: Larger ones are cut at random only.
SMALL_BYTES = 8_000


@pytest.mark.parametrize("name", READERS)
def test_it_reads_a_recording_as_the_manifest_says(name: str) -> None:
    recorded = recording(name)
    said = read_whole(READERS[name], recorded.body)
    assert said.text == recorded.text
    assert said.thinking == recorded.thinking
    assert said.calls == recorded.expect["tool_calls"]
    assert numbers(said) == recorded.expect["usage"]
    check_end(said, recorded)


@pytest.mark.parametrize("name", READERS)
def test_it_reads_the_same_however_a_recording_is_cut(name: str) -> None:
    body = recording(name).body
    whole = read(READERS[name](), [body])
    for seed in range(3):
        assert read(READERS[name](), random_cuts(body, seed)) == whole
    if len(body) <= SMALL_BYTES:
        assert read(READERS[name](), single_bytes(body)) == whole


@pytest.mark.parametrize("name", READERS)
def test_it_never_takes_a_cut_off_recording_for_a_whole_one(name: str) -> None:
    """Up to the last finish reason or end marker, whatever was cut off, no call of the turn may run."""
    body = recording(name).body
    first_end = min((at for word in END_WORDS if (at := body.find(word)) >= 0), default=len(body))
    for at in range(0, first_end, max(1, first_end // 25)):
        end = outcome(read(READERS[name](), [body[:at]])).ends[0]
        assert isinstance(end, ResponseFailed) or not end.closed


#: What can close a turn on these wires; the first of them is the earliest a turn can be closed.
END_WORDS = (
    b'"finish_reason":"',
    b'"finish_reason": "',
    b"[DONE]",
    b"response.completed",
    b"response.incomplete",
)
