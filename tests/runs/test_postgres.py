"""The same ledger on a real PostgreSQL: what contends, and what a database may refuse, once more."""

import os
import subprocess
import sys

import pytest

from tests.postgres import Postgres
from tests.servers import ROOT

FILES = ["erasure", "ledger", "races", "supervisor", "writer"]


@pytest.mark.postgres
def test_it_keeps_the_ledger_on_postgres(postgres: Postgres) -> None:
    tests = [f"tests/runs/test_{name}.py" for name in FILES]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": postgres.create("studio")},
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    assert postgres.connections("test_studio") == 0
