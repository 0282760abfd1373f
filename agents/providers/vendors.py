"""Who speaks Chat Completions, and how each differs: one row a vendor. To add one, add a row."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from urllib.parse import urlsplit

from agents.providers.history import COMMON_IDS


class ThinkingStyle(Enum):
    """How a vendor is told how much to think."""

    #: It is not told.
    NONE = auto()
    #: `reasoning_effort: low|medium|high`.
    EFFORT = auto()
    #: The same, and `none` turns it off.
    EFFORT_OR_NONE = auto()
    #: `reasoning: {effort}` or `{enabled: false}`.
    REASONING = auto()
    #: `thinking: {type: enabled|disabled}`.
    SWITCH = auto()
    #: `enable_thinking: true|false`.
    ENABLE = auto()


class ReasoningBack(Enum):
    """Whether a vendor wants its reasoning back while its tools run; others may refuse a request with it."""

    NO = auto()
    #: As text, in `reasoning_content`.
    TEXT = auto()
    #: As `reasoning_details`, untouched.
    DETAILS = auto()
    #: As thinking parts of a content list.
    PARTS = auto()


class Structured(Enum):
    """How a vendor is asked for JSON of a schema."""

    SCHEMA = auto()
    #: It knows JSON only; the schema goes into the instructions.
    OBJECT = auto()


@dataclass(frozen=True)
class Quirks:
    """`vendor` names whose replay parts these are. Defaults fit an unknown server."""

    vendor: str
    max_tokens: str = "max_tokens"
    thinking: ThinkingStyle = ThinkingStyle.NONE
    #: Models that can be told; None: all of them.
    thinking_models: re.Pattern[str] | None = None
    reasoning_back: ReasoningBack = ReasoningBack.NO
    structured: Structured = Structured.SCHEMA
    call_ids: re.Pattern[str] = COMMON_IDS


_OPENAI_THINKS = re.compile(r"(o\d|gpt-5|gpt-6|codex)(?!.*chat-latest)")
_EFFORT, _OR_NONE = ThinkingStyle.EFFORT, ThinkingStyle.EFFORT_OR_NONE
_SWITCH, _ENABLE, _REASONING = ThinkingStyle.SWITCH, ThinkingStyle.ENABLE, ThinkingStyle.REASONING
_TEXT, _DETAILS, _PARTS = ReasoningBack.TEXT, ReasoningBack.DETAILS, ReasoningBack.PARTS
_OBJECT = Structured.OBJECT

_AZURE = Quirks("azure", max_tokens="max_completion_tokens", thinking=_EFFORT)
_MOONSHOT = Quirks("moonshot", thinking=_SWITCH, reasoning_back=_TEXT)
_ZAI = Quirks("zai", thinking=_SWITCH, reasoning_back=_TEXT, structured=_OBJECT)
_ALIBABA = Quirks("alibaba", thinking=_ENABLE, structured=_OBJECT)
_TOGETHER = Quirks("together", thinking=_EFFORT, thinking_models=re.compile(".*gpt-oss"))

#: The end of a host's name → its quirks.
BY_HOST: dict[str, Quirks] = {
    "api.openai.com": Quirks(
        "openai", max_tokens="max_completion_tokens", thinking=_EFFORT, thinking_models=_OPENAI_THINKS
    ),
    "openai.azure.com": _AZURE,
    "cognitiveservices.azure.com": _AZURE,
    "services.ai.azure.com": _AZURE,
    "api.deepseek.com": Quirks("deepseek", thinking=_SWITCH, reasoning_back=_TEXT, structured=_OBJECT),
    "api.groq.com": Quirks("groq", thinking=_EFFORT, thinking_models=re.compile(".*gpt-oss")),
    "openrouter.ai": Quirks("openrouter", thinking=_REASONING, reasoning_back=_DETAILS),
    "ai-gateway.vercel.sh": Quirks("vercel-gateway", thinking=_REASONING, reasoning_back=_DETAILS),
    "api.mistral.ai": Quirks("mistral", reasoning_back=_PARTS, call_ids=re.compile("[a-zA-Z0-9]{9}")),
    "api.x.ai": Quirks("xai", thinking=_EFFORT, thinking_models=re.compile("grok-3-mini")),
    "api.moonshot.ai": _MOONSHOT,
    "api.moonshot.cn": _MOONSHOT,
    "aliyuncs.com": _ALIBABA,
    "api.together.xyz": _TOGETHER,
    "api.together.ai": _TOGETHER,
    "api.fireworks.ai": Quirks("fireworks", thinking=_EFFORT, reasoning_back=_TEXT),
    "api.cerebras.ai": Quirks("cerebras", thinking=_EFFORT, thinking_models=re.compile(".*gpt-oss")),
    "api.perplexity.ai": Quirks("perplexity"),
    "api.z.ai": _ZAI,
    "bigmodel.cn": _ZAI,
    "generativelanguage.googleapis.com": Quirks(
        "gemini-openai", thinking=_EFFORT, thinking_models=re.compile(r".*gemini-(2\.5|[3-9])")
    ),
    "router.huggingface.co": Quirks("huggingface"),
    "api.minimax.io": Quirks("minimax", reasoning_back=_DETAILS),
}

#: Local servers have no name, but habits.
BY_PORT: dict[int, Quirks] = {
    11434: Quirks("ollama", thinking=_OR_NONE),
    1234: Quirks("lmstudio", thinking=_EFFORT),
}


def quirks_for(base_url: str) -> Quirks:
    """Return the row of an address; an unknown server is a vendor of its own, by its name and port."""
    parts = urlsplit(base_url)
    host = (parts.hostname or "").lower()
    for ending, quirks in BY_HOST.items():
        if host == ending or host.endswith("." + ending):
            return quirks
    if parts.port in BY_PORT:
        return BY_PORT[parts.port]
    return Quirks(parts.netloc.rpartition("@")[2].lower())
