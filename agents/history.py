"""The conversation of a run as the next model call gets it: fit for its vendor, every call answered once."""

from collections.abc import Sequence

import msgspec

from agents.conversation import AssistantMessage, Message, ModelRequest, ToolMessage, UserMessage
from agents.spec import AgentSpec, ModelChoice
from streaming.events import PromptSize


class History:
    """Begins with the messages given and grows by whole tool turns."""

    def __init__(self, spec: AgentSpec, messages: Sequence[Message]) -> None:
        self._spec = spec
        self._messages = list(messages)
        self._tools = tuple(tool.spec for tool in spec.tools)
        self._tools_chars = len(msgspec.json.encode(self._tools)) if self._tools else 0
        #: Ids of calls that a later call must not repeat.
        self.call_ids = {
            call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls
        }

    def add(self, turn: AssistantMessage, results: Sequence[ToolMessage]) -> None:
        """A tool turn and its results, in call order."""
        self._messages += [turn, *results]

    def size(self) -> PromptSize:
        return PromptSize(
            system_chars=len(self._spec.instructions),
            tools_chars=self._tools_chars,
            history_chars=sum(map(_characters, self._messages)),
            message_count=len(self._messages),
        )

    def request(self, choice: ModelChoice) -> ModelRequest:
        spec = self._spec
        return ModelRequest(
            model=choice.model,
            messages=[_for_vendor(message, choice.provider.vendor) for message in self._messages],
            instructions=spec.instructions,
            tools=self._tools,
            thinking=spec.thinking,
            summaries=spec.summaries,
            temperature=spec.temperature,
            max_output_tokens=spec.max_output_tokens,
            response_schema=spec.response_schema,
        )


def _for_vendor(message: Message, vendor: str) -> Message:
    """Opaque parts go back only to the vendor they came from; another one would refuse the request."""
    if isinstance(message, AssistantMessage) and message.replay and message.vendor != vendor:
        return msgspec.structs.replace(message, replay=())
    return message


def _characters(message: Message) -> int:
    match message:
        case AssistantMessage(text=text, calls=calls):
            return len(text) + sum(len(call.name) + len(call.arguments) for call in calls)
        case UserMessage(text=text) | ToolMessage(text=text):
            return len(text)
