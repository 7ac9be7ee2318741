"""What an evaluation says: a Score is one figure, what it means, who may see it; an Estimate a share with its limits.

Shares and their differences have 95 % confidence intervals. `Judged` is all that was measured of a masked table,
`headline` the figures to look at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from sfumato.display import Card, Grid
from sfumato.evaluation.class_floor import left_out
from sfumato.evaluation.relations import Relations
from sfumato.structure.released_groups import Codebook
from sfumato.structure.space import Space

OWN = "own."
"""Before the names of figures of the holder's own choice."""
SMALLEST, LARGEST = 100, 200_000
"""Rows, raw and generated, between which classes are judged by a tree: fewer tell nothing, more take long."""
FOUND_UNMASKED = "found_unmasked"
"""Under which an evaluation names the columns that go out as they are, where the clusters are found from them alone."""
ALONE_UNMASKED = "alone_unmasked"
"""Under which an evaluation tells the share of rows that are alone with what goes out as it is, where it is large."""
FOLLOWED = "followed"
"""Under which an evaluation names the one or two columns that decide the clusters of most records."""
RELATIONS = "relations"
"""Under which an evaluation tells which relations between columns a generated table keeps."""
Z = 1.959964
"""Two-sided 95 %."""
HEADLINE = {
    "f_measure.nearest": "F-measure of raw records at the centres found in the generated table",
    "match_point.nearest": "match point, likewise",
    "f_measure.parts": "F-measure of raw records with the cluster of their part",
    "relations.kept": "clear relations between columns that keep at least half of their strength",
    "cost_ratio": "k-means cost of those centres over that of the raw ones (1 is best)",
    "f_measure.ceiling": "  raw data clustered again with another seed",
    "f_measure.no_data": "  the floor: no data at all, only the declared domains",
    "f_measure.start": "F-measure of the clusters found from the raw clusters' centres",
    "match_point.start": "match point, likewise",
    "agreement": "agreement: records whose nearest raw centre is unchanged",
    "f_measure.cold1": "F-measure of clusters found without help, with one start",
    "f_measure.cold10": "  with the best of ten starts",
    "f_measure.cold.mean": "F-measure of clusters found without the centres",
    "f_measure.ceiling.mean": "  raw data clustered again with another seed",
    "distortion.f_measure.start": "  masking blind to clusters, from its centres",
    "distortion.agreement": "  agreement of masking blind to clusters",
    "f_measure.floor.top": "  the floor: every masked attribute at its top",
    "f_measure.floor.random": "  the floor: random labels",
    "masked_error": "error of a tree learned from the masked table (AE), on rows held out",
    "baseline_error": "  learned from the raw table (BE)",
    "removed_error": "  learned without the masked attributes (UE)",
    "commonest_error": "  the floor: the commonest class for everybody",
    "masked_error.alike": "error if every class counts alike, masked table (of two, guessing has 0.5)",
    "baseline_error.alike": "  learned from the raw table, likewise",
    "certainty_penalty": "information lost (NCP: 0 nothing, 1 everything)",
    "information_loss": "information lost (squared distance of shown numbers: 0 nothing, 1 everything)",
    "known_records": "risk: how many known people undo the mask for everybody else",
    "security": "Sec of the paper, which is no measure of risk (a translation has 0)",
    "prosecutor.highest": "risk: the chance to pick out the most exposed record",
    "marketer": "risk: the share of records matched on average",
    "prosecutor.highest.union": "  if all quasi-identifiers are known at once (nothing is claimed of that)",
}


class ScoreForm(TypedDict):
    """A score as it is written to JSON."""

    value: float
    publishable: bool
    meaning: str


@dataclass(frozen=True)
class Score:
    """A figure with its meaning.

    `publishable`: the figure follows from what is released, so whoever has the release can find it too.
    Otherwise it was measured against the raw table and is for the holder's eyes only.

    >>> Score("f_measure", 0.85, publishable=False, meaning="how well clusters are found again").to_json()
    {'value': 0.85, 'publishable': False, 'meaning': 'how well clusters are found again'}
    """

    name: str
    value: float
    publishable: bool
    meaning: str

    def to_json(self) -> ScoreForm:
        """What is written of it."""
        return {"value": self.value, "publishable": self.publishable, "meaning": self.meaning}


def scores_to_json(scores: Iterable[Score], *, publishable_only: bool = False) -> dict[str, ScoreForm]:
    """Scores by name; with `publishable_only` the part that may go along with a release."""
    return {score.name: score.to_json() for score in scores if score.publishable or not publishable_only}


@dataclass(frozen=True)
class Estimate:
    """A share, or a difference of shares, between its limits.

    >>> print(Estimate(0.147, 0.141, 0.153))
    14.70 % (14.10 to 15.30)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.2f} % ({100 * self.low:.2f} to {100 * self.high:.2f})"


def share(hits: NDArray[np.bool_]) -> Estimate:
    """The share of hits, with Wilson's interval.

    >>> share(np.array([True, False, False, False])).value
    0.25
    """
    n, p = len(hits), float(hits.mean())
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return Estimate(p, middle - reach, middle + reach)


def difference(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Estimate:
    """Share of the first less share of the second, over the same rows, with Agresti and Min's interval (2005).

    Rows on which both agree cancel out, so the interval is narrower than the two shares' own. Rows are taken
    as independent and the trained classifiers as given: it does not tell how much another training set matters.

    >>> difference(np.array([True, True, False]), np.array([True, False, False])).value
    0.3333333333333333
    """
    n = len(first)
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    b, c, m = only_first + 0.5, only_second + 0.5, n + 2
    reach = Z * sqrt(max(b + c - (b - c) ** 2 / m, 0.0)) / m
    middle = (b - c) / m
    return Estimate((only_first - only_second) / n, middle - reach, middle + reach)


@dataclass(frozen=True, eq=False)
class Judged:
    """What was measured: `scores` for the holder's eyes; `released` and `space` are aggregates that may go along.

    `again` (rows,): the clusters found again in the masked table, for the holder's eyes; None for classes.
    """

    scores: Mapping[str, Any]
    released: Codebook
    space: Space | None
    again: NDArray[Any] | None = None


NOTHING = "one value shown"
MOVED = "moved: {:.0%} lost"
"""What is said of a column whose numbers are others: how much of its squared distances is lost."""


OFF = "{:.0%} off"
"""What is said of a generated column: how far its shares are from the raw ones."""
OFF_MEANS = (
    "Off: of labels the share of the rows that would have to show another one for their shares to be the raw table's, "
    "of numbers the largest difference of cumulative shares. Each column by itself: it says nothing of relations."
)


class Scores(dict[str, Any]):
    """Everything that was measured, as plain JSON; "headline" has the first figures to look at, "scores" all of them.

    For the holder's eyes only.
    """

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        figures = [[one["says"].strip(), one["value"]] for one in self.get("headline", ())]
        kept = ("column", "values_before", "values_after", "information_kept", "one_value_share")
        columns = [[one.get(key) for key in kept] for one in self.get("columns", ())]
        for row, one in zip(columns, self.get("columns", ()), strict=True):
            if one.get("tells_nothing"):
                row[3] = NOTHING
            elif one.get("distance_lost") is not None:
                row[3] = MOVED.format(one["distance_lost"])
            elif one.get("distribution_off") is not None:
                row[3] = OFF.format(one["distribution_off"])
        grids = [Grid(("figure", "value"), figures, title="What survived, and what is risked")] if figures else []
        if columns:
            drawn = any(one.get("distribution_off") is not None for one in self["columns"])
            heads = ("column", "values before", "after", "drawn" if drawn else "detail kept", "rows with one value")
            grids.append(Grid(heads, columns, title="What the masked columns still tell"))
        many = len(self.get("scores", ()))
        lines = ["For your eyes only: they compare with the raw table.", f'["scores"] has all {many} figures by name.']
        lines += [OFF_MEANS] if any("distribution_off" in one for one in self.get("columns", ())) else []
        if RELATIONS in self:
            related = str(Relations.from_json(self[RELATIONS]))
            lines.append(f"{related[:1].upper()}{related[1:]}.")
        said = left_out({name: float(one["value"]) for name, one in self.get("scores", {}).items()})
        lines += [] if said is None else [f"{said[:1].upper()}{said[1:]}."]
        return Card("Evaluation", lines, grids)


def headline(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """The figures to look at first, in a fixed order; of a mean it is said of how many, for other runs take more."""
    found = {score.name: score for score in scores}
    own = {name: score.meaning for name, score in found.items() if name.startswith(OWN) and not name.endswith(".floor")}
    return [
        {"name": name, "says": f"{says}{_of_how_many(found[name])}", "value": found[name].value}
        for name, says in {**HEADLINE, **own}.items()
        if name in found
    ]


def _of_how_many(score: Score) -> str:
    """
    >>> _of_how_many(Score("f_measure.cold.mean", 0.8, False, "how well; from cold starts; mean of 10"))
    ', mean of 10 seeds'
    >>> _of_how_many(Score("f_measure.ceiling.mean", 0.8, False, "how well; mean of 1"))
    ', one seed'
    """
    last = score.meaning.rpartition("; ")[2]
    if not last.startswith("mean of "):
        return ""
    return ", one seed" if last == "mean of 1" else f", {last} seeds"
