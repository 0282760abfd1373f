"""What is committed speaks of the project alone: of no machine it was written on, and of no registry."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MACHINE = re.compile(r"(?<![\w.~-])/(?:work|root|Users|home/\w+)/(?=\w)")
#: Brackets keep the pattern from matching itself.
REGISTRY = re.compile(
    r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs|npm[m]irror|[-]-(extra-)?index-url|[-]-find-links"
)
LOCKS = ["base", "dev", "postgres", "redis", "node"]


def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def matches(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in tracked():
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}")
    return found


def test_it_names_no_path_of_a_machine() -> None:
    assert matches(MACHINE) == []


def test_it_names_no_package_registry() -> None:
    assert matches(REGISTRY) == []


def test_it_would_find_what_it_looks_for() -> None:
    assert MACHINE.search("see /root" + "/x.txt")
    assert REGISTRY.search("https://pypi" + ".org/simple")


@pytest.mark.parametrize("name", LOCKS)
def test_it_pins_every_package_with_hashes(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert lines
    for line in lines:
        assert re.match(r"[a-z0-9._-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line[:80]


@pytest.mark.parametrize("name", LOCKS)
def test_it_locks_one_version_for_running_and_testing(name: str) -> None:
    def pins(file: str) -> set[str]:
        return set(re.findall(r"^([a-z0-9._-]+==\S+)", (ROOT / "requirements" / file).read_text(), re.M))

    assert pins(f"{name}.txt") <= pins("dev.txt")
