"""What texts of blocks refer to: outputs that exist, of blocks upstream; secrets only in requests. Pure."""

from collections.abc import Iterator, Mapping, Set

from agents.places import BadTemplate
from streaming import selection
from workflows.blocks.base import Block, Templated
from workflows.problems import Problem
from workflows.templates import Reference, places, reference
from workflows.topology import Listed


def problems(blocks: Mapping[str, Listed], upstream: Mapping[str, Set[str]]) -> Iterator[Problem]:
    """`upstream`: for each block the ids of those that run before it."""
    for name, listed in blocks.items():
        if listed.block is None:
            continue
        for templated in listed.block.templated():
            for sentence in _sentences(templated, blocks, upstream.get(name, set())):
                yield Problem(f"{listed.path}.{templated.path}", sentence)


def _sentences(templated: Templated, blocks: Mapping[str, Listed], upstream: Set[str]) -> Iterator[str]:
    try:
        found = list(places(templated.text))
        references = [reference(place.name) for place in found if not place.secret]
    except BadTemplate as error:
        yield f"{error}."
        return
    if not templated.secrets:
        for place in found:
            if place.secret:
                yield f"the secret '{place.name}' cannot stand here: secrets only go into requests of tools."
    for wanted in dict.fromkeys(references):
        if wanted.block not in blocks:
            yield f"there is no block '{wanted.block}' ({{{{{wanted}}}}})."
        elif wanted.block not in upstream:
            yield f"'{wanted.block}' does not run before this block ({{{{{wanted}}}}})."
        elif block := blocks[wanted.block].block:
            yield from _missing(wanted, block)


def _missing(wanted: Reference, block: Block) -> Iterator[str]:
    outputs = [output.path for output in block.outputs()]
    if wanted.path and selection.same(wanted.path)[0] not in outputs:
        yield f"'{block.id}' has no output '{wanted.path}'; it has {', '.join(outputs)}."
