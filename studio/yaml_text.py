"""YAML as the studio file uses it: the JSON types only, in both directions. Pure.

`off`, `no` and dates are text (YAML 1.2), so `thinking: off` says what it seems to say. Aliases, doubled keys
and tags are refused: a small file cannot grow into a large one, and no line silently loses to another.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import yaml

from credentials.declare import FileError

MAX_BYTES = 1_048_576
_TAG = "tag:yaml.org,2002:"
_PLAIN: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    "null": (re.compile(r"(?:~|null|Null|NULL|)"), lambda text: None),
    "bool": (re.compile(r"true|True|TRUE|false|False|FALSE"), lambda text: text.lower() == "true"),
    "int": (re.compile(r"[-+]?[0-9]{1,300}"), int),
    "float": (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), float),
}


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}


class _Dumper(yaml.SafeDumper):
    """Quotes what either version of YAML would take for something else than text."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(f"{_TAG}str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)
for _kind, (_pattern, _) in _PLAIN.items():
    _whole = re.compile(rf"(?:{_pattern.pattern})\Z")
    _Loader.add_implicit_resolver(f"{_TAG}{_kind}", _whole, None)
    _Dumper.add_implicit_resolver(f"{_TAG}{_kind}", _whole, None)


def read(data: bytes) -> dict[str, Any]:
    """Return the mapping that a file holds; raises FileError, with the mistake's path if it has one."""
    if len(data) > MAX_BYTES:
        raise FileError("", f"The file is larger than {MAX_BYTES} bytes.")
    try:
        node = yaml.compose(data.decode("utf-8-sig"), Loader=_Loader)
        document = _value(node, "", set()) if node else None
    except UnicodeDecodeError as error:
        raise FileError("", f"The file is not UTF-8: {error}.") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise FileError(f"line {line}", f"{error.problem or 'this is not YAML'}.") from error
    except yaml.YAMLError as error:
        raise FileError("", f"This is not YAML: {error}.") from error
    except RecursionError as error:
        raise FileError("", "The file is nested too deeply.") from error
    if not isinstance(document, dict):
        raise FileError("", "The file must hold sections: providers, secrets, workflows, chats.")
    return document


def write(document: dict[str, Any]) -> str:
    """Return the text of which `read` makes the same document again."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def _value(node: yaml.Node, path: str, seen: set[int]) -> Any:
    if id(node) in seen:
        raise FileError(path, "aliases (*name) are not supported; write the value out.")
    seen.add(id(node))
    match node:
        case yaml.MappingNode(tag="tag:yaml.org,2002:map"):
            return _mapping(node, path, seen)
        case yaml.SequenceNode(tag="tag:yaml.org,2002:seq"):
            return [_value(child, f"{path}[{index}]", seen) for index, child in enumerate(node.value)]
        case yaml.ScalarNode(tag="tag:yaml.org,2002:str"):
            return node.value
        case yaml.ScalarNode() if node.tag.removeprefix(_TAG) in _PLAIN:
            return _scalar(node, path)
        case _:
            raise FileError(path, f"the tag {node.tag} is not supported.")


def _mapping(node: yaml.MappingNode, path: str, seen: set[int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = _value(key_node, path, seen)
        if not isinstance(key, str):
            raise FileError(path, f"the key {key!r} must be text; put it in quotes.")
        here = f"{path}.{key}" if path else key
        if key in found:
            raise FileError(here, "this key stands twice.")
        found[key] = _value(value_node, here, seen)
    return found


def _scalar(node: yaml.ScalarNode, path: str) -> Any:
    pattern, convert = _PLAIN[node.tag.removeprefix(_TAG)]
    if not pattern.fullmatch(node.value):
        raise FileError(path, f"{node.value!r} does not suit the tag {node.tag}.")
    value = convert(node.value)
    if isinstance(value, float) and not math.isfinite(value):
        raise FileError(path, "this number is too large.")
    return value
