"""The bundled taxonomies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import DatasetError, TaxonomyError, did_you_mean

_ADULT = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
TAXONOMIES = (*_ADULT, "icd9")


def taxonomy(name: str, *, codes: Iterable[str] = ()) -> Taxonomy:
    """A bundled taxonomy: one of the eight categorical attributes of Adult, or "icd9".

    `codes` hangs full diagnosis codes below the categories of "icd9" (see `icd9`).

    >>> tree = taxonomy("education")
    >>> len(tree.leaves), tree.levels, tree.parent("Masters")
    (16, 5, 'Graduate-school')
    """
    if name == "icd9":
        return icd9(codes=codes)
    if name not in _ADULT:
        raise DatasetError(
            "taxonomy",
            "this is no bundled taxonomy",
            given=repr(name),
            remedy=did_you_mean(name, TAXONOMIES),
        )
    if tuple(codes):
        raise DatasetError(
            "taxonomy",
            "only 'icd9' takes codes",
            given=f"codes for {name!r}",
            remedy="leave codes out",
        )
    return _read(name)


@cache
def _read(name: str) -> Taxonomy:
    text = files(__package__).joinpath("taxonomies", f"{name}.yaml").read_text(encoding="utf-8")
    return Taxonomy.from_tree(yaml.safe_load(text))


# The tree of ICD-9-CM diagnosis codes: chapters, blocks, three-digit categories, and codes below them.
_CODE = re.compile(r"\d{3,5}|V\d{2,4}|E\d{3,4}")
ROOT = "ANY"


def icd9(*, codes: Iterable[str] = ()) -> Taxonomy:
    """The tree of the categories; with `codes`, these hang below their categories.

    Codes are written as MIMIC-III writes them, without a dot: "4019", "V3000", "E8859". Leaves are codes.
    A category without codes is a leaf. One with several codes becomes an inner label such as "401.x", so that
    the category's own number may be one of them. No label has a single child: a category with one code is
    replaced by that code, a block of one category by that category.

    >>> tree = icd9(codes=["4010", "4019", "486"])
    >>> tree.ancestors("4019")[:2]
    ('401.x', '401-405 Hypertensive disease')
    >>> tree.parent("486")
    '480-488 Pneumonia and influenza'
    """
    below = _by_category(codes)
    parent_of: dict[str, str | None] = {ROOT: None}
    for chapter, block, members in _blocks():
        parent_of[chapter] = ROOT
        if block != chapter and len(members) > 1:
            parent_of[block] = chapter
        for member in members:
            parent = block if block in parent_of else chapter
            parent_of.update(_hang(member, below.get(member, []), parent))
    return Taxonomy.from_parents(parent_of)


def category(code: str) -> str:
    """The three-digit category of a code (four characters for external causes).

    >>> category("4019"), category("V3000"), category("E8859")
    ('401', 'V30', 'E885')
    """
    return code[:4] if code.startswith("E") else code[:3]


@cache
def categories() -> tuple[str, ...]:
    """All categories, in the order of the tree."""
    return tuple(member for _, _, members in _blocks() for member in members)


def _hang(member: str, codes: list[str], parent: str) -> dict[str, str | None]:
    if len(codes) < 2:
        return {codes[0] if codes else member: parent}
    inner = f"{member}.x"
    return {inner: parent, **dict.fromkeys(codes, inner)}


def _by_category(codes: Iterable[str]) -> dict[str, list[str]]:
    known = frozenset(categories())
    below: dict[str, list[str]] = {}
    for code in sorted(set(codes)):
        if not _CODE.fullmatch(code) or category(code) not in known:
            raise TaxonomyError(
                "icd9",
                "a code is an ICD-9-CM diagnosis code without its dot, in an existing category",
                given="a code that is none",
                remedy='write "4019" for 401.9, and leave other codes out',
            )
        below.setdefault(category(code), []).append(code)
    return below


@cache
def _facts() -> dict[str, Any]:
    text = files(__package__).joinpath("icd9.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@cache
def _blocks() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Chapter label, block label and the categories of each block."""
    facts = _facts()
    absent = {number for span in facts["absent"] for number in _span(span)}
    return tuple(
        (chapter, f"{span} {name}" if name else chapter, tuple(n for n in _span(span) if n not in absent))
        for chapter, blocks in facts["chapters"].items()
        for span, name in blocks.items()
    )


def _span(span: str) -> Iterator[str]:
    """All numbers of "V01-V09"."""
    first, _, last = span.partition("-")
    letter = first[0] if first[0] in "VE" else ""
    width = len(first) - len(letter)
    start, end = first.removeprefix(letter), (last or first).removeprefix(letter)
    return (f"{letter}{number:0{width}d}" for number in range(int(start), int(end) + 1))
