"""Plans made of what is stored: providers, secrets, and what is missing."""

import logging

import pytest
from asgiref.sync import sync_to_async

from credentials.models import ProviderConnection, Secret
from runs.control import RunControl
from streaming.codes import RunCode
from tests.workflows.doubles import agent, end_of, graph, heard
from workflows.blocks.agent import Answering
from workflows.plan import Plan, build_plan
from workflows.resources import StoredResources

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def answering(plan: Plan, block: str = "a") -> Answering:
    work = plan.works[block]
    assert isinstance(work, Answering)
    return work


def test_it_finds_stored_providers_by_name() -> None:
    ProviderConnection.objects.create(name="local", kind="openai-compat", base_url="http://127.0.0.1:9000/v1")
    value = graph(agent("a", model="local/llama-3/instruct", fallbacks=["demo/demo"]))
    models = answering(build_plan(value, input="Hi")).spec.models
    assert [model.label for model in models] == ["local/llama-3/instruct", "demo/demo"]


def test_it_asks_for_summaries_only_if_thinking_can_reach_somebody() -> None:
    value = graph(agent("a", model="demo/demo"))
    assert not answering(build_plan(value, input="Hi")).spec.summaries
    assert answering(build_plan(value, input="Hi", summaries=True)).spec.summaries


def test_it_gives_secrets_to_the_tools_that_name_them() -> None:
    secret = Secret(name="ORDER_KEY", hosts=["orders.example.com"])
    secret.set_value("s3cret")
    secret.save()
    found = StoredResources(summaries=False).secrets(["ORDER_KEY", "OTHER"])
    assert {name: (one.value, one.hosts) for name, one in found.items()} == {
        "ORDER_KEY": ("s3cret", ("orders.example.com",))
    }
    assert StoredResources(summaries=False).secrets([]) == {}


def test_it_does_without_a_secret_that_cannot_be_read(caplog: pytest.LogCaptureFixture) -> None:
    Secret.objects.create(name="ORDER_KEY", hosts=["orders.example.com"], value_encrypted="nonsense")
    with caplog.at_level(logging.ERROR, "workflows"):
        assert StoredResources(summaries=False).secrets(["ORDER_KEY"]) == {}
    assert "cannot be read" in caplog.text


async def test_a_model_without_a_provider_fails_when_it_is_asked() -> None:
    plan = await _planned(graph(agent("a", model="nowhere/m")))
    end = end_of(await heard(plan, RunControl()))
    assert end.code is RunCode.PROVIDER_AUTH
    assert "nowhere" in end.detail
    assert (end.cost, end.usage.total_tokens) == (0.0, None)


async def test_a_model_without_a_provider_lets_a_fallback_answer() -> None:
    plan = await _planned(graph(agent("a", model="nowhere/m", fallbacks=["demo/demo"])))
    end = end_of(await heard(plan, RunControl()))
    assert end.code is None
    assert end.answer


async def _planned(value: object) -> Plan:
    return await sync_to_async(build_plan)(value, input="Hi")
