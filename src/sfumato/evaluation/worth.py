"""Whether a masked table is worth having, in one sentence: what columns and clusters still tell.

Everything is read off the scores that a release keeps for its holder, and is for the holder's eyes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.display import Card, Grid
from sfumato.errors import quoted
from sfumato.evaluation.certainty import NEARLY, NO_SECRET, OF_ITEMS
from sfumato.evaluation.class_floor import HALF_A_POINT, left_out
from sfumato.evaluation.columns import ColumnKept, kept_heading, lost_distributions, moved, shows_one_value
from sfumato.evaluation.relations import Relations
from sfumato.evaluation.scores import ALONE_UNMASKED, FOLLOWED, FOUND_UNMASKED, RELATIONS

HALF = 0.5
NAMED = 3
"""Columns that a sentence names; of more it tells how many."""
LITTLE = 0.1
"""A table whose columns keep less of their detail than this is hardly worth having, however many values they show."""

COUNTS = (
    "counts by a column, and means by it, are exact where all rows show one value of it; elsewhere "
    "recipients estimate them, and even which label is the commonest can change: where they matter, ask for detail: "
    "{COLUMN: 1} (partition, top_down)"
)
"""What a card says of columns that show sets or intervals."""


@dataclass(frozen=True)
class Lost:
    """A raw cluster that is not found again: less than half of it is together, or more than half beside it are others.

    `together`: the share of its records in the cluster that is most like it; `own`: its share of that one.
    """

    number: int
    size: int
    together: float
    own: float

    def __str__(self) -> str:
        told = (
            f"{self.together:.0%} of them are still together"
            if self.together < HALF
            else f"they are found among others, of whom they are {self.own:.0%}"
        )
        return f"cluster {self.number} ({self.size:,} records): {told}"


@dataclass(frozen=True)
class GivenAway:
    """A secret that groups give away: of so many records 90 % or more of their group have the same value.

    `bound`: the share that the recipe bounds it by, if any. `of_items`: of a set, of which an item is told.
    """

    name: str
    share: float
    bound: float | None = None
    of_items: bool = False

    def __str__(self) -> str:
        bound = "l_diversity of kind items with c" if self.of_items else "confidence_bound"
        ask = f"ask for {'an' if self.of_items else 'a'} {bound}"
        if self.bound is not None and self.bound < NEARLY:
            ask = f"let the {bound} be on every masked column"
        elif self.bound is not None:
            ask = f"ask for a lower {'c' if self.of_items else bound} than {self.bound:g}"
        what = f"an item of {self.name}" if self.of_items else self.name
        return f"{what} can be told with 90 % certainty or more for {self.share:.0%} of the records: {ask}"


def given_away(scores: Mapping[str, Any]) -> tuple[GivenAway, ...]:
    """Secrets that are told of many records."""
    return tuple(
        GivenAway(one["attribute"], one["nearly_certain"], one.get("bound"), OF_ITEMS in one)
        for one in scores.get("certain", ())
        if one.get("given_away")
    )


@dataclass(frozen=True, repr=False)
class Worth:
    """What a masked table still tells: its columns, and which of its clusters are found again.

    `helped`: clusters are looked for from the centres that go along; else without help. `nothing`: the share of the
    rows for which no masked column shows anything, where that is much. `given_away`: secrets that groups give away of
    many records. `minded`: what else must be known to read it: clusters that one or two columns decide, classes that
    even the raw table does not tell, or that are told as well without the masked columns, or by groups. `alone`: the
    share of the rows that are alone with what goes out as it is, where that is much. `unmasked`: columns that go out as
    they are, where the clusters are found from them alone. `relations`: of generated tables, which of those between
    columns are kept; None where the raw table shows none clearly.
    """

    columns: tuple[ColumnKept, ...]
    clusters: int = 0
    lost: tuple[Lost, ...] = ()
    helped: bool = False
    nothing: float = 0.0
    given_away: tuple[GivenAway, ...] = ()
    minded: tuple[str, ...] = ()
    alone: float = 0.0
    unmasked: tuple[str, ...] = ()
    relations: Relations | None = None

    @classmethod
    def of(cls, scores: Mapping[str, Any], *, centres: bool) -> Worth:
        """From the scores of a release; `centres`: those of its clusters go along."""
        columns = tuple(ColumnKept.from_json(form) for form in scores.get("columns", ()))
        helped = centres and "clusters_from_start" in scores
        rows: Sequence[Mapping[str, Any]] = scores.get("clusters_from_start" if helped else "clusters", ())
        lost = tuple(
            Lost(int(row["cluster"]), int(row["size"]), float(row["recall"]), float(row["precision"]))
            for row in rows
            if row["recall"] < HALF or row["precision"] < HALF
        )
        untold = tuple(_untold({name: float(one["value"]) for name, one in scores.get("scores", {}).items()}))
        return cls(
            columns,
            len(rows),
            lost,
            helped,
            nothing=float(scores.get("nothing_shown", 0.0)),
            given_away=given_away(scores),
            minded=(*_following(scores), *untold, *_plainly_told(scores)),
            alone=float(scores.get(ALONE_UNMASKED, 0.0)),
            unmasked=tuple(scores.get(FOUND_UNMASKED, ())),
            relations=Relations.from_json(scores[RELATIONS]) if RELATIONS in scores else None,
        )

    @property
    def silent(self) -> tuple[ColumnKept, ...]:
        """Columns that show one value for nearly everybody."""
        return tuple(column for column in self.columns if column.silent)

    @property
    def kept(self) -> float | None:
        """The detail that columns which tell something keep, on average; None where that has no measure."""
        if moved(self.columns):
            return None
        found = [column.kept for column in self.columns if column.kept is not None and not column.silent]
        return float(np.mean(found)) if found else None

    @property
    def hardly(self) -> bool:
        """Whether it is hardly worth handing over: most columns tell nothing, or all together next to nothing."""
        all_kept = [column.kept for column in self.columns if column.kept is not None]
        poor = bool(all_kept) and float(np.mean(all_kept)) < LITTLE
        return bool(self.columns) and (2 * len(self.silent) > len(self.columns) or poor)

    @property
    def but(self) -> tuple[str, ...]:
        """What must be known before the table is handed over, though every claim holds: the gravest first."""
        found = [*map(str, self.given_away)]
        found += [f"{self.alone:.0%} of the rows are alone with what goes out as it is"] if self.alone else []
        found += [self._bare_clusters()] if self.unmasked else []
        found += [f"most clusters are lost: {self._clusters()}"] if 2 * len(self.lost) > self.clusters else []
        found += [self._unrelated(self.relations)] if self.relations and self.relations.mostly_lost else []
        return (*found, *([self._poor()] if self.hardly else []))

    def sentence(self, state: str) -> str:
        """The verdict for somebody who has no time. `state`: such as "Verified".

        >>> Worth((), clusters=6).sentence("Verified")
        'Verified. 6 of 6 clusters are found again.'
        """
        told = self.clusters and not self.unmasked and 2 * len(self.lost) <= self.clusters
        found_again = [self._clusters()] if told else []
        clusters, but = [*self._nothing(), *found_again, *self._related(), *self.minded], self.but
        if but or not self.columns:
            first = f"{state}, but {'; and '.join(but)}." if but else f"{state}."
            rest = [*([self._telling()] if self.columns and not self.hardly else []), *clusters]
            return " ".join([first, *(f"{one[:1].upper()}{one[1:]}." for one in rest)])
        return f"{state}. {'; '.join([self._telling(), *clusters])}."

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        """The verdict's sentences, the clusters that are lost, and what each masked column keeps."""
        told = [self._telling()] if self.columns else []
        told += [self._clusters()] if self.clusters and not self.unmasked else []
        told += self._related()
        lines = [*self.but, *self._nothing(), *told, *self.minded, *(f"lost: {one}" for one in self.lost)]
        counted = any(one.alone is not None for one in self.columns)
        lines += [COUNTS] if any(one.alone is not None and one.alone < 1 for one in self.columns) else []
        rows = [
            [one.name, one.before, one.after, one.kept_or_off, one.share, *[one.alone] * counted]
            for one in self.columns
        ]
        kept = kept_heading(self.columns)
        more = ["rows with one value"] * counted
        heads = ("column", "values before", "values shown", kept, "share of the commonest", *more)
        title = "Worth: what the masked table still tells"
        return Card(title, lines, [Grid(heads, rows)] if rows else [], state="poor" if self.but else "good")

    def _poor(self) -> str:
        silent, total = len(self.silent), len(self.columns)
        said = "this table is hardly worth handing over"
        if 2 * silent <= total:
            return f"its {total} masked columns keep next to nothing of their detail: {said}"
        whom = "everybody" if all(column.share == 1 for column in self.silent) else "nearly everybody"
        return f"{silent} of {total} masked columns show one value for {whom}: {said}"

    def _bare_clusters(self) -> str:
        one, few = len(self.unmasked) == 1, len(self.unmasked) <= NAMED
        columns = ", ".join(map(quoted, self.unmasked)) if few else f"{len(self.unmasked)} columns"
        said = f"{columns} alone, which {'goes out as it is' if one else 'go out as they are'}"
        return f"the clusters are found from {said}: that they are found again says nothing of the masking"

    def _unrelated(self, relations: Relations) -> str:
        flat = "comparisons of one column by another come out too flat"
        return f"{relations}: {flat}{f'; {relations.advice}' if relations.advice else ''}"

    def _related(self) -> list[str]:
        """What became of relations between columns, where it is not said at the front."""
        if self.relations is None or self.relations.mostly_lost:
            return []
        advice = self.relations.advice
        return [f"{self.relations}{f': {advice}' if advice else ''}"]

    def _telling(self) -> str:
        lost = [column for column in self.columns if column.lost and not column.silent]
        total, telling = len(self.columns), len(self.columns) - len(self.silent) - len(lost)
        these = "this one" if telling == 1 else f"these {telling}"
        whose = f"the detail of {these}" if self.silent else "their detail"
        detail = "" if self.kept is None else f" ({self.kept:.0%} of {whose})"
        silent = f"; {shows_one_value(self.silent)}" if self.silent else ""
        drawn = f"; {lost_distributions(lost)}" if lost else ""
        return f"{telling} of {total} masked columns still tell something{detail}{silent}{drawn}"

    def _nothing(self) -> list[str]:
        return [f"for {self.nothing:.0%} of the rows nothing is shown in any masked column"] if self.nothing else []

    def _clusters(self) -> str:
        how = " from their centres" if self.helped else ""
        return f"{self.clusters - len(self.lost)} of {self.clusters} clusters are found again{how}"


def _following(scores: Mapping[str, Any]) -> Iterator[str]:
    """Clusters that are found again whatever becomes of all other columns."""
    names = scores.get(FOLLOWED, ())
    if names and FOUND_UNMASKED not in scores:
        one = len(names) == 1
        yield (
            f"mind: {' and '.join(map(quoted, names))} nearly alone {'decides' if one else 'decide'} the clusters: "
            "that they are found again says little of the other columns"
        )


def _plainly_told(scores: Mapping[str, Any]) -> Iterator[str]:
    """Classes that groups tell of many records, and that nobody declared a secret."""
    for one in scores.get("certain", ()):
        if one.get(NO_SECRET):
            yield (
                f"note: {one['attribute']}, which is no secret by the recipe, is certain of {one['certain']:.0%} of "
                f"the records by their group, and to 90 % or more of {one['nearly_certain']:.0%}: if it is one, "
                "declare it sensitive and ask for a confidence_bound"
            )


def _untold(figures: Mapping[str, float]) -> Iterator[str]:
    """Classes that a tree cannot tell from the raw table: equal errors do not say that masking cost nothing.
    And those that it tells as well without the masked columns.

    >>> [*_untold({"baseline_error": 0.1, "commonest_error": 0.2})]
    []
    """
    names = ("baseline_error", "commonest_error")
    if all(name in figures for name in names) and figures[names[0]] > figures[names[1]] - HALF_A_POINT:
        yield (
            f"mind: a tree makes as many errors in the raw table ({figures[names[0]]:.3f}) as naming the commonest "
            "class for everybody: errors say nothing of what masking cost; look at those where every class counts alike"
        )
    elif (better := left_out(figures)) is not None:
        yield better
