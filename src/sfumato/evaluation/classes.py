"""How well a class can still be told from a masked table: the errors of 002 section 5, on held-out rows.

BE, the baseline error, is a classifier's on raw rows; AE, the anonymity error, on masked rows; UE, the upper
error, on rows without the masked attributes. AE - BE is what masking costs, UE - BE what the masked
attributes are worth.

Where a class is rare, naming the commonest one for everybody makes few errors and tells nothing. So the error of doing
that stands beside them, and a second pair of errors in which every class counts alike.

Two ways to get there. `judge_classes`: the table was masked as a whole, the recipient splits it (5.1).
`judge_masker`: the mask is learned from the training rows and applied to the test rows (5.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.counting import Engine
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.table import AnyColumn, Table, narrow
from sfumato.errors import TableError
from sfumato.evaluation.class_floor import TESTED
from sfumato.evaluation.classifiers import classifier as classifier_named
from sfumato.evaluation.scores import Estimate, Score, difference, share
from sfumato.evaluation.training import Codes, Feature, Part, leaking, raw_features, shown_features, usable
from sfumato.events import watched
from sfumato.maskers.masker import Labels, Masker, Objective, Task
from sfumato.privacy.requirements import Requirement

Wrong = NDArray[np.bool_]
"""(tested rows,): whether each was misclassified."""
FEW = 10
"""Rows of a class that are learned from in any case."""
ALIKE = "every class counting alike: the mean of the classes' own errors, learned from as many rows of each"


@dataclass(frozen=True)
class ClassReport:
    """The three errors of one classifier, and what masking and removing cost, each with a 95 % interval.

    `commonest`: the error of naming the commonest class for everybody: a classifier that makes as many says nothing.
    `masked_alike`, `raw_alike`: the mean of the classes' own errors, of a classifier that learned from as many rows of
    each class; with two classes guessing makes half.
    """

    classifier: str
    tested: int
    baseline: Estimate
    masked: Estimate
    removed: Estimate
    masking_costs: Estimate
    removing_costs: Estimate
    commonest: Estimate
    masked_alike: float
    raw_alike: float

    def scores(self) -> list[Score]:
        """For the holder's report."""
        told = {
            "baseline_error": (self.baseline, "errors of a classifier learned from raw rows (BE)"),
            "masked_error": (self.masked, "errors of a classifier learned from masked rows (AE)"),
            "removed_error": (self.removed, "errors without the masked attributes (UE)"),
            "commonest_error": (self.commonest, "errors of naming the commonest class for everybody"),
            "masking_costs": (self.masking_costs, "AE - BE, what masking costs"),
            "removing_costs": (self.removing_costs, "UE - BE, what the masked attributes are worth"),
        }
        return [
            *(
                Score(
                    name,
                    estimate.value,
                    publishable=name in ("masked_error", "removed_error", "commonest_error"),
                    meaning=f"{what}; {self.classifier}, {self.tested} rows held out, {estimate}",
                )
                for name, (estimate, what) in told.items()
            ),
            Score("masked_error.alike", self.masked_alike, publishable=True, meaning=f"AE, {ALIKE}"),
            Score("baseline_error.alike", self.raw_alike, publishable=False, meaning=f"BE, {ALIKE}"),
            Score(TESTED, float(self.tested), publishable=False, meaning="rows held out, of which errors are shares"),
        ]


@dataclass(frozen=True)
class Alike:
    """The mean of the classes' own errors, learned from raw and from masked rows."""

    raw: float
    masked: float


def report(
    classifier: object, *, raw: Wrong, masked: Wrong, removed: Wrong, commonest: Wrong, alike: Alike
) -> ClassReport:
    """Errors and differences on the same tested rows."""
    name = classifier if isinstance(classifier, str) else type(classifier).__name__
    return ClassReport(
        classifier=name,
        tested=len(raw),
        baseline=share(raw),
        masked=share(masked),
        removed=share(removed),
        masking_costs=difference(masked, raw),
        removing_costs=difference(removed, raw),
        commonest=share(commonest),
        masked_alike=alike.masked,
        raw_alike=alike.raw,
    )


def class_codes(table: Table, column: str) -> Codes:
    """(rows,): the class of each row, 0..n-1; a class is there in every row, and there are at least two."""
    table.schema.require([column], "class")
    found = table.column(column)
    if found.missing:
        raise TableError(
            column,
            "every row has a class",
            given="rows without one",
            remedy=f"leave them out (missing: {{{column}: drop}}) or fill them in",
        )
    codes = np.unique(found.codes, return_inverse=True)[1].astype(np.int64)
    if int(codes.max()) == 0:
        raise TableError(
            column,
            "a class column has at least two values",
            given="one value in the whole table",
            remedy="choose another class column",
        )
    return codes


def wrong(features: Sequence[Feature], classes: Codes, parts: Sequence[Part], classifier: object) -> Wrong:
    """Which of the held-out rows are misclassified, part after part."""
    if not features:
        return np.concatenate([_by_majority(classes, part) for part in parts])
    learn = classifier_named(classifier)
    return np.concatenate(
        [learn(features, classes, part.train, part.test) != classes[part.test] for part in watched(parts)]
    )


def _by_majority(classes: Codes, part: Part) -> Wrong:
    found: Wrong = classes[part.test] != np.bincount(classes[part.train]).argmax()
    return found


def alike_error(
    features: Sequence[Sequence[Feature]], classes: Codes, parts: Sequence[Part], classifier: object
) -> float:
    """The mean of the classes' own errors, part after part, each with features of its own.

    It is learned from as many rows of each class, so that a rare class is worth telling.
    """
    pairs = [
        (own, replace(part, train=_as_many(classes, part.train))) for own, part in zip(features, parts, strict=True)
    ]
    missed = np.concatenate([wrong(own, classes, [part], classifier) for own, part in pairs])
    tested = np.concatenate([classes[part.test] for part in parts])
    held = np.bincount(tested)
    return float((np.bincount(tested, weights=missed)[held > 0] / held[held > 0]).mean())


def _as_many(classes: Codes, rows: Codes) -> Codes:
    """Of each class as many of these rows as the rarest has, but for a few that are always taken, evenly over them."""
    held = np.bincount(classes[rows])
    fewest = max(int(held[held > 0].min()), FEW)
    kept = [np.flatnonzero(classes[rows] == one) for one in np.flatnonzero(held)]
    spread = [at[np.linspace(0, len(at) - 1, min(fewest, len(at))).astype(np.int64)] for at in kept]
    return rows[np.sort(np.concatenate(spread))]


def judge_classes(
    table: Table,
    masked: Masked,
    column: str,
    *,
    parts: Sequence[Part],
    classifier: object = "tree",
    attributes: Sequence[str] | None = None,
) -> ClassReport:
    """Judge one masked table: train on some of its rows, test on others (002 section 5.1).

    `masked` are the masked columns, in the table's row order. `attributes`: what a classifier may use, every
    number and category but the class unless named.
    """
    classes, names = class_codes(table, column), usable(table, column, attributes)
    shown = checked(shown_features(table, masked, names), table, masked)
    left = [feature for feature in shown if feature.name not in masked]
    raw = raw_features(table, names)
    found = [wrong(each, classes, parts, classifier) for each in watched([raw, shown, left, []])]
    alike = [alike_error([each] * len(parts), classes, parts, classifier) for each in watched([raw, shown])]
    return report(classifier, raw=found[0], masked=found[1], removed=found[2], commonest=found[3], alike=Alike(*alike))


def accuracy_with(
    table: Table,
    column: str,
    *,
    parts: Sequence[Part],
    classifier: object = "tree",
    attributes: Sequence[str] | None = None,
) -> Objective:
    """A measure of masked columns, for maskers that try several ways: the share of held-out rows told right.

    Choosing by it uses the held-out rows: errors reported afterwards must come from rows outside `parts`.
    """
    classes, names = class_codes(table, column), usable(table, column, attributes)

    def accuracy(masked: Masked) -> float:
        return 1.0 - float(wrong(shown_features(table, masked, names), classes, parts, classifier).mean())

    return accuracy


def judge_masker(
    table: Table,
    masker: Masker,
    requirements: Sequence[Requirement],
    column: str,
    *,
    engine: Engine,
    parts: Sequence[Part],
    classifier: object = "tree",
) -> ClassReport:
    """Judge a way of masking: each part's mask is learned from its training rows (002 section 5.2).

    Values of test rows that the mask has never seen are shown at the top of their attribute.
    """
    classes, names = class_codes(table, column), usable(table, column, None)
    asked = {name for requirement in requirements for name in requirement.on}
    shown = [
        masked_apart(table, masker, requirements, classes, engine=engine, part=part, names=names)
        for part in watched(parts)
    ]
    found = [wrong(own, classes, [part], classifier) for own, part in zip(shown, parts, strict=True)]
    raw = raw_features(table, names)
    alike = [alike_error(each, classes, parts, classifier) for each in ([raw] * len(parts), shown)]
    return report(
        classifier,
        raw=wrong(raw, classes, parts, classifier),
        masked=np.concatenate(found),
        removed=wrong([f for f in raw if f.name not in asked], classes, parts, classifier),
        commonest=wrong([], classes, parts, classifier),
        alike=Alike(*alike),
    )


def masked_apart(
    table: Table,
    masker: Masker,
    requirements: Sequence[Requirement],
    classes: Codes,
    *,
    engine: Engine,
    part: Part,
    names: Sequence[str],
) -> list[Feature]:
    """Features of a table whose test rows the masker has never seen."""
    masked = mask_apart(table, masker, requirements, classes, engine=engine, part=part)
    return checked(shown_features(table, masked, names), table, masked)


def mask_apart(
    table: Table,
    masker: Masker,
    requirements: Sequence[Requirement],
    classes: Codes,
    *,
    engine: Engine,
    part: Part,
) -> Masked:
    """What the whole table shows: training rows masked as a table of their own, test rows by their mask."""
    n = int(classes.max()) + 1
    learned_from = rows_of(table, part.train)
    labels = Labels(narrow(classes[part.train], n), n, told_in_part=True)
    task = Task(learned_from, labels, tuple(requirements), engine)
    outcome = masker.mask(task)
    applied = outcome.mask.apply(rows_of(table, part.test), unseen="suppress")
    both = ((name, column, applied[name]) for name, column in outcome.masked.items())
    return Masked.of({name: _joined(train, test, part, table.rows) for name, train, test in both})


def rows_of(table: Table, rows: Codes) -> Table:
    """A table of some rows, in codes of its own: values that only other rows have are not in it."""
    return encode(table.to_arrow().take(pa.array(rows, type=pa.int64())), table.schema, origin=table.origin)


def _joined(train: AnyColumn, test: AnyColumn, part: Part, rows: int) -> pa.Array[Any]:
    order = np.full(rows, len(part.train) + len(part.test), dtype=np.int64)
    order[part.train] = np.arange(len(part.train))
    order[part.test] = len(part.train) + np.arange(len(part.test))
    both = pa.concat_arrays([train.decode().cast(pa.string()), test.decode().cast(pa.string())])
    return both.take(pa.array(order, type=pa.int64(), mask=order == len(both)))


def checked(features: list[Feature], table: Table, masked: Masked) -> list[Feature]:
    """The features, if none of them tells more than what is released."""
    found = leaking(features, table, masked)
    if found:
        raise TableError(
            found[0],
            "a classifier sees released values only",
            given="a feature that tells more",
            remedy="build features with shown_features",
        )
    return features
