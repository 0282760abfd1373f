"""What the admin's first page says of the last days: tiles, charts, what needs attention. Queries only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, FloatField, IntegerField, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, TruncDate
from django.urls import reverse
from django.utils import timezone

from deployments.models import ChatDeployment
from runs import wording
from runs.models import ACTIVE, Run, Status
from studio import charts

DAYS = 14
USUAL_DAYS = 7
#: Percentiles are taken from the newest runs of the days shown, so that the page stays quick.
SAMPLE = 10_000


@dataclass(frozen=True)
class Tile:
    label: str
    value: str
    note: str


@dataclass(frozen=True)
class Day:
    day: date
    runs: int
    failed: int
    tokens: int
    cost: float


def tiles(now: datetime) -> list[Tile]:
    """Today beside the mean of the same hours of the last seven days."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = _totals(Run.objects.filter(created_at__gte=midnight, created_at__lte=now))
    spans = Q()
    for back in range(1, USUAL_DAYS + 1):
        shift = timedelta(days=back)
        spans |= Q(created_at__gte=midnight - shift, created_at__lte=now - shift)
    usual = _totals(Run.objects.filter(spans))
    return [
        _tile("Runs today", "runs", today, usual),
        _tile("Failures today", "failed", today, usual),
        _tile("Tokens today", "tokens", today, usual),
        Tile("Cost today", wording.money(today["cost"]), _cost_note(today)),
    ]


def _tile(label: str, key: str, today: dict[str, float], usual: dict[str, float]) -> Tile:
    return Tile(label, wording.count(today[key]), wording.compared(today[key], usual[key] / USUAL_DAYS))


def _cost_note(today: dict[str, float]) -> str:
    unknown = round(today["unpriced"])
    runs = "run" if unknown == 1 else "runs"
    return f"without {unknown} {runs} whose price is not known" if unknown else "all prices known"


def _tokens() -> Cast:
    return Cast(KeyTextTransform("total_tokens", "usage"), IntegerField())


def _totals(runs: QuerySet[Run]) -> dict[str, float]:
    found = runs.aggregate(
        runs=Count("id"),
        failed=Count("id", filter=Q(status=Status.FAILED)),
        tokens=Coalesce(Sum(_tokens()), 0),
        # Before `cost`, which after that means the sum.
        unpriced=Count("id", filter=Q(cost__isnull=True, rounds__gt=0)),
        cost=Coalesce(Sum("cost"), 0.0, output_field=FloatField()),
    )
    return {key: float(value) for key, value in found.items()}


def days(now: datetime) -> list[Day]:
    """The last fourteen days, today last, days without runs included."""
    first = (now - timedelta(days=DAYS - 1)).date()
    rows = (
        Run.objects.filter(created_at__date__gte=first)
        .annotate(day=TruncDate("created_at"))
        .values("day")
        .annotate(
            runs=Count("id"),
            failed=Count("id", filter=Q(status=Status.FAILED)),
            tokens=Coalesce(Sum(_tokens()), 0),
            total=Coalesce(Sum("cost"), 0.0, output_field=FloatField()),
        )
        .order_by("day")
    )
    found = {
        row["day"]: Day(row["day"], row["runs"], row["failed"], row["tokens"], row["total"]) for row in rows
    }
    every = [first + timedelta(days=back) for back in range(DAYS)]
    return [found.get(day, Day(day, 0, 0, 0, 0.0)) for day in every]


def run_chart(found: Sequence[Day]) -> charts.Bars:
    runs, failed = sum(day.runs for day in found), sum(day.failed for day in found)
    return charts.bar_chart(
        f"Runs a day over {DAYS} days: {runs} in all, {failed} failed.",
        _labels(found),
        [day.runs for day in found],
        [day.failed for day in found],
        say=wording.count,
        header=("Day", "Runs", "Failed"),
    )


def cost_chart(found: Sequence[Day]) -> charts.Bars:
    total = wording.money(sum(day.cost for day in found))
    return charts.bar_chart(
        f"Cost a day over {DAYS} days: {total} in all.",
        _labels(found),
        [day.cost for day in found],
        [0] * len(found),
        say=wording.money,
        header=("Day", "Cost"),
    )


def duration_chart(found: Sequence[Day]) -> charts.Lines:
    """Half of a day's runs were quicker than p50, 95 in 100 quicker than p95."""
    first = found[0].day
    rows = (
        Run.objects.filter(created_at__date__gte=first, started_at__isnull=False, finished_at__isnull=False)
        .order_by("-created_at")
        .values_list("started_at", "finished_at")[:SAMPLE]
    )
    seconds: dict[date, list[float]] = {}
    for started, finished in rows:
        if started is not None and finished is not None:
            seconds.setdefault(started.date(), []).append((finished - started).total_seconds())
    halves = [_percentile(seconds.get(day.day, []), 0.5) for day in found]
    most = [_percentile(seconds.get(day.day, []), 0.95) for day in found]
    return charts.line_chart(
        f"How long runs took over {DAYS} days, p50 and p95.",
        _labels(found),
        [("p50", halves), ("p95", most)],
        say=wording.duration,
        header=("Day", "p50", "p95"),
    )


def _percentile(values: list[float], part: float) -> float | None:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else None


def _labels(found: Sequence[Day]) -> list[str]:
    return [f"{day.day.day} {day.day:%b}" for day in found]


def last_failures() -> QuerySet[Run]:
    return Run.objects.filter(status=Status.FAILED).order_by("-created_at")[:10]


def live_runs() -> QuerySet[Run]:
    return Run.objects.filter(status__in=ACTIVE, lease_until__gt=timezone.now()).order_by("created_at")[:20]


@dataclass(frozen=True)
class Attention:
    """Something a person should look at, and where."""

    text: str
    url: str


def attention(now: datetime) -> list[Attention]:
    """Providers that failed within a day, chats behind their draft, chats nobody can use."""
    return [*_failing(now), *_chats()]


def _failing(now: datetime) -> list[Attention]:
    runs = Run.objects.filter(
        created_at__gte=now - timedelta(days=1), status=Status.FAILED, code__startswith="PROVIDER_"
    )
    rows = runs.values("workflow_slug", "code").annotate(times=Count("id")).order_by("-times")[:5]
    url = reverse("admin:runs_run_changelist")
    return [
        Attention(
            f"{row['workflow_slug']}: {row['code']}, {row['times']} in 24 hours",
            f"{url}?code={row['code']}&workflow_slug={row['workflow_slug']}",
        )
        for row in rows
    ]


def _chats() -> list[Attention]:
    found = []
    for chat in ChatDeployment.objects.filter(active=True).select_related("workflow__published"):
        version = chat.workflow.published
        url = reverse("admin:deployments_chatdeployment_change", args=[chat.pk])
        if version is None:
            found.append(
                Attention(f"{chat.title}: its workflow is not published, so visitors cannot use it", url)
            )
        elif version.graph != chat.workflow.draft:
            found.append(Attention(f"{chat.title} runs version {version.number}; the draft is ahead", url))
    return found
