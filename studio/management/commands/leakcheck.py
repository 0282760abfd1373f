"""`manage.py leakcheck SLUG`: look whether anything that a chat hides comes out of its public endpoints."""

import logging
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from deployments.models import ChatDeployment
from studio.leakcheck.check import Report, check
from studio.leakcheck.endpoints import TABLE
from workflows.graph import problems


class Command(BaseCommand):
    help = (
        "Play a chat's published workflow under its own policies, with scripted models and marked secrets "
        "instead of real ones, and search every byte of every public endpoint. No provider and no service is "
        "asked. Exit status 1: something came out."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the chat's address, as in /chat/SLUG")

    def handle(self, *args: Any, slug: str, **options: Any) -> None:
        chat = _chat(slug)
        # What the endings do on purpose would fill the log with failures.
        logging.disable(logging.CRITICAL)
        try:
            report = check(chat)
        finally:
            logging.disable(logging.NOTSET)
        if report.leaks:
            for leak in dict.fromkeys(map(str, report.leaks)):
                self.stderr.write(leak)
            raise CommandError(
                f"{len(report.leaks)} leaks in {report.answers} answers of {slug}.", returncode=1
            )
        self.stdout.write(_checked(slug, report))


def _chat(slug: str) -> ChatDeployment:
    chat = ChatDeployment.objects.select_related("workflow__published").filter(slug=slug).first()
    if chat is None:
        raise CommandError(f"There is no chat {slug}.", returncode=2)
    if chat.workflow.published is None:
        raise CommandError(f"The workflow of {slug} is not published: visitors get nothing.", returncode=2)
    if found := problems(chat.workflow.published.graph):
        raise CommandError(f"The published workflow cannot run: {found[0]}", returncode=2)
    return chat


def _checked(slug: str, report: Report) -> str:
    ends = "\n".join(f"  {name}: {end}" for name, end in report.ends.items())
    return (
        f"Nothing hidden came out of {slug}: {report.answers} answers of {len(TABLE) + 1} public endpoints "
        f"and refusals were searched, for plain and negotiated clients, with these endings:\n{ends}"
    )
