"""What is released of a recoding: what the table shows, what the codebook tells, and nothing of the rest.

A tree whose labels nobody shows, a disclosed label that nobody has, a break between two intervals that are empty: each
tells something of the raw table, or could. The holder keeps the whole recoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.taxonomy_pruned import pruned
from sfumato.maskers.masker import Mask
from sfumato.maskers.mondrian.mask import Regions
from sfumato.maskers.topdown.intervals import interval_labels
from sfumato.maskers.topdown.recoding import Discretize, Generalize, Recoding, Rule, Suppress, tree_file
from sfumato.privacy.requirements import KMap
from sfumato.privacy.requirements.population import read_population
from sfumato.recipe import Recipe
from sfumato.release.reading import WHOLE, read_cuts

Told = Mapping[str, Mapping[str, Mapping[str, Any]]]
Labels = Mapping[str, set[str]]


@dataclass(frozen=True, eq=False)
class Explained:
    """The mask as it is released, and the files of the whole mask for the holder's folder, by name."""

    mask: Mask
    holder: Mapping[str, Any]


def explained(mask: Mask, shown: pa.Table, told: Told, recipe: Recipe) -> Explained:
    """What may be told of a mask beside a table that shows this; `told` is the codebook that goes along, if any does.

    Labels below the cut go along where the codebook tells of them, where people of a k-map's population have them, and
    where an earlier release of a growing table shows them: whoever counts again needs these.
    """
    if isinstance(mask, Regions):
        return Explained(mask, {f"{WHOLE}/{tree_file(name)}": tree.to_tree() for name, tree in mask.trees.items()})
    if not isinstance(mask, Recoding):
        return Explained(mask, {})
    also = _needed(recipe)
    rules = {
        name: _shown_part(rule, _values(shown.column(name)), told.get(name, {}), also.get(name, set()))
        for name, rule in mask.attributes.items()
    }
    return Explained(replace(mask, attributes=rules), {f"{WHOLE}/{name}": form for name, form in mask.files().items()})


def _values(column: pa.ChunkedArray[Any]) -> set[str | None]:
    """The different labels of a column; they are found before they are spelled out, which is ten times as fast."""
    return set(column.unique().cast(pa.string()).to_pylist())


def _needed(recipe: Recipe) -> Labels:
    """Labels that a claim is counted with: those of a population, and those that earlier releases show."""
    found: dict[str, set[str]] = {}
    for requirement in recipe.privacy:
        if isinstance(requirement, KMap):
            people = read_population(requirement, recipe.schema)
            for name in requirement.on:
                found.setdefault(name, set()).update(str(value) for value in people.column(name).values.to_pylist())
    if recipe.earlier is not None and recipe.earlier.people == "growing":
        for folder in recipe.earlier.releases:
            for name, labels in read_cuts(Path(folder)).items():
                found.setdefault(name, set()).update(labels)
    return found


def _shown_part(rule: Rule, shown: set[str | None], told: Mapping[str, Mapping[str, Any]], also: set[str]) -> Rule:
    if isinstance(rule, Generalize):
        return _generalize(rule, shown, {label for spread in told.values() for label in spread} | also)
    if isinstance(rule, Suppress):
        return replace(rule, disclosed=_in_order(label for label in rule.disclosed if label in shown))
    return replace(rule, breaks=_breaks(rule, shown))


def _generalize(rule: Generalize, shown: set[str | None], told: set[str]) -> Generalize:
    cut = _in_order(label for label in rule.cut if label in shown) or (rule.top,)
    tree, at_cut = rule.taxonomy, {label for label in cut if label is not None}
    above = {label for one in at_cut for label in tree.ancestors(one)}
    kept = {one for one in told if one in tree and (one in above or not at_cut.isdisjoint(tree.ancestors(one)))}
    return Generalize(pruned(tree, at_cut | kept), cut)


def _breaks(rule: Discretize, shown: set[str | None]) -> tuple[float, ...]:
    """The breaks that are an end of an interval which some row shows."""
    used = [label in shown for label in interval_labels(rule.range, rule.breaks, rule.calendar)]
    return tuple(at for at, below, above in zip(rule.breaks, used, used[1:], strict=False) if below or above)


def _in_order(labels: Iterable[str | None]) -> tuple[str | None, ...]:
    """In the order of letters, missing last."""
    found = set(labels)
    return (*sorted(label for label in found if label is not None), *([None] if None in found else []))
