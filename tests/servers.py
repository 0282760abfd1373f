"""Real servers for tests: Studio's ASGI application behind uvicorn or daphne, with its own data folder."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: As in `studio.server`: who may be believed for the client's address is decided in one place, by us.
COMMANDS = {
    "uvicorn": [
        *("uvicorn", "studio.asgi:application", "--no-proxy-headers", "--no-access-log"),
        *("--timeout-graceful-shutdown", "2"),
    ],
    "daphne": ["daphne", "studio.asgi:application", "--no-server-name"],
}


def environment(data_dir: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Return what a process of Studio sees: this data folder and nothing of the developer's own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    ours = {"STUDIO_DATA_DIR": str(data_dir), "DATABASE_URL": "", "REDIS_URL": "", "PYTHONUNBUFFERED": "1"}
    return {**kept, "DJANGO_SETTINGS_MODULE": "studio.settings", **ours, **more}


def manage(data_dir: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run `manage.py ARGUMENTS` on a data folder and return what it printed; fails with its words."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        cwd=ROOT,
        env=environment(data_dir, env or {}),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"manage.py {' '.join(arguments)}:\n{done.stdout}{done.stderr}"
    return done.stdout


def copy_data(template: Path, target: Path) -> None:
    """Copy a migrated data folder: much faster than migrating again."""
    shutil.copytree(template, target, dirs_exist_ok=True)


class StudioServer:
    """One serving process. `url` has no slash at its end; `log()` is everything it wrote so far."""

    def __init__(
        self, server: str, data_dir: Path, env: Mapping[str, str], arguments: tuple[str, ...]
    ) -> None:
        self.data_dir = data_dir
        self._env = dict(env)
        self._log = data_dir / f"{server}.log"
        # We listen before the server does, so no port is guessed, and the first request waits for the start.
        with socket.socket() as listener, self._log.open("wb") as log:
            listener.bind(("127.0.0.1", 0))
            listener.listen(512)
            self.host, self.port = listener.getsockname()
            self.url = f"http://{self.host}:{self.port}"
            self.process = subprocess.Popen(
                [sys.executable, "-m", *COMMANDS[server], "--fd", str(listener.fileno()), *arguments],
                cwd=ROOT,
                env=environment(data_dir, {"PORT": str(self.port), **env}),
                pass_fds=[listener.fileno()],
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def wait_ready(self, seconds: float = 30) -> None:
        """Return when it has answered one request, whatever the answer."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        try:
            connection.request("GET", "/health")
            connection.getresponse().read()
        except OSError as error:
            self.stop()
            raise AssertionError(f"The server did not start ({error}):\n{self.log()}") from error
        finally:
            connection.close()

    def manage(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Run `manage.py ARGUMENTS` with this server's data and environment."""
        return manage(self.data_dir, *arguments, env={**self._env, **(env or {})})

    def stop(self, sign: signal.Signals = signal.SIGTERM, seconds: float = 10) -> int:
        """End the process and return its exit status; kill it if it does not go."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
