"""The kinds of blocks there are. Adding one is a module here and its row in KINDS."""

from workflows.blocks.agent import Agent
from workflows.blocks.base import Block
from workflows.blocks.condition import Condition
from workflows.blocks.http import Http
from workflows.blocks.response import Response
from workflows.blocks.start import Start
from workflows.blocks.template import Template

KINDS: dict[str, type[Block]] = {
    str(kind.__struct_config__.tag): kind for kind in (Start, Agent, Condition, Template, Http, Response)
}
