"""Selected outputs: how `block.path` is written, what it names in a graph, what it finds in an output
(agent-events-v1 section 5). Pure.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

#: What an agent block says about itself, beside its `content` and the fields of a structured answer. No chat
#: may select it, and no encoder for a chat shows it.
PRIVATE_PATHS = frozenset({"model", "tokens", "cost", "providerTiming", "toolCalls"})

#: Longer references name nothing; what a person writes is far shorter.
MAX_LENGTH = 1000

_PART = re.compile(r"([^.\[\]]+)((?:\[[0-9]{1,9}\])*)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_IGNORED = re.compile(r"[\s.\-_]+")


class Selected(msgspec.Struct, frozen=True):
    """One selected output; `path` as it was written, which is its key in the final frame.

    `agent`: the block is an agent block; `live`: its `content` streams (no structured answer).
    """

    block_id: str
    path: str
    agent: bool
    live: bool


class Offer(msgspec.Struct, frozen=True):
    """What one block of a graph offers for selection.

    `default` is the path that the block alone stands for, empty if there is none. `opaque` are those of
    `paths` below which any path may be named, because what they hold is known only when the block has run.
    """

    block_id: str
    name: str
    agent: bool
    live: bool
    paths: tuple[str, ...]
    default: str
    opaque: tuple[str, ...] = ()


class UnknownOutput(Exception):
    """`entry` names nothing. `selectable` is all that could have been named."""

    def __init__(self, entry: str, selectable: tuple[str, ...]) -> None:
        super().__init__(
            f"There is no output {entry!r}. What can be selected: {', '.join(selectable) or 'nothing'}."
        )
        self.entry = entry
        self.selectable = selectable


# --- Paths --------------------------------------------------------------------------------------------------


def steps(path: str) -> tuple[str | int, ...] | None:
    """Return the keys (text) and the indexes written in brackets (numbers) of a path; None if it is none.

    `a.0` is a text: a number after a dot is an index in a list and a key elsewhere.
    """
    found: list[str | int] = []
    for part in path.split("."):
        match = _PART.fullmatch(part)
        if match is None:
            return None
        key, indexes = match.groups()
        found += [key, *map(int, _NUMBER.findall(indexes))]
    return tuple(found)


def look_up(value: Any, path: str) -> Any:
    """Return what `path` names in a JSON value. Raises LookupError if that is nothing."""
    for step in steps(path) or (None,):
        match value, step:
            case dict(), str() if step in value:
                value = value[step]
            case list(), int() if step < len(value):
                value = value[step]
            case list(), str() if _NUMBER.fullmatch(step) and int(step) < len(value):
                value = value[int(step)]
            case _:
                raise LookupError(path)
    return value


def same(path: str) -> tuple[str, ...]:
    """Return a key under which all spellings of one path are equal: `a[0]` and `a.0`."""
    return tuple(str(step) for step in steps(path) or (path,))


def as_text(value: Any) -> str:
    """Return a selected value as the text of a chunk: a string as it is, else JSON with two-space indent."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def is_private(selected: Selected) -> bool:
    """Whether it is what no chat may select."""
    return selected.agent and same(selected.path)[0] in PRIVATE_PATHS


# --- Names of blocks ----------------------------------------------------------------------------------------


def normal(reference: str) -> str:
    """Return an id or name as it is compared: case, spaces, dots, hyphens and underscores do not count."""
    return _IGNORED.sub("", unicodedata.normalize("NFKC", reference).casefold())


def collisions(blocks: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    """Return the positions of every two blocks that a selection could confuse, the earlier one first.

    `blocks` are ids and names; a block may be named like its own id. An empty name names nothing.
    """
    owners: dict[str, int] = {}
    found: dict[tuple[int, int], None] = {}
    for position, (block_id, name) in enumerate(blocks):
        for reference in filter(None, (block_id, name)):
            owner = owners.setdefault(normal(reference), position)
            if owner != position:
                found[owner, position] = None
    return list(found)


# --- What a reference names ---------------------------------------------------------------------------------


def resolve(entries: Iterable[str], offers: Sequence[Offer]) -> tuple[Selected, ...]:
    """Return what `entries` select, in their order; duplicates count once. Raises UnknownOutput."""
    by_id = {normal(offer.block_id): offer for offer in reversed(offers)}
    by_name = {normal(offer.name): offer for offer in reversed(offers) if offer.name}
    found: dict[tuple[str, tuple[str, ...]], Selected] = {}
    for entry in entries:
        selected = _resolve(entry, by_id) or _resolve(entry, by_name)
        if selected is None:
            raise UnknownOutput(entry, selectable(offers))
        found.setdefault((selected.block_id, same(selected.path)), selected)
    return tuple(found.values())


def selectable(offers: Iterable[Offer], *, chat: bool = False) -> tuple[str, ...]:
    """Return all that can be selected, as `block.path`; with `chat`, by a public chat."""
    return tuple(
        f"{selected.block_id}.{selected.path}"
        for offer in offers
        for selected in (_selected(offer, path) for path in offer.paths)
        if not (chat and is_private(selected))
    )


def _resolve(entry: str, offers: Mapping[str, Offer]) -> Selected | None:
    """Try every dot as the end of the block, the first one first, because names may hold dots too."""
    if len(entry) > MAX_LENGTH:
        return None
    reference, rest = "", entry
    while rest:
        part, dot, rest = rest.partition(".")
        reference += normal(part)
        offer = offers.get(reference)
        if offer is None:
            continue
        path = rest if dot else offer.default
        if _offers(offer, path):
            return _selected(offer, path)
    return None


def _offers(offer: Offer, path: str) -> bool:
    if steps(path) is None:
        return False
    wanted = same(path)
    if any(same(known) == wanted for known in offer.paths):
        return True
    return any(wanted[: len(known)] == known for known in map(same, offer.opaque))


def _selected(offer: Offer, path: str) -> Selected:
    return Selected(offer.block_id, path, offer.agent, offer.live)
