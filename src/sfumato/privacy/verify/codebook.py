"""codebook.json: of shown values, what they stand for on average; aggregates over at least k records, rounded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sfumato.privacy.verify.dates import iso, moment
from sfumato.privacy.verify.explained import CODEBOOK
from sfumato.privacy.verify.fields import Form, ascending, exact_keys, mapping
from sfumato.privacy.verify.intervals import Shape, ends_of
from sfumato.privacy.verify.rule import SUPPRESSED, tree_file
from sfumato.privacy.verify.trees import labels_below
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    from sfumato.privacy.verify.folder import Folder

MISSING = "(missing)"
FEW = 5  # no aggregate over fewer records goes out, where no claim asks for more
DIGITS = 4  # of a share
HALF = 0.5 * 10**-DIGITS
SIGNIFICANT = 6  # digits of a mean without a declared range
SIZED = ("k_anonymity", "alpha_k", "lkc")  # claims whose k counts records
DAY, SECOND = 10, 19  # characters of a date, of a time to the second
LONG = 1400  # days; in so long a range a mean is told to the day (from 1000 on it is, by its calendar units)
LABELLED = ("generalize", "suppress", "discretize", "region")


def codebook(release: Folder) -> str:
    """It tells of masked columns, in their order, and of values that rows show, in the order of their letters."""
    if CODEBOOK not in release.files:
        return "this release has none"
    form = release.json(CODEBOOK)
    names = [column.name for column in release.certificate.columns if _shows_labels(release, column.name)]
    exact_keys(form, names, CODEBOOK)
    for name in names:
        try:
            _Column.of(release, name).check(mapping(form[name], name))
        except CheckError as error:
            raise CheckError(f"{CODEBOOK}, {name}: {error}") from None
    return f"{len(names)} columns: means inside their intervals, shares of at least k records, rounded"


def _shows_labels(release: Folder, name: str) -> bool:
    kind = next(column.masked for column in release.certificate.columns if column.name == name)
    return kind in LABELLED or (kind == "centroid" and _centroid(release, name).get("kind") == "category")


def _centroid(release: Folder, name: str) -> Form:
    attributes = mapping(release.json("centroids.json").get("attributes"), "attributes")
    return mapping(attributes.get(name), name)


def least(release: Folder, name: str) -> int:
    """The largest k that is claimed of a column: no aggregate over fewer records is told of it."""
    asked = [claim for claim in release.certificate.claims if claim.get("claim") in SIZED]
    sizes = [
        k
        for claim in asked
        if isinstance(on := claim.get("on"), list) and name in on and isinstance(k := claim.get("k"), int) and k > 1
    ]
    return max(sizes, default=FEW)


@dataclass(frozen=True, eq=False)
class _Column:
    """A column: how many records show each value, fewest that may be told of, and how its intervals are made."""

    counts: Mapping[str, int]
    least: int
    shape: Shape | None
    tree: Form | None
    top: str | None
    kind: str

    @classmethod
    def of(cls, release: Folder, name: str) -> _Column:
        """As the release describes it."""
        import polars as pl

        counted = release.table[name].drop_nulls().value_counts()  # of categories, before they are spelled out
        counts = dict(counted.with_columns(pl.col(name).cast(pl.String)).rows())
        kind = next(str(column.masked) for column in release.certificate.columns if column.name == name)
        rule = release.recoding.rules.get(name)
        tree = release.json(tree_file(name)) if kind == "generalize" else None
        return cls(counts, least(release, name), _shape(release, name, kind), tree, rule.top if rule else None, kind)

    def check(self, entries: Form) -> None:
        """Every entry; nothing is told of a column in which few records show some value."""
        ascending(list(entries), "its values")
        if not set(entries) <= set(self.counts):
            raise CheckError("it tells of a value that no row shows")
        if entries and min(self.counts.values()) < self.least:
            raise CheckError("it tells of a column in which some value is shown by fewer records than k")
        for shown, part in entries.items():
            spread = mapping(part, "a value")
            if self.shape is None:
                self._shares(shown, spread)
            else:
                exact_keys(spread, ["mean"], "an interval")
                _mean(spread["mean"], shown, self.shape)

    def _shares(self, shown: str, spread: Form) -> None:
        others = [label for label in spread if label != shown]
        ascending(others, "shares")
        if list(spread)[-1:] != [shown] and shown in spread:
            raise CheckError("what is left over stands last")
        if not others or not self._may_tell(shown, others):
            raise CheckError("it tells shares of labels that the shown value does not stand for")
        shares = [share for share in spread.values() if isinstance(share, float) and 0 < share <= 1]
        if len(shares) != len(spread) or any(round(share, DIGITS) != share for share in shares):
            raise CheckError(f"shares are numbers above 0, of {DIGITS} digits")
        if abs(sum(shares) - 1) > HALF * (len(shares) + 1):
            raise CheckError("shares do not add up to 1")
        if min(shares) * self.counts[shown] < self.least - (HALF * self.counts[shown] + 1e-6):
            raise CheckError("a share is that of fewer records than k")

    def _may_tell(self, shown: str, others: list[str]) -> bool:
        """Labels of a cut are told from its tree; behind * anything may be, and above what was lifted as well."""
        if shown in (self.top, SUPPRESSED):
            return True
        if self.kind == "suppress":
            return False
        if self.tree is not None:
            return set(others) <= labels_below(self.tree, shown)
        braced = shown.startswith("{") and self.kind == "region"
        return not braced or all(label == MISSING or label in shown for label in others)


def _shape(release: Folder, name: str, kind: str) -> Shape | None:
    """How a column's intervals are made; None for labels."""
    if kind == "discretize":
        rules = mapping(release.json("recoding.json").get("attributes"), "attributes")
        return Shape.of(mapping(rules.get(name), name))
    if kind == "region":
        axis = mapping(mapping(release.json("regions.json").get("attributes"), "attributes").get(name), name)
        return Shape.of(axis) if axis.get("kind") == "number" else None
    return None


def _mean(mean: object, shown: str, shape: Shape) -> None:
    if shape.calendar is not None:
        _date(mean, shown, shape)
        return
    if not isinstance(mean, float) or not math.isfinite(mean):
        raise CheckError("a mean is a number")
    ends = ends_of(shown, dates=False)
    low, high = (shape.low, shape.high) if ends is None else ends
    if shape.low is None or shape.high is None:
        step, rounded = abs(mean) * 10 ** (1 - SIGNIFICANT), float(f"{mean:.{SIGNIFICANT}g}")
    else:
        width = float(shape.high) - float(shape.low)
        digits = 3 - math.floor(math.log10(width)) if width > 0 else 3
        step, rounded = 10.0**-digits, round(mean, digits)
    if rounded != mean:
        raise CheckError("a mean has more digits than a thousandth of the range, or than six without a range")
    if (low is not None and mean < float(low) - step) or (high is not None and mean > float(high) + step):
        raise CheckError("a mean lies outside its interval")


def _date(mean: object, shown: str, shape: Shape) -> None:
    """To the day, or in a short range to the second; inside its interval."""
    text = iso(mean) if isinstance(mean, str) else None
    if text is None or text != mean or len(text) not in ((DAY,) if _long(shape) else (DAY, SECOND)):
        raise CheckError("a mean is a date to the day, or in a short range a time to the second")
    ends = ends_of(shown, dates=True)
    low, high = (shape.low, shape.high) if ends is None else ends
    if (low is not None and text < str(low)[: len(text)]) or (high is not None and text[: len(str(high))] > str(high)):
        raise CheckError("a mean lies outside its interval")


def _long(shape: Shape) -> bool:
    first, last = moment(shape.low), moment(shape.high)
    if shape.low is None or first is None or last is None:
        return False
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).days > LONG
