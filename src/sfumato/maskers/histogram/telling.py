"""What a generated table is explained by: its domains as far as rows show them, and what the rows were made of.

All of it is made of the generated rows and of what they were drawn from: noisy counts. A label that no row shows, or a
part without rows, is left out, and everything stands in one order, so that a file can hold nothing else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.maskers.histogram.boxes import Split
from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain
from sfumato.maskers.histogram.mask import Rows, domain_form

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
            form["most"] = max((len(items) for items in columns[name].to_pylist() if items is not None), default=0)
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
    """Which of the told cells answer yes; of sets, which label they hold (null: the set is missing)."""
    if isinstance(domain, ItemDomain):
        names = [*domain.nodes, None]
        return {"attribute": split.attribute, "holds": names[split.tests[0]]}
    yes = set(split.tests)
    return {"attribute": split.attribute, "cells": [place for place, cell in enumerate(cells) if cell in yes]}
