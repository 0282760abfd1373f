"""`manage.py apply FILE.yaml`: make what a studio file describes."""

import os
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from credentials.declare import Context, FileError
from studio import studio_file, yaml_text


class Command(BaseCommand):
    help = "Create or update what a studio file names, all of it or nothing. `-` reads standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE.yaml")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done and store nothing")

    def handle(self, *args: Any, file: str, dry_run: bool, **options: Any) -> None:
        try:
            document = yaml_text.read(_bytes(file))
            changes = studio_file.apply(document, Context(env=os.environ), dry_run=dry_run)
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}", returncode=2) from error
        except FileError as error:
            raise CommandError(str(error), returncode=2) from error
        for change in changes:
            self.stdout.write(str(change))
        if dry_run:
            self.stdout.write("Nothing was stored: this was a dry run.")


def _bytes(file: str) -> bytes:
    """Read at most one byte more than a file may have: enough to refuse it."""
    if file == "-":
        return sys.stdin.buffer.read(yaml_text.MAX_BYTES + 1)
    with Path(file).open("rb") as source:
        return source.read(yaml_text.MAX_BYTES + 1)
