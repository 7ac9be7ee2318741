"""No module imports itself by way of others, not even for its types or inside a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import sfumato

PACKAGE = Path(sfumato.__file__).parent
Graph = Mapping[str, set[str]]

KNOWN: set[frozenset[str]] = set()
"""The cycles that are left: none."""


def modules(package: Path) -> dict[str, str]:
    """The source of every module of a package, by its full name."""
    found = {}
    for path in package.rglob("*.py"):
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


def imports(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Which modules each one imports, wherever the import stands: at the top, for types alone, in a function."""
    return {name: set(_imported(name, source, sources)) - {name} for name, source in sources.items()}


def _imported(name: str, source: str, known: Mapping[str, str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} imports by a relative path"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                target = full if full in known else str(node.module)
                if target in known:
                    yield target


def cycles(graph: Graph) -> set[frozenset[str]]:
    """The strongly connected components of more than one module (Tarjan), without recursion."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    found: set[frozenset[str]] = set()
    for start in graph:
        path = [] if start in number else [(start, iter(sorted(graph[start])))]
        while path:
            name, ahead = path[-1]
            if name not in number:
                number[name] = low[name] = len(number)
                open_.append(name)
            following = next(ahead, None)
            if following is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[name])
                if low[name] == number[name]:
                    component = open_[open_.index(name) :]
                    del open_[open_.index(name) :]
                    found |= {frozenset(component)} if len(component) > 1 else set()
            elif following not in number:
                path.append((following, iter(sorted(graph[following]))))
            elif following in open_:
                low[name] = min(low[name], number[following])
    return found


def test_there_are_no_cycles_but_the_known_ones() -> None:
    assert cycles(imports(modules(PACKAGE))) == KNOWN


def test_the_measurement_can_fail() -> None:
    sources = {
        "sfumato.a": "from sfumato.b import x",
        "sfumato.b": "def late() -> None:\n    from sfumato import c",
        "sfumato.c": "if TYPE_CHECKING:\n    import sfumato.a",
        "sfumato.d": "from sfumato.a import y\nfrom sfumato.e import z",
        "sfumato.e": "import json",
    }
    assert cycles(imports(sources)) == {frozenset({"sfumato.a", "sfumato.b", "sfumato.c"})}
    assert cycles(imports({**sources, "sfumato.e": "from sfumato.d import y"})) == {
        frozenset({"sfumato.a", "sfumato.b", "sfumato.c"}),
        frozenset({"sfumato.d", "sfumato.e"}),
    }
