"""`manage.py serve`: one serving process on a port. `make run` adds `--prepare`."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio import first_start, server


class Command(BaseCommand):
    help = "Serve Studio with uvicorn until Ctrl-C or SIGTERM; answers under way may end first."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=settings.PORT, help="default: $PORT, else 8000")
        parser.add_argument(
            "--prepare", action="store_true", help="migrate, and make an admin and a demo on the first start"
        )

    def handle(self, *args: Any, host: str, port: int, prepare: bool, **options: Any) -> None:
        try:
            listener = server.listen(host, port)
        except server.PortBusy:
            raise CommandError(
                f"Port {port} is in use by another program. Stop it, or choose another port, for example "
                f"PORT={port + 1} make run"
            ) from None
        except OSError as error:
            raise CommandError(f"Cannot listen on {host}:{port}: {error.strerror}.") from error
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        with listener:
            lines = _prepare(address) if prepare else []
            server.serve(listener, ready=lambda: self._say([f"Studio is ready at {address}", *lines]))

    def _say(self, lines: list[str]) -> None:
        self.stdout.write("\n".join(lines))
        self.stdout.flush()


def _prepare(address: str) -> list[str]:
    """Bring the database up to date and return what its owner should know."""
    call_command("migrate", verbosity=0)
    password = first_start.prepare()
    account = f"   name: {first_start.ADMIN}   password, shown this once: {password}" if password else ""
    lines = [f"Admin: {address}/admin/{account}"]
    if slug := first_start.a_chat():
        lines.append(f"Chat:  {address}/chat/{slug}")
    return lines
