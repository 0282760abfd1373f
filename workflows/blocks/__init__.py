"""The kinds of blocks there are. Adding one is a module here and its row in KINDS."""

from workflows.blocks.agent import Agent
from workflows.blocks.base import Block
from workflows.blocks.start import Start

KINDS: dict[str, type[Block]] = {str(kind.__struct_config__.tag): kind for kind in (Start, Agent)}
