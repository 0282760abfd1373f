"""The servers that whole-stack tests start are the real ones."""

import os
import urllib.error
import urllib.request

import pytest

from tests.conftest import StartServer


@pytest.mark.socket
@pytest.mark.parametrize("server", ["uvicorn", "daphne"])
def test_it_serves_the_application_with_a_migrated_database_of_its_own(
    studio_server: StartServer, server: str
) -> None:
    studio = studio_server(server)

    with urllib.request.urlopen(f"{studio.url}/admin/login/", timeout=10) as page:
        assert page.status == 200
    assert "0 sessions" in studio.manage(
        "shell",
        "-c",
        "from django.contrib.sessions.models import Session as S; print(S.objects.count(), 'sessions')",
    )

    studio.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(studio.pid, 0)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(studio.url, timeout=2)


@pytest.mark.socket
def test_it_is_kept_on_one_worker(request: pytest.FixtureRequest) -> None:
    """Servers measure their seconds: two at once would disturb each other."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith("@servers")
