"""What each requirement reached, counted from the masked columns before they are written; verify counts again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import group_numbers
from sfumato.data.reading import read_arrow
from sfumato.data.schema import Category, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy import Taxonomy
from sfumato.data.taxonomy_pruned import pruned
from sfumato.errors import RecipeError
from sfumato.maskers.masker import Mask
from sfumato.maskers.topdown.recoding import Recoding
from sfumato.privacy.requirements import Basic, KMap, Requirement, Sensitive, TCloseness
from sfumato.privacy.requirements.closeness import heights_of
from sfumato.privacy.requirements.population import read_population
from sfumato.privacy.requirements.requirement import same, told
from sfumato.privacy.verify.population import Population, sha256
from sfumato.privacy.verify.population import read_population as read_population_frame
from sfumato.structure.released import Shown

Ints = NDArray[np.int64]
HIERARCHICAL = "hierarchical"


@dataclass(frozen=True)
class Claim:
    """A requirement that was asked, what was reached, and what verify needs besides the requirement's settings."""

    requirement: Requirement
    achieved: Any
    also: tuple[tuple[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For the certificate."""
        return (
            self.requirement.claim()
            | dict(self.also)
            | {"achieved": self.achieved, "attacker": self.requirement.attacker(),
               "sentence": self.requirement.sentence()}
        )  # fmt: skip


def count_claims(people: Table, shown: pa.Table, mask: Mask, requirements: Sequence[Requirement]) -> list[Claim]:
    """What each requirement reached; `shown` has the rows of `people` in their order."""
    counting = _Counting(people, shown, mask)
    return [
        Claim(r, r.achieved([counting.worst(part) for part in r.parts()]), tuple(_also(r, people).items()))
        for r in requirements
    ]


@dataclass(frozen=True, eq=False)
class _Counting:
    people: Table
    shown: pa.Table
    mask: Mask

    def worst(self, part: Basic) -> float:
        """The least measure of any group."""
        if isinstance(part, KMap):
            counts, sensitive = self._in_population(part), Sensitive((), np.zeros(0, dtype=np.int64))
        else:
            counts, sensitive = self._counts(part)
        return float(part.measure(sensitive)(counts).min())

    def _counts(self, part: Basic) -> tuple[Ints, Sensitive]:
        groups = group_numbers((self._codes(name) for name in part.on), self.shown.num_rows)
        if part.sensitive is None:
            return np.bincount(groups)[:, None], Sensitive((), np.zeros(0, dtype=np.int64))
        found = Sensitive.of(self.people, part.sensitive)
        size = len(found.values)
        codes = self.people.column(part.sensitive).codes.astype(np.int64)
        cells = np.bincount(groups * size + codes, minlength=(int(groups.max()) + 1) * size)
        return cells.reshape(-1, size), found

    def _in_population(self, part: KMap) -> Ints:
        """(groups, 2): how many of the table and of the population show each combination."""
        population = masked_population(part, self.people.schema, self.mask)
        both = [
            Shown.of(pa.chunked_array([_text(self.shown.column(name)), _text(population[name])])).codes
            for name in part.on
        ]
        rows, more = self.shown.num_rows, len(population[part.on[0]])
        groups = group_numbers(both, rows + more)
        of = np.repeat([0, 1], [rows, more])
        return np.bincount(groups * 2 + of, minlength=(int(groups.max()) + 1) * 2).reshape(-1, 2)

    def _codes(self, name: str) -> Ints:
        return Shown.of(self.shown.column(name)).codes


def masked_population(requirement: KMap, schema: Schema, mask: Mask) -> dict[str, pa.Array[Any]]:
    """The population, shown as the table is; whoever has a label that nobody in the table has is suppressed."""
    if not isinstance(mask, Recoding):
        raise RecipeError(str(requirement), "a population is masked by a recoding", given="another mask",
                          remedy="use mask: top_down")  # fmt: skip
    part = Recoding({name: mask.attributes[name] for name in requirement.on})
    return part.apply(read_population(requirement, schema), unseen="suppress")


def population_of(source: object) -> Population | None:
    """A population for verify: its table, read as publish reads it, with the SHA-256 of its file."""
    if source is None:
        return None
    found = read_population_frame(read_arrow(source), missing=())
    return Population(found.table, sha256(source) if isinstance(source, str | Path) else None)


def _text(column: Any) -> pa.Array[Any]:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found: pa.Array[Any] = whole.cast(pa.string())
    return found


def _also(requirement: Requirement, people: Table) -> dict[str, Any]:
    """Of values in an order or a tree those that somebody has; the hash of a population's file."""
    if isinstance(requirement, TCloseness) and (requirement.order is not None or requirement.distance == HIERARCHICAL):
        held = people.column(requirement.sensitive).values.to_pylist()
        if requirement.order is not None:
            return {"order": [told(has) for value in requirement.order for has in held if same(has, value)]}
        attribute = people.schema[requirement.sensitive]
        if isinstance(attribute, Category) and attribute.taxonomy is not None:
            return {"tree": bare_tree(attribute.taxonomy, held)}
    if isinstance(requirement, KMap) and isinstance(requirement.population, str | Path):
        return {"population": sha256(requirement.population)}
    return {}


def bare_tree(taxonomy: Taxonomy, held: Collection[Any]) -> dict[str, Any]:
    """A tree for a distance: values that somebody has, and how high what joins them stands above the deepest.

    >>> ills = Taxonomy.from_tree({"ANY": {"lungs": ["flu", "cough"], "skin": ["rash", "acne"]}})
    >>> bare_tree(ills, ["cough", "flu", "rash"])
    {'height': 2, 'below': [{'height': 1, 'below': ['cough', 'flu']}, 'rash']}
    """
    tree = pruned(taxonomy, {str(value) for value in held}, root=False)
    heights = heights_of(tree)

    def node(label: str) -> Any:
        below = [node(child) for child in tree.children(label)]
        return {"height": heights[label], "below": sorted(below, key=_first)} if below else label

    return {"height": 1, "below": [tree.root]} if tree.is_leaf(tree.root) else dict(node(tree.root))


def _first(node: Any) -> str:
    return node if isinstance(node, str) else min(map(_first, node["below"]))
