"""The one ledger of every surface: runs, their private trace, conversations, and the windows of rate limits.

The run's row is the truth: whoever wins its compare-and-set decides how it ended. It names what it ran by
value, not by foreign key, so that the ledger outlives a deleted workflow, chat, key or agent.
"""

import secrets

from django.db import models
from django.db.models import Q
from django.utils import timezone

from streaming.events import RunStatus


def new_id(prefix: str) -> str:
    """128 random bits as `prefix_…` (hex). An id alone never gives access, and it cannot be guessed."""
    return f"{prefix}_{secrets.token_hex(16)}"


def new_run_id() -> str:
    return new_id("run")


def new_conversation_id() -> str:
    return new_id("conv")


def new_message_id() -> str:
    return new_id("msg")


class Surface(models.TextChoices):
    CHAT = "chat", "Chat"
    API = "api", "Workflow API"
    BUILDER = "builder", "Builder"
    AGENT = "agent", "Agent runtime"
    PREVIEW = "preview", "Preview"


class Status(models.TextChoices):
    QUEUED = RunStatus.QUEUED.value, "Queued"
    RUNNING = RunStatus.RUNNING.value, "Running"
    COMPLETED = RunStatus.COMPLETED.value, "Done"
    FAILED = RunStatus.FAILED.value, "Failed"
    CANCELLED = RunStatus.CANCELLED.value, "Stopped"


ACTIVE = (Status.QUEUED, Status.RUNNING)


class Conversation(models.Model):
    """Messages under one owner. `scope` is `chat:<id>`, `key:<id>` or `agent:<id>`; `owner` tells whose it is
    within it: the hash of a visitor token, or empty. It is found by all three, never by its id alone."""

    id = models.CharField(primary_key=True, max_length=64, default=new_conversation_id)
    scope = models.CharField(max_length=80)
    owner = models.CharField(max_length=64, blank=True)
    name = models.CharField(max_length=200, blank=True)
    title = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["scope", "owner", "id"])]
        constraints = [
            models.UniqueConstraint(
                fields=["scope", "owner", "name"], condition=~Q(name=""), name="one_conversation_a_name"
            )
        ]

    def __str__(self) -> str:
        return self.id


class Run(models.Model):
    """One execution. `executionId` and `run_id` on the wires are its id."""

    id = models.CharField(primary_key=True, max_length=64, default=new_run_id)
    surface = models.CharField(max_length=10, choices=Surface)
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    code = models.CharField(max_length=40, blank=True, help_text="Why it did not complete.")
    detail = models.TextField(blank=True, help_text="The literal reason; private.")
    attempt = models.PositiveIntegerField(default=1)
    lease_until = models.DateTimeField(help_text="Nobody renews it: the run is orphaned.")
    cancel_requested = models.BooleanField(default=False)

    workflow_id = models.UUIDField(null=True, blank=True)
    workflow_slug = models.CharField(max_length=100, blank=True)
    workflow_version = models.PositiveIntegerField(null=True, blank=True)
    chat_id = models.UUIDField(null=True, blank=True)
    chat_slug = models.CharField(max_length=100, blank=True)
    credential_id = models.CharField(max_length=64, blank=True, help_text="API key or runtime token.")
    visitor = models.CharField(max_length=64, blank=True, help_text="Hash of the visitor token.")
    address = models.CharField(max_length=64, blank=True, help_text="Keyed hash of the client's network.")
    conversation = models.ForeignKey(
        Conversation, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )

    policy = models.JSONField(default=dict, help_text="What was read at admission.")
    input = models.JSONField(default=dict)
    output = models.JSONField(default=dict, help_text="Whole outputs by block, masked.")
    terminal_blocks = models.JSONField(default=list, help_text="Blocks without taken outgoing edges.")
    usage = models.JSONField(default=dict)
    cost = models.FloatField(null=True, blank=True, help_text="Dollars; empty: a price is unknown.")
    rounds = models.PositiveIntegerField(default=0)
    tool_calls = models.PositiveIntegerField(default=0)
    stop_reason = models.CharField(max_length=40, blank=True)

    #: What an `Idempotency-Key` claims: hashes of whose key it is, and of the request it came with.
    claim = models.CharField(max_length=64, blank=True, editable=False)
    claimed_request = models.CharField(max_length=64, blank=True, editable=False)

    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        permissions = [
            ("view_trace", "Can see what runs were given, did and answered"),
            ("stop_run", "Can stop runs"),
        ]
        indexes = [
            models.Index(fields=["-created_at"]),
            models.Index(fields=["workflow_id", "-created_at"]),
            models.Index(fields=["chat_id", "status"]),
            models.Index(
                fields=["lease_until"], condition=Q(status__in=["queued", "running"]), name="run_leases"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(status__in=["queued", "running"]),
                name="one_turn_at_a_time",
            ),
            models.UniqueConstraint(fields=["claim"], condition=~Q(claim=""), name="one_run_a_claim"),
        ]

    def __str__(self) -> str:
        return self.id


class TraceEntry(models.Model):
    """One line of a run's private trace (agent-events-v1 section 7): rounds, calls with arguments and
    results, usage, warnings, errors; thinking only if the run's policy had it on. `data` is masked."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trace")
    seq = models.PositiveIntegerField()
    block_id = models.CharField(max_length=100, blank=True)
    kind = models.CharField(max_length=40)
    data = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_entry_a_seq")]

    def __str__(self) -> str:
        return f"{self.run_id}#{self.seq}"


class Message(models.Model):
    """What was said in a conversation. Content of a stopped or failed answer is empty."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"

    class State(models.TextChoices):
        COMPLETE = "complete"
        STOPPED = "stopped"
        FAILED = "failed"

    id = models.CharField(primary_key=True, max_length=64, default=new_message_id)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="messages")
    role = models.CharField(max_length=10, choices=Role)
    content = models.TextField(blank=True)
    status = models.CharField(max_length=10, choices=State, default=State.COMPLETE)
    position = models.PositiveIntegerField(help_text="Order in the conversation; clocks may differ.")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "position"], name="one_message_a_position")
        ]

    def __str__(self) -> str:
        return self.id


class RateWindow(models.Model):
    """How often a key (`visitor:<hash>`, `address:<hash>`…, with its scope) came in one minute."""

    key = models.CharField(max_length=160)
    minute = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "minute"], name="one_count_a_minute")]
        indexes = [models.Index(fields=["minute"])]

    def __str__(self) -> str:
        return f"{self.key} {self.minute:%H:%M} {self.count}"
