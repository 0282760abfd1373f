"""`manage.py export`: write what is stored as a studio file, without secrets."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studio import studio_file, yaml_text


class Command(BaseCommand):
    help = "Write a studio file to standard output. It holds no secret, and applying it here changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--chats", nargs="+", metavar="SLUG", default=None, help="only these chats and what they need"
        )

    def handle(self, *args: Any, chats: list[str] | None, **options: Any) -> None:
        document = studio_file.export()
        if chats is not None:
            try:
                document = studio_file.only_chats(document, chats)
            except KeyError as error:
                raise CommandError(f"There is no chat {error}.", returncode=2) from error
        self.stdout.write(yaml_text.write(document), ending="")
