import subprocess
import sys

import pytest

from agents.providers.chat_completions.provider import ChatCompletionsProvider
from agents.providers.demo import DemoProvider
from agents.providers.openai_responses.provider import ResponsesProvider
from agents.providers.registry import UnknownProvider, build_provider


def test_it_builds_providers_by_kind() -> None:
    compatible = build_provider("openai-compat", "local", "http://127.0.0.1:9000/v1", "")
    assert isinstance(compatible, ChatCompletionsProvider)
    assert (compatible.name, compatible.vendor) == ("local", "127.0.0.1:9000")
    assert isinstance(build_provider("demo", "demo", "", ""), DemoProvider)
    assert isinstance(build_provider("openai", "openai", "", "sk"), ResponsesProvider)
    assert build_provider("openai", "openai", "", "sk").vendor == "openai"


@pytest.mark.parametrize(("kind", "url"), [("openai-compat", ""), ("nobody", "http://x"), ("", "")])
def test_what_cannot_be_built_is_said(kind: str, url: str) -> None:
    with pytest.raises(UnknownProvider, match="'local'"):
        build_provider(kind, "local", url, "")


def test_a_key_is_in_no_representation() -> None:
    provider = build_provider("openai-compat", "local", "http://127.0.0.1:9000/v1", "sk-secret")
    assert "sk-secret" not in repr(provider) + repr(vars(provider))


def test_building_imports_no_sdk() -> None:
    script = (
        "import sys; from agents.providers.registry import build_provider; "
        "build_provider('openai-compat', 'a', 'http://127.0.0.1/v1', 'k'); "
        "print([name for name in ('openai', 'httpx2', 'aiohttp', 'genai_prices') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
