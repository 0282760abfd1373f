"""What blocks need of the database and the settings, fetched while a plan is made."""

import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from django.conf import settings

from agents.addresses import AddressPolicy
from agents.conversation import ModelRequest
from agents.errors import ProviderError
from agents.http_client import HttpClient
from agents.providers.base import ProviderEvent
from agents.secrets import Secret
from agents.spec import ModelChoice
from credentials.crypto import CredentialError
from credentials.providers import load_secrets, resolve
from streaming.codes import RunCode
from workflows.blocks.base import Resources

logger = logging.getLogger("workflows")


class StoredResources:
    """Queries: not for an event loop. `summaries`: thinking can reach somebody."""

    def __init__(self, *, summaries: bool) -> None:
        self.summaries = summaries
        self.http = HttpClient(AddressPolicy(settings.STUDIO_ALLOWED_NETWORKS))

    def model(self, name: str) -> ModelChoice:
        """One that cannot be had fails when it is asked: a fallback may answer, and the ledger says why."""
        try:
            return resolve(name)
        except CredentialError as error:
            provider, _, model = name.partition("/")
            return ModelChoice(UnavailableProvider(provider, str(error)), model)

    def secrets(self, names: Sequence[str]) -> Mapping[str, Secret]:
        """A secret that cannot be had is missing: the request that wants it fails, and says so."""
        if not names:
            return {}
        try:
            return load_secrets(names)
        except CredentialError:
            logger.exception("Secrets of a workflow cannot be read.")
            return {}


class UnavailableProvider:
    """Stands for a provider that does not exist, or whose key cannot be read."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.vendor = ""
        self._reason = reason

    async def stream(self, request: ModelRequest) -> AsyncGenerator[list[ProviderEvent], None]:
        raise ProviderError(RunCode.PROVIDER_AUTH, self._reason, provider=self.name)
        yield []  # what makes this a generator


def _stored(summaries: bool) -> Resources:
    return StoredResources(summaries=summaries)


_make: Callable[[bool], Resources] = _stored


def resources_of_process(*, summaries: bool) -> Resources:
    """Where plans get what they need, unless somebody put something else in its place."""
    return _make(summaries)


@contextmanager
def instead(make: Callable[[bool], Resources]) -> Iterator[None]:
    """Within this every plan of the process is made of what `make` gives (of `summaries`): for a process that
    checks and serves nobody.
    """
    global _make
    before, _make = _make, make
    try:
        yield
    finally:
        _make = before
