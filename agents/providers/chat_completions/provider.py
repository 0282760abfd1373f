"""The provider of the Chat Completions wire: rendering, the SDK's transport and reading, put together."""

from collections.abc import AsyncGenerator

from agents.conversation import ModelRequest
from agents.providers.base import ProviderEvent
from agents.providers.chat_completions.reader import ChatCompletionsReader
from agents.providers.chat_completions.renderer import render_request, without_refused
from agents.providers.model_call import Place, Wire, call_model
from agents.providers.tool_names import names_of
from agents.providers.vendors import quirks_for


class ChatCompletionsProvider:
    """Whoever answers `POST {base_url}/chat/completions`. An empty key is for servers that want none."""

    def __init__(self, name: str, base_url: str, api_key: str = "") -> None:
        self.name = name
        self._quirks = quirks_for(base_url)
        self.vendor = self._quirks.vendor
        self._place = Place(name, base_url, api_key)

    def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        names = names_of(request)
        body = render_request(request, self._quirks, names)
        reader = ChatCompletionsReader(names, request.model)
        return call_model(self._place, Wire.CHAT_COMPLETIONS, body, reader, without_refused)
