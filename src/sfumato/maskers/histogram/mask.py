"""NoisyHistogram: what is learned under differential privacy. Domains are public, everything else is noisy counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.maskers.histogram.boxes import Box
from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain

Ints = NDArray[np.int64]
Rows = Literal["values", "generalized"]


@dataclass(frozen=True, eq=False)
class NoisyHistogram:
    """Parts of the records with the number of rows generated for each, and what the rows of each were drawn from.

    `rows_of` (parts,): rows generated, in the order of the generated table before it is shuffled. `told`: the domains
    as far as rows show them, and what the rows were made of, as plain JSON. `parts_of` gives the part of each record of
    a table (-1: of none), for the holder.
    """

    kind: str
    shown: Rows
    domains: Mapping[str, Domain]
    rows_of: tuple[int, ...]
    told: Mapping[str, Any]
    parts_of: Callable[[Table], Ints] = field(repr=False)

    def files(self) -> dict[str, Any]:
        """The domains and all that was learned, which is noisy."""
        return {f"{self.kind}.json": self.to_json()}

    def apply(self, table: Table, *, unseen: str = "refuse") -> dict[str, pa.Array[Any]]:
        """Refused: rows are generated from noisy counts; applied to raw rows the counts would protect nobody."""
        raise _makes_rows()

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"domains": {}, "rows": list(self.rows_of), **self.told}


@dataclass(frozen=True, eq=False)
class GeneratedRows:
    """A noisy histogram as it is read from a release."""

    kind: str
    form: Mapping[str, Any]

    def files(self) -> dict[str, Any]:
        """As it was written."""
        return {f"{self.kind}.json": self.form}

    def apply(self, table: Table, *, unseen: str = "refuse") -> dict[str, pa.Array[Any]]:
        """Refused: see `NoisyHistogram`."""
        raise _makes_rows()


def _makes_rows() -> RecipeError:
    return RecipeError("apply", "a noisy histogram makes rows of its own and masks none", given="a table",
                       remedy="publish the table under a budget of its own")  # fmt: skip


def domain_form(domain: Domain, shown: Rows) -> dict[str, Any]:
    """What a column may show, as plain JSON: numbers or intervals of a range, labels, or sets of labels."""
    if isinstance(domain, NumberDomain):
        ends = [int(end) if domain.integer else end for end in (domain.low, domain.high)]
        kind = "numbers" if shown == "values" else "intervals"
        return {"kind": kind, "range": ends, "integer": domain.integer, "missing": domain.missing}
    if isinstance(domain, LabelDomain):
        labels = domain.tree.leaves if shown == "values" else domain.tree.labels
        return {"kind": "labels", "labels": list(labels), "missing": domain.missing}
    labels = domain.cut if shown == "values" else (domain.tree.root, *domain.nodes)
    most = domain.most if shown == "values" else len(labels)
    return {"kind": "sets", "labels": list(labels), "most": most, "separator": domain.separator,
            "missing": domain.missing}  # fmt: skip


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
