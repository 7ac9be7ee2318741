"""What other settings would give: figures of a masked table, with the settings it was made by and what they cost."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MEASURED = {"f_measure.start": "F-measure", "masked_error": "error of a tree"}
"""What is told of the structure in a try: the first of these that was measured."""
CLEARLY = 0.02
"""So much more detail is worth a word."""


@dataclass(frozen=True)
class Try:
    """One table: how many masked columns it has and how many tell nothing, the detail kept, and the structure's figure.

    `changes`: settings as `--set` takes them. `price`: what is given for it, in words.
    """

    changes: tuple[str, ...]
    price: str
    columns: int
    silent: int
    kept: float | None
    figure: str
    value: float | None

    @classmethod
    def of(cls, scores: Mapping[str, Any], changes: Sequence[str] = (), price: str = "") -> Try:
        """From the scores of a table."""
        values = {name: float(score["value"]) for name, score in scores["scores"].items()}
        measured = next((name for name in MEASURED if name in values), "")
        return cls(
            changes=tuple(changes),
            price=price,
            columns=round(values["columns.masked"]),
            silent=round(values["columns.silent"]),
            kept=values.get("information_kept"),
            figure=MEASURED.get(measured, ""),
            value=values.get(measured),
        )

    @property
    def settings(self) -> str:
        """What is typed.

        >>> Try(("privacy.0.k=5",), "", 1, 0, 0.5, "", None).settings
        '--set privacy.0.k=5'
        """
        return " ".join(f"--set {shlex.quote(change)}" for change in self.changes)

    @property
    def figures(self) -> str:
        """What it gives, in a few words.

        >>> Try((), "", 9, 2, 0.5, "F-measure", 0.8).figures
        '2 of 9 columns tell nothing, 50% of the detail is kept, F-measure 0.800'
        """
        told = [f"{self.silent} of {self.columns} columns tell nothing"]
        told += [] if self.kept is None else [f"{self.kept:.0%} of the detail is kept"]
        told += [] if self.value is None else [f"{self.figure} {self.value:.3f}"]
        return ", ".join(told)

    def shows_more_than(self, other: Try) -> bool:
        """Whether fewer columns tell nothing, or clearly more detail is kept."""
        more = (self.kept or 0.0) > (other.kept or 0.0) + CLEARLY
        return self.silent < other.silent or (more and self.silent == other.silent)


@dataclass(frozen=True)
class Tries:
    """Those that show more, the best first; how many were made, on how many records of how many; the table as it is."""

    rows: int
    of_rows: int
    made: int
    as_it_is: Try
    better: tuple[Try, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return asdict(self)

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Tries:
        """As `to_json` wrote it."""
        better = tuple(_try(one) for one in form["better"])
        return cls(form["rows"], form["of_rows"], form["made"], _try(form["as_it_is"]), better)

    @property
    def told(self) -> str:
        """How it was tried, and whether anything shows more, in a sentence."""
        whom = (
            f"all {self.rows:,}" if self.rows == self.of_rows else f"a sample of {self.rows:,} of the {self.of_rows:,}"
        )
        found = (
            f"{len(self.better)} of {self.made} other settings show more"
            if self.better
            else f"none of {self.made} other settings shows more: ask for fewer quasi-identifiers, or name taxonomies"
        )
        less = (
            "" if self.rows == self.of_rows else " Fewer records show less at the same k: all figures are the sample's."
        )
        return f"Tried on {whom} records, without writing anything: {found}.{less}"


def _try(form: Mapping[str, Any]) -> Try:
    return Try(**{**form, "changes": tuple(form["changes"])})
