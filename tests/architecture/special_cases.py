"""What general code knows of single guests: of one masker, one mask, one kind of requirement, structure or release.

General code is everything outside `maskers/`, `structure/`, `privacy/` and `recipe/`, which are the rooms of those
guests. A special case is a place there that tests what kind of guest it has instead of asking it:

- `isinstance` on a masker, a mask, a rule, a requirement or a structure, or `getattr` on a guest;
- a comparison of where rows came from, of a guarantee, or with a word that stands for one kind of guest;
- a test whether a recipe has a budget, earlier releases or a structure;
- a table with an entry for each kind of guest;
- a call of one masker by its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sfumato.maskers.registry import MASKERS
from sfumato.privacy.requirements import REQUIREMENTS

SOURCE = Path(__file__).parents[2] / "src" / "sfumato"
ROOMS = ("maskers", "structure", "privacy", "recipe")
FAMILIES = {
    "mask": {
        "Recoding",
        "Regions",
        "RegionTree",
        "ClusteredTree",
        "Centroids",
        "Transformation",
        "NoisyHistogram",
        "GeneratedRows",
    },
    "rule": {"Generalize", "GeneralizeSets", "Suppress", "Discretize"},
    "masker": {place.rpartition(":")[2] for place in MASKERS.values()},
    "requirement": {kind.__name__ for kind in REQUIREMENTS.values()} | {"BCFAnonymity", "JointAnonymity"},
    "structure": {"Clusters", "Classes"},
}
GUESTS = {name for family in FAMILIES.values() for name in family}
FLAGS = {"budget", "earlier", "structure", "mechanisms", "differential"}
KINDS = {"came", "guarantee", "people", "treated"}
WORDS = {"recoded", "moved", "generated", "same", "growing"} | {
    *("generalize", "generalize_sets", "suppress", "discretize", "region", "extent", "centroid", "transformed"),
    *MASKERS,
    *REQUIREMENTS,
    *("bcf_anonymity", "joint_k_anonymity", "differential_privacy"),
}
"""What a mask, a rule, a requirement or an earlier release is called where it stands in a file."""
ASKED = {"mask", "masker", "rule", "structure", "requirement"}


@dataclass(frozen=True, order=True)
class SpecialCase:
    """One place, and which family of guests it singles out."""

    place: str
    family: str
    code: str


def special_cases(source: Path = SOURCE) -> list[SpecialCase]:
    """Every place of general code that knows a single guest."""
    found = []
    for path in sorted(source.rglob("*.py")):
        inside = path.relative_to(source)
        if inside.parts[0] in ROOMS or inside.name == "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found += [SpecialCase(inside.as_posix(), family, ast.unparse(node)) for family in _families(node)]
    return sorted(found)


def _families(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield from _of_call(node.func.id, node)
    elif isinstance(node, ast.Compare):
        yield from _of_comparison([node.left, *node.comparators])
    elif isinstance(node, ast.Dict) and any(map(_singles_out, node.keys)):
        yield "table"


def _of_call(name: str, node: ast.Call) -> Iterator[str]:
    if name == "isinstance":
        names = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
        yield from (family for family, members in FAMILIES.items() if names & members)
    elif name in FAMILIES["masker"]:
        yield "masker"
    elif name == "getattr" and _name(node.args[0]) in ASKED:
        yield "getattr"


def _of_comparison(sides: list[ast.expr]) -> Iterator[str]:
    names = {_name(side) for side in sides}
    against_none = any(isinstance(side, ast.Constant) and side.value is None for side in sides)
    if names & FLAGS and against_none:
        yield "flag"
    elif names & KINDS and any(map(_text, sides)):
        yield "kind"
    elif any(_text(side) in WORDS for side in sides):
        yield "word"


def _singles_out(key: ast.expr | None) -> bool:
    """Whether an entry of a table is for one kind of guest."""
    named = key.value if isinstance(key, ast.Attribute) else key
    return (isinstance(named, ast.Name) and named.id in GUESTS) or (key is not None and _text(key) in CAME)


CAME = {"recoded", "moved", "generated"}


def _name(node: ast.expr) -> str | None:
    """What an expression is called: a name, the attribute of something, or what stands under a text."""
    if isinstance(node, ast.Subscript):
        return _text(node.slice) or _name(node.value)
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
