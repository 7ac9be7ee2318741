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


def _file(loader: _Loader) -> str:
    """The file that is read, if it is one."""
    return "" if loader.name.startswith("<") else f"{loader.name}, "


def _mapping(loader: _Loader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    seen: set[str] = set()
    for name, _ in node.value:
        if name.value in seen:
            where = f"{_file(loader)}line {name.start_mark.line + 1}"
            raise RecipeError(where, "a name may stand in a mapping only once", given=f"{name.value!r} twice",
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
        loader = _Loader(text)
        loader.name = str(source) if isinstance(source, Path) else "<text>"
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        problem = str(getattr(error, "problem", "") or "broken YAML")
        thing = str(source) if isinstance(source, Path) else what
        raise RecipeError(thing + where, f"a {what} must be valid YAML", given=problem,
                          remedy="check indentation, brackets and colons there") from None  # fmt: skip


class _Dumper(yaml.SafeDumper):
    """The safe dumper, with every text that begins like a number in quotes."""


def _represent(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'" if _CODE.fullmatch(text) else None)


_CODE = re.compile(r"[-+.]?\d[\d_.,:eE+-]*")
_Dumper.add_representer(str, _represent)


def dump_yaml(value: object, **options: Any) -> str:
    """A value as YAML, in its own order. Codes are in quotes, whether or not YAML 1.1 takes them for numbers.

    >>> dump_yaml(["02138", "02140", "A1"], default_flow_style=True)
    "['02138', '02140', A1]\\n"
    """
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, **options)
    return text


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RecipeError(what, "the file must exist", given=str(path), remedy="check the path") from None
    except IsADirectoryError:
        raise RecipeError(what, "it must be a file", given=f"the folder {path}", remedy="name a file in it") from None
    except UnicodeDecodeError:
        raise RecipeError(what, "the file must be UTF-8 text", given=str(path), remedy="save it as UTF-8") from None
