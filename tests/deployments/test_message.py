"""The main job over HTTP: a message in, an answer streamed under the chat's policies, the ledger's row behind it."""

import pytest

from deployments.models import ChatDeployment
from runs.models import Run, Status
from tests.deployments.conftest import MakeChat
from tests.deployments.wire import Visitor
from tests.providers_server import ProviderServer, chunk, sse, text_reply, tool_reply, Reply


async def test_a_negotiated_client_gets_each_delta_as_it_comes(provider, visit, chat) -> None:
    provider.reply(text_reply("Hel", "lo", " there."))
    visitor = visit("support")
    answer = await visitor.say("Hi")
    assert answer.status == 200
    print(answer.headers)
    print(answer.raw.decode())
