"""YAML read safely: plain values only, and a name given twice is a mistake, not a silent choice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from sfumato.errors import RecipeError


class _Loader(yaml.SafeLoader):
    """The safe loader, refusing repeated names; only true and false are truth values, so `on` is a name."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":bool")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_TRUTH = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _TRUTH, list("tTfF"))


def _mapping(loader: _Loader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    seen: set[str] = set()
    for name, _ in node.value:
        if name.value in seen:
            line = name.start_mark.line + 1
            raise RecipeError(f"line {line}", "a name stands in a mapping once", given=f"{name.value!r} twice",
                              remedy="keep one of the two")  # fmt: skip
        seen.add(name.value)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load_yaml(source: str | Path, *, what: str) -> Any:
    """The content of a YAML file or text.

    >>> load_yaml("on: [x, no]\\n", what="example")
    {'on': ['x', 'no']}
    """
    text = _text(source, what) if isinstance(source, Path) else source
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        raise RecipeError(what + where, "it is valid YAML", given=str(getattr(error, "problem", "") or "broken YAML"),
                          remedy="check indentation, brackets and colons there") from None  # fmt: skip


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RecipeError(what, "the file exists", given=str(path), remedy="check the path") from None
    except IsADirectoryError:
        raise RecipeError(what, "it is a file", given=f"the folder {path}", remedy="name a file in it") from None
    except UnicodeDecodeError:
        raise RecipeError(what, "the file is UTF-8 text", given=str(path), remedy="save it as UTF-8") from None
