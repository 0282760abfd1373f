"""What the pages say exists, and what they show works."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands

from credentials.declare import Context, Outcome
from streaming.codes import RefusalCode
from studio import studio_file, yaml_text
from tests.studio.test_settings import variables_explained

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def text_of(name: str) -> str:
    return (ROOT / name).read_text()


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(name), flags=re.M | re.S)


@pytest.mark.parametrize("name", NAMES)
def test_it_links_to_files_that_exist(name: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text_of(name)):
        if not target.startswith("http"):
            assert ((ROOT / name).parent / target).exists(), target


@pytest.mark.parametrize("name", NAMES)
def test_it_names_make_targets_and_commands_that_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text_of(name), flags=re.S))
    for target in re.findall(r"\bmake ([a-z-]+)", code):
        assert target in targets, f"make {target}"
    for command in re.findall(r"manage\.py ([a-z_]+)", code):
        assert command in get_commands(), f"manage.py {command}"


@pytest.mark.parametrize("name", NAMES)
def test_it_keeps_lines_readable(name: str) -> None:
    long = [
        line
        for line in text_of(name).splitlines()
        if len(line) > 125 and not line.startswith(("|", "data: "))
    ]
    assert long == []


def test_the_readme_is_one_screen_with_the_two_commands() -> None:
    readme = text_of("README.md")
    assert len(readme.splitlines()) <= 90
    assert readme.index("make run") < readme.index("make test") < readme.index("curl -N")


def test_the_readme_names_every_package() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/apps.py")} | {"agents", "streaming"}
    named = set(re.findall(r"`([a-z]+)/`", text_of("README.md")))
    assert packages - {"studio", "audit"} <= named


def test_the_environment_table_has_every_variable() -> None:
    table = re.findall(r"^\| `([A-Z_]+)` \|", text_of("docs/configuration.md"), flags=re.M)
    assert sorted(table) == sorted(variables_explained())


def yaml_examples() -> list[tuple[str, str]]:
    return [(name, block) for name in NAMES for block in blocks(name, "yaml")]


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "block"), yaml_examples())
def test_the_studio_files_shown_can_be_applied(name: str, block: str) -> None:
    variables = dict.fromkeys(re.findall(r"_env: (\w+)", block), "a value")
    document = yaml_text.read(block.encode())
    made = studio_file.apply(document, Context(env=variables))
    assert made
    assert {change.outcome for change in made} <= {Outcome.CREATED, Outcome.UPDATED}
    again = studio_file.apply(document, Context(env=variables))
    assert {change.outcome for change in again} == {Outcome.UNCHANGED}


# --- The protocol's page ------------------------------------------------------------------------------------

PROTOCOL_PAGE = "docs/agent-events-v1.md"
GOLDEN = ROOT / "tests/streaming/golden/agent-events-v1"
TRANSCRIPTS = re.findall(r"^```sse (\S+)\n(.*?)^```", text_of(PROTOCOL_PAGE), flags=re.M | re.S)


def test_the_protocol_page_shows_transcripts() -> None:
    assert len(TRANSCRIPTS) >= 2


@pytest.mark.parametrize(("name", "shown"), TRANSCRIPTS)
def test_the_protocol_page_shows_what_the_encoder_writes(name: str, shown: str) -> None:
    assert shown.strip() == (GOLDEN / f"{name}.txt").read_text().strip()


def client() -> Callable[[Iterable[bytes]], Any]:
    """Return the reader that the page gives to integrators."""
    names: dict[str, Any] = {}
    exec("\n".join(blocks(PROTOCOL_PAGE, "python")), names)
    read: Callable[[Iterable[bytes]], Any] = names["read"]
    return read


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.chat.*.txt")), ids=lambda path: path.stem)
def test_the_client_shown_reads_every_stream(path: Path) -> None:
    texts, tools, end = client()(path.read_bytes().splitlines())
    assert end["event"] in {"final", "error"}
    assert "running" not in {state for _, state in tools.values()}
    if end["event"] == "final" and end["data"]["success"]:
        for block, output in end["data"]["output"].items():
            assert texts.get(block, "") == output.get("content", texts.get(block, ""))


def test_the_client_shown_settles_tools_of_a_broken_connection() -> None:
    whole = (GOLDEN / "tool-turn-with-reset.chat.negotiated.txt").read_bytes().splitlines()
    starts = [number for number, line in enumerate(whole) if b'"phase":"start"' in line]
    _, tools, end = client()(whole[: starts[0] + 1])
    assert end is None
    assert [state for _, state in tools.values()] == ["error"]


def test_the_tables_name_every_frame_and_refusal() -> None:
    page = text_of(PROTOCOL_PAGE)
    for frame in ("chunk", "chunk_reset", "thinking", "tool", "stream_error", "final", "error"):
        assert f'"{frame}"' in page
    chat = set(RefusalCode) - {RefusalCode.PROTOCOL_REQUIRED, RefusalCode.UNKNOWN_OUTPUT}
    assert [code for code in chat if f"`{code}`" not in page] == []


def test_there_are_studio_files_to_show() -> None:
    assert {"docs/configuration.md", "docs/local-models.md"} <= {name for name, _ in yaml_examples()}
