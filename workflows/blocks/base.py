"""What every kind of block is: its keys in the studio file, what the graph asks of it, and how it runs.

A kind is one module with a `Block` that says all of this, and its row in `workflows.blocks.KINDS`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import msgspec

from agents.http_client import HttpClient
from agents.secrets import Secret
from agents.spec import ModelChoice
from streaming.codes import RunCode
from workflows.problems import Problem
from workflows.scope import Scope

#: Ids are written in templates and selections, so nothing in them may look like a path.
Id = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_\-]*$",
        max_length=64,
        description="letters, digits, _ and -, beginning with a letter or digit",
    ),
]
Name = Annotated[str, msgspec.Meta(max_length=100)]
LongText = Annotated[str, msgspec.Meta(max_length=200_000)]


@dataclass(frozen=True)
class Templated:
    """A text of a block that may refer to outputs of blocks upstream. `secrets`: it may hold secrets too."""

    path: str
    text: str
    secrets: bool = False


@dataclass(frozen=True)
class Target:
    """An edge that a block states itself; `path` is where."""

    path: str
    block: str


@dataclass(frozen=True)
class Output:
    """A path of a block's output that can be selected. `opaque`: paths below it are not known beforehand."""

    path: str
    opaque: bool = False


@dataclass(frozen=True)
class Result:
    """What a block came to. `taken`: the ids its taken edges lead to; None: all are taken.

    `ended`: the run ends here by the engine's own rule, which `detail` tells (agent-events-v1 section 5).
    """

    output: dict[str, Any]
    taken: frozenset[str] | None = None
    ended: RunCode | None = None
    detail: str = ""


class Work(Protocol):
    """A block with all it needs to run, any number of times, on any event loop."""

    async def run(self, scope: Scope) -> Result:
        """Raises AgentError, or anything else: both end the run as failed."""


class Resources(Protocol):
    """Where a block gets what it needs while a plan is made. May query."""

    #: Whether thinking can reach somebody (agent-events-v1 section 1).
    summaries: bool
    http: HttpClient

    def model(self, name: str) -> ModelChoice:
        """A `provider/model`. One that does not exist is a model that always fails."""

    def secrets(self, names: Sequence[str]) -> Mapping[str, Secret]:
        """Those of these secrets that exist."""


class Block(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True):
    """A block as the studio file writes it. `name` is what people call it; empty: its id."""

    id: Id
    name: Name = ""

    @property
    def type(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    def title(self) -> str:
        return self.name or self.id

    def problems(self) -> Iterator[Problem]:
        """What is wrong beyond shapes; paths are relative to the block."""
        return iter(())

    def templated(self) -> Iterator[Templated]:
        """Every text that is filled in with outputs of other blocks."""
        return iter(())

    def targets(self) -> Sequence[Target] | None:
        """The edges that start here, if the block states them itself."""
        return None

    def outputs(self) -> Sequence[Output]:
        """What can be selected of it; the first is what the block alone stands for."""
        raise NotImplementedError

    def prepare(self, resources: Resources, *, start: str) -> Work:
        """Return what runs. `start` is the id of the graph's start block."""
        raise NotImplementedError
