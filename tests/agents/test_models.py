import pytest

from agents.models import Capabilities, ThinkingKind, capabilities_of


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("gpt-5-mini", ThinkingKind.SUMMARY),
        ("gpt-5-chat-latest", ThinkingKind.NONE),
        ("o4-mini", ThinkingKind.SUMMARY),
        ("gpt-4o-mini", ThinkingKind.NONE),
        ("openai/gpt-4o", ThinkingKind.NONE),
        ("deepseek-reasoner", ThinkingKind.FULL),
        ("anthropic/claude-sonnet-4", ThinkingKind.FULL),
        ("accounts/fireworks/models/Qwen3-8B", ThinkingKind.FULL),
    ],
)
def test_known_models_say_how_they_think(model: str, thinking: ThinkingKind) -> None:
    found = capabilities_of(model)
    assert found.thinking is thinking
    assert not found.assumed


def test_an_unknown_model_is_assumed_to_think_in_full() -> None:
    assert capabilities_of("my-model") == Capabilities(ThinkingKind.FULL, assumed=True)


def test_what_staff_say_wins_one_by_one() -> None:
    found = capabilities_of("gpt-4o", {"context_window": 8192})
    assert (found.thinking, found.context_window) == (ThinkingKind.NONE, 8192)
    assert capabilities_of("my-model", {"thinking": "none", "tools": False}) == Capabilities(
        ThinkingKind.NONE, False
    )
