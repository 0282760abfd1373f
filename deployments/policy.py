"""Who may do what with a chat. Each rule answers or raises Refused; the order is the caller's, and matters:

chat, origin, shape of the body, rate, access, then what only a visitor with access may learn. So nothing is
disclosed before access and nothing expensive happens before the rate was counted.
"""

import re
from datetime import UTC, datetime, timedelta
from math import ceil

from django.db.models import Sum

from deployments import access
from deployments.models import ChatDeployment
from deployments.origins import Site
from runs import rates
from runs.models import Run
from runs.rates import Rate
from runs.refusals import Refused
from streaming.codes import RefusalCode
from workflows.models import WorkflowVersion

_SLUG = re.compile(r"[-a-zA-Z0-9_]{1,100}")


def find_chat(slug: str) -> tuple[ChatDeployment, WorkflowVersion]:
    """Return the chat and the version its visitors get. Unknown, inactive, unpublished: all alike."""
    chat = None
    if _SLUG.fullmatch(slug):
        # The draft may be large, and is no business of visitors.
        chats = ChatDeployment.objects.select_related("workflow__published").defer("workflow__draft")
        chat = chats.filter(slug=slug, active=True).first()
    if chat is None or chat.workflow.published is None:
        raise Refused(RefusalCode.NOT_FOUND)
    return chat, chat.workflow.published


def check_site(site: Site) -> None:
    if site is Site.FOREIGN:
        raise Refused(RefusalCode.ORIGIN_NOT_ALLOWED)


def check_access(chat: ChatDeployment, grant: str | None) -> None:
    """Let in whoever holds a grant, and everybody where no grant is needed."""
    if not has_access(chat, grant):
        raise Refused(RefusalCode.AUTH_REQUIRED)


def has_access(chat: ChatDeployment, grant: str | None) -> bool:
    return access.is_open(chat) or access.is_granted(chat, grant)


def check_password(chat: ChatDeployment, password: str, address: str, now: datetime) -> None:
    """Compare a password, at most PASSWORDS_PER_MINUTE times a minute for one address."""
    if not access.takes_password(chat):
        raise Refused(RefusalCode.AUTH_REQUIRED)
    rates.count([Rate(f"{chat.scope}:password:{address}", access.PASSWORDS_PER_MINUTE)], now)
    if len(password) > access.MAX_PASSWORD_CHARS or not access.password_matches(chat, password):
        raise Refused(RefusalCode.AUTH_FAILED)


def check_length(chat: ChatDeployment, text: str) -> None:
    if not text.strip():
        raise Refused(RefusalCode.INPUT_EMPTY)
    if len(text) > chat.max_input_chars:
        raise Refused(RefusalCode.INVALID_BODY, f"input has more than {chat.max_input_chars} characters")


def check_budget(chat: ChatDeployment, now: datetime) -> None:
    """Refuse once the chat's runs of this day (UTC) have cost what they may; unknown costs do not count."""
    if chat.budget_day_usd is None:
        return
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    today = Run.objects.filter(chat_id=chat.pk, created_at__gte=midnight)
    if (today.aggregate(spent=Sum("cost"))["spent"] or 0.0) >= chat.budget_day_usd:
        left = midnight + timedelta(days=1) - now
        raise Refused(RefusalCode.BUDGET_EXCEEDED, retry_after=ceil(left.total_seconds()))
