"""NoisyHistogram: what is learned under differential privacy. Domains are public, everything else is noisy counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.maskers.histogram.dates import unit_text
from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain
from sfumato.maskers.histogram.records import Box, Split
from sfumato.maskers.masker import Mask, Parts

Rows = Literal["values", "generalized"]


@dataclass(frozen=True, eq=False)
class NoisyHistogram(Mask):
    """Parts of the records with the number of rows generated for each, and what the rows of each were drawn from.

    `rows_of` (parts,): rows generated, in the order of the generated table before it is shuffled. `told`: the domains
    as far as rows show them, and what the rows were made of, as plain JSON. `part_of`
    (records,): the part of each record, -1 for none; for the holder.
    """

    kind: str
    shown: Rows
    domains: Mapping[str, Domain]
    rows_of: tuple[int, ...]
    told: Mapping[str, Any]
    part_of: Ints = field(repr=False, compare=False)

    def files(self) -> dict[str, Any]:
        """The domains and all that was learned, which is noisy."""
        return {f"{self.kind}.json": self.to_json()}

    @property
    def parts(self) -> Parts | None:
        """The part that each row was made for; none where one part is all."""
        return Parts(self.rows_of, self.part_of) if len(self.rows_of) > 1 else None

    @property
    def shows_values(self) -> bool:
        """Unless rows show what all records of their part have in common."""
        return self.shown == "values"

    def apply(self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None) -> Masked:
        """Refused: rows are generated from noisy counts; applied to raw rows the counts would protect nobody."""
        raise _makes_rows()

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"domains": {}, "rows": list(self.rows_of), **self.told}


@dataclass(frozen=True, eq=False)
class GeneratedRows(Mask):
    """A noisy histogram as it is read from a release."""

    kind: str
    form: Mapping[str, Any]

    def files(self) -> dict[str, Any]:
        """As it was written."""
        return {f"{self.kind}.json": self.form}

    def apply(self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None) -> Masked:
        """Refused: see `NoisyHistogram`."""
        raise _makes_rows()


def _makes_rows() -> RecipeError:
    return RecipeError(
        "apply",
        "a noisy histogram makes rows of its own and masks none",
        given="a table",
        remedy="publish the table under a budget of its own",
    )


def domain_form(domain: Domain, shown: Rows) -> dict[str, Any]:
    """What a column may show, as plain JSON: numbers, dates or intervals of a range, labels, or sets of labels."""
    if isinstance(domain, NumberDomain):
        if domain.unit is not None:
            first, last = (unit_text(int(end), domain.unit) for end in (domain.low, domain.high))
            kind = "dates" if shown == "values" else "intervals"
            form = {"kind": kind, "range": [first, last], "calendar": domain.unit, "missing": domain.missing}
            return form | _cuts(domain)
        ends = [int(end) if domain.integer else end for end in (domain.low, domain.high)]
        kind = "numbers" if shown == "values" else "intervals"
        form = {"kind": kind, "range": ends, "integer": domain.integer, "missing": domain.missing}
        return form | _cuts(domain)
    if isinstance(domain, LabelDomain):
        labels = domain.tree.leaves if shown == "values" else domain.tree.labels
        return {"kind": "labels", "labels": list(labels), "missing": domain.missing}
    labels = domain.cut if shown == "values" else (domain.tree.root, *domain.nodes)
    most = domain.most if shown == "values" else len(labels)
    return {
        "kind": "sets",
        "labels": list(labels),
        "most": most,
        "separator": domain.separator,
        "missing": domain.missing,
    }


def _cuts(domain: NumberDomain) -> dict[str, Any]:
    """Where declared bins begin, behind the first; equal ones follow from the range, and are not told."""
    if not domain.cut:
        return {}
    if domain.unit is not None:
        return {"bins": [unit_text(int(edge), domain.unit) for edge in domain.edges[1:-1]]}
    return {"bins": [int(edge) if domain.integer else edge for edge in domain.edges[1:-1]]}


def shown_of(domain: Domain, box: Box) -> str | list[str] | None:
    """What all records of a box have in common: an interval, a label above them, labels that they all hold."""
    if isinstance(domain, ItemDomain):
        return _held(domain, box)
    allowed = box.allowed[domain.name]
    known = np.flatnonzero(allowed[: domain.size - domain.missing])
    if not len(known):
        return None
    every = domain.missing and bool(allowed[-1])
    if isinstance(domain, NumberDomain):
        return domain.label(0, len(domain.edges) - 1) if every else domain.label(int(known[0]), int(known[-1]) + 1)
    return domain.tree.root if every else covering(domain, known)


def covering(domain: LabelDomain, cells: Sequence[int] | Ints) -> str:
    """The lowest label above all of these leaves, or the leaf itself."""
    first, last = int(min(cells)), int(max(cells))
    leaf = domain.tree.leaves[first]
    for label in (leaf, *domain.tree.ancestors(leaf)):
        start, end = domain.tree.leaf_range(label)
        if start <= first and last < end:
            return label
    return domain.tree.root


def _held(domain: ItemDomain, box: Box) -> list[str] | None:
    held = box.held.get(domain.name, ())
    if len(domain.nodes) in held:
        return None
    labels = [domain.nodes[node] for node in held]
    above = {a for label in labels for a in domain.tree.ancestors(label)}
    return [label for label in labels if label not in above] or [domain.tree.root]


Columns = Mapping[str, "pa.Array[Any]"]
DIGITS = 4
"""Of a share, after the point."""


def told_domains(domains: Mapping[str, Domain], shown: Rows, columns: Columns) -> dict[str, Any]:
    """What each column may show, of labels those that some row shows, in the order of their letters."""
    found = {}
    for name, domain in domains.items():
        form = domain_form(domain, shown)
        if "labels" in form:
            form["labels"] = _labels(columns[name])
        if "most" in form:
            sizes: Any = pc.max(pc.list_value_length(columns[name]))
            form["most"] = sizes.as_py() or 0
        found[name] = form
    return found


def _labels(column: pa.Array[Any]) -> list[str]:
    whole: Any = column
    values = whole.flatten() if pa.types.is_nested(column.type) else whole
    return sorted(str(label) for label in values.unique().to_pylist() if label is not None)


def told_parts(rows: Sequence[int], shown: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """How many rows show each combination; `shown` has of each column what the rows of every part show.

    `known` are a column's different values, `parts` which of them each combination has.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    for count, values in zip(rows, zip(*shown.values(), strict=True), strict=True):
        if count:
            counts[tuple(_text(value) for value in values)] += int(count)
    known = {name: sorted({key[at] for key in counts}) for at, name in enumerate(shown)}
    places = {name: {text: place for place, text in enumerate(texts)} for name, texts in known.items()}
    combinations = sorted(counts, key=lambda key: [places[name][text] for name, text in zip(shown, key, strict=True)])
    return {
        "rows": [counts[key] for key in combinations],
        "known": {name: [json.loads(text) for text in texts] for name, texts in known.items()},
        "parts": {name: [places[name][key[at]] for key in combinations] for at, name in enumerate(shown)},
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def told_shares(
    domains: Mapping[str, Domain],
    splits: Sequence[Split],
    shares: Mapping[str, NDArray[np.float64]],
    *,
    rows: Sequence[int],
    columns: Columns,
) -> dict[str, Any]:
    """The splits, and the shares from which the rows of each part were drawn; none for parts without rows."""
    cells = {name: _cells(domain, columns[name]) for name, domain in domains.items()}
    filled = np.array(rows)[:, None] > 0
    told = {}
    for name, share in shares.items():
        kept = np.where(filled, share, 0.0)
        told[name] = np.round(kept[:, cells[name]] if name in cells else kept, DIGITS) + 0.0
    return {
        "splits": [_split(split, domains[split.attribute], cells[split.attribute]) for split in splits],
        "shares": {name: share.tolist() for name, share in told.items()},
    }


def _cells(domain: Domain, column: pa.Array[Any]) -> list[int]:
    """The cells that are told of a domain: all bins of a number, of labels those that are shown; missing last."""
    if isinstance(domain, NumberDomain):
        return list(range(domain.size))
    labels = domain.tree.leaves if isinstance(domain, LabelDomain) else domain.cut
    at = {label: place for place, label in enumerate(labels)}
    gone = [domain.size - 1] if domain.missing and isinstance(domain, LabelDomain) else []
    return [*(at[label] for label in _labels(column)), *gone]


def _split(split: Split, domain: Domain, cells: Sequence[int]) -> dict[str, Any]:
    """Which of the told cells answer yes; of sets, one of which of them they hold (null: the set is missing)."""
    if isinstance(domain, ItemDomain):
        test, gone = split.tests[0], len(domain.nodes)
        holds = [place for place, cell in enumerate(cells) if test in domain.paths[cell]]
        return {"attribute": split.attribute, "holds": None if test == gone else holds}
    yes = set(split.tests)
    return {"attribute": split.attribute, "cells": [place for place, cell in enumerate(cells) if cell in yes]}
