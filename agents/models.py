"""What a model can do, as far as something is said from it: its thinking and its context window.

Known models are rows; staff may say otherwise in a connection. An unknown model is assumed to think in full,
because whatever a server exposes can be shown, and to have a window nobody knows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ThinkingKind(StrEnum):
    """What of its thinking a model exposes."""

    FULL = "full"
    SUMMARY = "summary"
    NONE = "none"


@dataclass(frozen=True)
class Capabilities:
    """`context_window` in tokens, None if unknown. `assumed` is true if nothing is known of the model."""

    thinking: ThinkingKind
    tools: bool = True
    context_window: int | None = None
    assumed: bool = False


_FULL, _SUMMARY, _NONE = ThinkingKind.FULL, ThinkingKind.SUMMARY, ThinkingKind.NONE

#: The end of a model's name, gateways' prefixes left out. The first row that fits counts.
_ROWS: tuple[tuple[str, Capabilities], ...] = (
    (r"gpt-5[\w.-]*chat", Capabilities(_NONE, context_window=128_000)),
    (r"gpt-5|gpt-6|codex", Capabilities(_SUMMARY, context_window=400_000)),
    (r"o[134](-|$)", Capabilities(_SUMMARY, context_window=200_000)),
    (r"gpt-oss", Capabilities(_FULL, context_window=131_072)),
    (r"gpt-4\.1", Capabilities(_NONE, context_window=1_047_576)),
    (r"gpt-4o|chatgpt-4o|gpt-4-turbo", Capabilities(_NONE, context_window=128_000)),
    (r"gpt-3\.5", Capabilities(_NONE, context_window=16_385)),
    (r"deepseek-reasoner|deepseek-r1|deepseek-v4", Capabilities(_FULL, context_window=128_000)),
    (r"deepseek", Capabilities(_FULL, context_window=128_000)),
    (r"magistral", Capabilities(_FULL, context_window=128_000)),
    (r"mistral|codestral|ministral", Capabilities(_NONE, context_window=128_000)),
    (r"kimi|qwen3|qwq|glm-4\.[5-9]|glm-5|minimax-m", Capabilities(_FULL)),
    (r"llama-?[23]|gemma|phi-", Capabilities(_NONE)),
    (r"claude-(opus|sonnet|haiku)-[4-9]|claude-3-7", Capabilities(_FULL, context_window=200_000)),
    (r"claude-3", Capabilities(_NONE, context_window=200_000)),
    (r"gemini-(2\.5|[3-9])", Capabilities(_SUMMARY, context_window=1_048_576)),
    (r"gemini", Capabilities(_NONE, context_window=1_048_576)),
)
_COMPILED = tuple((re.compile(pattern), capabilities) for pattern, capabilities in _ROWS)
_UNKNOWN = Capabilities(_FULL, assumed=True)


def capabilities_of(model: str, override: Mapping[str, Any] | None = None) -> Capabilities:
    """Return what a model can do. `override` is its row of a connection: its words win, one by one."""
    base = model.lower().rpartition("/")[2]
    known = next((found for pattern, found in _COMPILED if pattern.match(base)), _UNKNOWN)
    if not override:
        return known
    return Capabilities(
        thinking=ThinkingKind(override.get("thinking", known.thinking)),
        tools=override.get("tools", known.tools),
        context_window=override.get("context_window", known.context_window),
        assumed=False,
    )
