"""What a sweep keeps of each release: how much of the structure survived, and what is risked."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.data.groups import group_numbers
from sfumato.errors import TableError
from sfumato.release.release import Release
from sfumato.structure.released import Shown
from sfumato.structure.structures import Classes

BUNDLED = "bundled:"
CLUSTERS = "f_measure.start"
CLASSES = "purity"
RISK = "prosecutor.highest"
"""The highest chance to pick out a record: 1 over the smallest group on any of the quasi-identifiers."""
WORDS = {
    "f_measure.start": "F-measure of the clusters, found from the centres",
    "f_measure.cold.mean": "F-measure of the clusters, found without the centres",
    "purity": "share of records whose class is the most frequent one among those shown alike",
}


def load(table: str) -> object:
    """A path, or a bundled table by its name."""
    if table.startswith(BUNDLED):
        from sfumato.data.datasets import load as bundled

        return bundled(table.removeprefix(BUNDLED)).table
    return table


def fingerprint(table: str) -> str:
    """What a table is known by: of a file its content, of a bundled one its name and the version."""
    if table.startswith(BUNDLED):
        return f"{table} {version('sfumato')}"
    try:
        with Path(table).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TableError(table, "the table can be read", given=error.strerror or "nothing there",
                         remedy="name the file that the recipe is for") from None  # fmt: skip


def measured(release: Release) -> dict[str, Any]:
    """The figures of one release, as plain JSON."""
    scores = {name: float(score["value"]) for name, score in release.scores["scores"].items()}
    if isinstance(release.recipe.structure, Classes):
        scores[CLASSES] = _purity(release, release.recipe.structure.column)
    return {
        "scores": scores,
        "smallest_group": round(1 / scores[RISK]) if scores.get(RISK) else None,
        "lifted": release.certificate["lifted"],
        "seconds": round(sum(release.timings.values()), 3),
    }


def _purity(release: Release, column: str) -> float:
    shown = release.shown
    masked = [c["name"] for c in release.certificate["table"]["columns"] if c["masked"]]
    groups = group_numbers([Shown.of(shown.column(name)).codes for name in masked], shown.num_rows)
    classes = Shown.of(shown.column(column)).codes
    width = int(classes.max()) + 1
    held = np.bincount(groups * width + classes, minlength=(int(groups.max()) + 1) * width).reshape(-1, width)
    return float(held.max(axis=1).sum() / shown.num_rows)
