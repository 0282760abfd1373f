"""studio/settings.py as a whole: executed again with other environments, without a process for each."""

import ast
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from agents.providers.registry import KINDS
from credentials import providers

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ROOT / "studio" / "settings.py"
PRODUCTION = {
    "STUDIO_PRODUCTION": "true",
    "STUDIO_SECRET_KEY": "k" * 50,
    "STUDIO_HOSTS": "studio.example.com",
}


def variables_read() -> set[str]:
    """Return the first argument of each call of an `_env_…` function, and what names a built-in provider."""
    return variables_of_providers() | variables_of_settings()


def variables_of_providers() -> set[str]:
    """Return the variables of kinds that can be built."""
    return {name for kind, names in providers._ENVIRONMENT.items() if kind in KINDS for name in names}


def variables_of_settings() -> set[str]:
    return {
        call.args[0].value
        for call in ast.walk(ast.parse(SETTINGS.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id.startswith("_env_")
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def variables_explained() -> list[str]:
    return re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), flags=re.MULTILINE)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that executes the settings with only the given variables set."""

    def run(**env: str) -> dict[str, Any]:
        for name in variables_read():
            monkeypatch.delenv(name, raising=False)
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(SETTINGS))

    return run


def test_it_explains_every_variable_and_no_other() -> None:
    assert set(variables_explained()) == variables_read()


def test_it_gives_each_variable_a_line_of_its_own() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    for number, line in enumerate(lines):
        if re.match(r"#[A-Z_]+=", line):
            assert re.match(r"# \S", lines[number - 1]), line
    assert len(variables_explained()) == len(set(variables_explained()))


def test_it_reads_what_the_studio_file_page_names() -> None:
    page = ROOT / "../shared/spec/studio-file.md"
    if not page.exists():
        pytest.skip("../shared is not beside this checkout")
    table = page.read_text().split("## Environment")[1]
    named = {
        name for row in re.findall(r"^\| (`.+?) \|", table, re.M) for name in re.findall(r"`([A-Z_]+)`", row)
    }
    assert len(named) >= 9
    assert named <= variables_read()


def test_it_states_the_defaults_it_uses(load: Any) -> None:
    settings = load()
    shown = dict(re.findall(r"^#([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), flags=re.M))
    for name in ("STUDIO_HEARTBEAT_SECONDS", "STUDIO_REQUEST_SECONDS", "STUDIO_RUN_LOG_DAYS", "PORT"):
        assert settings[name] == int(shown[name])
    assert settings["ALLOWED_HOSTS"] == shown["STUDIO_HOSTS"].split(",")


def test_it_runs_with_nothing_set(load: Any) -> None:
    settings = load()
    assert settings["DATABASES"]["default"]["ENGINE"] == "django.db.backends.sqlite3"
    assert settings["DEBUG"] is False
    assert len(settings["SECRET_KEY"]) >= 50


@pytest.mark.parametrize("name", sorted(variables_of_settings()))
def test_it_takes_an_empty_variable_for_an_unset_one(load: Any, name: str) -> None:
    load(**{name: ""})


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"PORT": "0"}, "PORT"),
        ({"PORT": "65536"}, "PORT"),
        ({"PORT": "eighty"}, "PORT"),
        ({"STUDIO_HEARTBEAT_SECONDS": "0"}, "STUDIO_HEARTBEAT_SECONDS"),
        ({"STUDIO_REQUEST_SECONDS": "-1"}, "STUDIO_REQUEST_SECONDS"),
        ({"STUDIO_RUN_LOG_DAYS": "1.5"}, "STUDIO_RUN_LOG_DAYS"),
        ({"STUDIO_TRUSTED_PROXIES": "yes"}, "STUDIO_TRUSTED_PROXIES"),
        ({"STUDIO_PRODUCTION": "maybe"}, "STUDIO_PRODUCTION"),
        ({"STUDIO_ALLOWED_NETWORKS": "10.0.0.1/8"}, "STUDIO_ALLOWED_NETWORKS"),
        ({"DATABASE_URL": "mysql://user@host/name"}, "DATABASE_URL"),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL"),
        ({"STUDIO_HOSTS": "*"}, "STUDIO_HOSTS"),
        ({"STUDIO_HOSTS": "https://studio.example.com"}, "STUDIO_HOSTS"),
        ({**PRODUCTION, "STUDIO_SECRET_KEY": ""}, "STUDIO_SECRET_KEY"),
        ({**PRODUCTION, "STUDIO_SECRET_KEY": "short"}, "STUDIO_SECRET_KEY"),
        ({**PRODUCTION, "STUDIO_HOSTS": ""}, "STUDIO_HOSTS"),
    ],
)
def test_it_refuses_a_bad_value_by_name(load: Any, env: dict[str, str], said: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=said):
        load(**env)


def test_it_never_repeats_a_database_password(load: Any) -> None:
    with pytest.raises(ImproperlyConfigured) as caught:
        load(DATABASE_URL="postgres://user:hunter2/x@host/name")
    assert "hunter2" not in str(caught.value)


def test_it_takes_a_dollar_sign_for_what_it_is(load: Any) -> None:
    assert load(STUDIO_SECRET_KEY="$PATH" + "k" * 50)["SECRET_KEY"].startswith("$PATH")


def test_it_is_strict_in_production(load: Any) -> None:
    settings = load(**PRODUCTION, STUDIO_TRUSTED_PROXIES="1")
    assert settings["SESSION_COOKIE_SECURE"]
    assert settings["CSRF_COOKIE_SECURE"]
    assert settings["SECURE_HSTS_SECONDS"] >= 31_536_000
    assert settings["SECURE_SSL_REDIRECT"]
    assert settings["CSRF_TRUSTED_ORIGINS"] == ["https://studio.example.com"]


def test_it_believes_no_proxy_header_unless_told(load: Any) -> None:
    assert load(**PRODUCTION)["SECURE_PROXY_SSL_HEADER"] is None


def test_it_pools_postgres_and_never_ages_connections(load: Any) -> None:
    database = load(DATABASE_URL="postgres://user:word@host/name")["DATABASES"]["default"]
    assert database["CONN_MAX_AGE"] == 0
    assert database["OPTIONS"]["pool"]["max_size"] == 10


def test_it_makes_one_secret_a_data_folder_readable_by_its_owner(load: Any, tmp_path: Path) -> None:
    make = load()["_generated_secret"]
    path = tmp_path / "secret_key"
    first = make(path)
    assert make(path) == first
    assert len(first) >= 50
    assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [path]
