"""codebook.json: of shown values, or of groups, what they stand for on average; aggregates over at least k records,
rounded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sfumato.privacy.verify.explained import extents
from sfumato.privacy.verify.explained.groups import Groups, by_groups, entries_of, groups_of
from sfumato.privacy.verify.explained.regions import members
from sfumato.privacy.verify.explained.shown import CODEBOOK, told
from sfumato.privacy.verify.explained.trees import labels_below, nodes, tree_columns, tree_file
from sfumato.privacy.verify.fields import Form, ascending, exact_keys, mapping, short
from sfumato.privacy.verify.intervals import SUPPRESSED, Shape, ends_of
from sfumato.privacy.verify.tallies import text_counts
from sfumato.privacy.verify.values import iso, moment
from sfumato.privacy.verify.verdict import CheckError, Idle

if TYPE_CHECKING:
    import polars as pl

    from sfumato.privacy.verify.folder import Folder

MISSING = "(missing)"
FEW = 5  # no aggregate over fewer records goes out, where no claim asks for more
DIGITS = 4  # of a share
HALF = 0.5 * 10**-DIGITS
SIGNIFICANT = 6  # digits of a mean without a declared range
SIZED = ("k_anonymity", "alpha_k", "lkc")  # claims whose k counts records
DAY, SECOND = 10, 19  # characters of a date, of a time to the second
LONG = 1400  # days; in so long a range a mean is told to the day (from 1000 on it is, by its calendar units)
LABELLED = ("generalize", "suppress", "discretize", "region", "extent")


def codebook(release: Folder) -> str:
    """It tells of masked columns, in their order, and of values that rows show, in the order of their letters."""
    if CODEBOOK not in release.files:
        if any(column.told for column in release.certificate.columns):
            raise CheckError("the certificate lists labels that a codebook tells of, and there is none")
        return Idle("this release has none")
    form = release.json(CODEBOOK)
    names = [column.name for column in release.certificate.columns if _shows_labels(release, column.name)]
    if by_groups(form):
        return _of_groups(release, form, names)
    exact_keys(form, names, CODEBOOK)
    for name in names:
        try:
            column = _Column.of(release, name)
            column.check(mapping(form[name], name))
            _borne_out(release, column, name)
        except CheckError as error:
            raise CheckError(f"{CODEBOOK}, {name}: {error}") from None
    return f"{len(names)} columns: means inside their intervals, shares of at least k records, rounded"


def _of_groups(release: Folder, form: Form, names: list[str]) -> str:
    """It tells of masked columns, in their order, and of every group that the rows show, in order."""
    exact_keys(form, ["groups", "columns"], CODEBOOK)
    columns = mapping(form["columns"], "columns")
    exact_keys(columns, names, CODEBOOK)
    groups = groups_of(release, names)
    if form["groups"] != len(groups.shown):
        raise CheckError(f"{CODEBOOK} counts other groups than the table shows")
    for name in names:
        try:
            column = _Column.of(release, name)
            column.check_groups(entries_of(form, name, groups), groups, name, told=bool(columns[name]))
            _borne_out(release, column, name)
        except CheckError as error:
            raise CheckError(f"{CODEBOOK}, {name}: {error}") from None
    return f"{len(names)} columns, {len(groups.shown)} groups: means in their intervals, shares of at least k, rounded"


def shape_of(release: Folder, name: str) -> Shape | None:
    """How a column's intervals are made; None for labels."""
    return _Column.of(release, name).shape


def _borne_out(release: Folder, column: _Column, name: str) -> None:
    """A label that no row shows stands in the column's tree, or where there is none in the certificate.

    What is told of it is the holder's word: with the raw table at hand `told_of` holds it against that.
    """
    hidden = told(release, name) - {*column.counts, MISSING} if column.shape is None and column.tree is None else set()
    if sorted(hidden) != list(next(one.told for one in release.certificate.columns if one.name == name)):
        raise CheckError("it tells of other labels that no row shows than the certificate lists")


def told_of(release: Folder, raw: pl.DataFrame) -> str:
    """For the holder: every label that the codebook tells of, and no row shows, is that of at least k raw records."""
    count, own = 0, release.certificate.labels  # of which no raw table tells
    names = [column.name for column in release.certificate.columns if column.name != own]
    for name in filter(lambda name: _tells_shares(release, name), names):
        shown = {str(value) for value in release.table[name].unique().to_list()}
        labels = told(release, name) - {MISSING, *shown}
        held = _held(raw[name]) if labels and name in raw.columns else {}
        if any(held.get(_spelling(label), 0) < least(release, name) for label in labels):
            raise CheckError(f"{CODEBOOK}, {name}: it tells of a label that fewer raw records have than k")
        count += len(labels)
    return f"{count} labels that no row shows are those of at least k raw records each"


def _held(column: pl.Series) -> Counter[str]:
    """How many raw records have each label."""
    found: Counter[str] = Counter()
    for value, count in column.drop_nulls().value_counts().rows():
        found[_spelling(str(value))] += count
    return found


def _spelling(label: str) -> str:
    """A label in one spelling: text files write numbers and truth values as they like."""
    text = label.strip()
    try:
        return repr(float(text))
    except ValueError:
        return text.lower() if text.lower() in ("true", "false") else text


def _tells_shares(release: Folder, name: str) -> bool:
    return CODEBOOK in release.files and _shows_labels(release, name) and _Column.of(release, name).shape is None


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
    members: Mapping[str, frozenset[str | None]]
    lifted: bool

    @classmethod
    def of(cls, release: Folder, name: str) -> _Column:
        """As the release describes it."""
        counts = {text: count for text, count in text_counts(release.table[name]).items() if text is not None}
        kind = next(str(column.masked) for column in release.certificate.columns if column.name == name)
        rule = release.recoding.rules.get(name)
        cut = kind == "generalize" or (kind == extents.EXTENT and name in tree_columns(release.json(extents.NAME)))
        tree = release.json(tree_file(name)) if cut else None
        return cls(
            counts=counts,
            least=least(release, name),
            shape=_shape(release, name, kind),
            tree=tree,
            top=rule.top if rule else None,
            kind=kind,
            members=_members(release, name, kind),
            lifted=release.recoding.lifted,
        )

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
                self._shares(shown, spread, self.counts[shown])
            else:
                exact_keys(spread, ["mean"], "an interval")
                _mean(spread["mean"], shown, self.shape)

    def check_groups(self, entries: list[object], groups: Groups, name: str, *, told: bool) -> None:
        """Every group; nothing is told of a column that shows one value, nor where some group is small."""
        if not told:
            return
        shown = groups.column(name)
        if len(set(shown)) < 2:
            raise CheckError("it tells of a column that shows one value for everybody")
        if min(groups.sizes) < self.least:
            raise CheckError("it tells of groups of which some have fewer records than k")
        if all(entry is None for entry in entries):
            raise CheckError("a column of which nothing is told has no entries")
        for text, entry, size in zip(shown, entries, groups.sizes, strict=True):
            if entry is None:
                continue
            if text is None:
                raise CheckError("it tells of a group in which the value is missing")
            if self.shape is None:
                self._shares(text, mapping(entry, "a group"), size)
            else:
                _mean(entry, text, self.shape)

    def _shares(self, shown: str, spread: Form, count: int) -> None:
        others = [label for label in spread if label != shown]
        ascending(others, "shares")
        for label in others:
            short(label, "it")
        if list(spread)[-1:] != [shown] and shown in spread:
            raise CheckError("what is left over stands last")
        if not others or not self._may_tell(shown, others):
            raise CheckError("it tells shares of labels that the shown value does not stand for")
        shares = [share for share in spread.values() if isinstance(share, float) and 0 < share <= 1]
        if len(shares) != len(spread) or any(round(share, DIGITS) != share for share in shares):
            raise CheckError(f"shares are numbers above 0, of {DIGITS} digits")
        if abs(sum(shares) - 1) > HALF * (len(shares) + 1):
            raise CheckError("shares do not add up to 1")
        if min(shares) * count < self.least - (HALF * count + 1e-6):
            raise CheckError("a share is that of fewer records than k")

    def _may_tell(self, shown: str, others: list[str]) -> bool:
        """Labels of a cut are told from its tree; behind * anything may be, and above what was lifted as well.

        Of labels without a tree that regions cut, each text stands for those that the cuts say. Behind the top of a
        tree stand labels of that tree, unless records were lifted there.
        """
        if shown in self.members:
            return {None if label == MISSING else label for label in others} <= self.members[shown]
        if shown in (self.top, SUPPRESSED):
            known = () if self.tree is None else (node.label for node in nodes(self.tree))
            return self.tree is None or self.lifted or set(others) <= {MISSING, *known}
        if self.kind == "suppress":
            return False
        if self.tree is not None:
            return set(others) <= labels_below(self.tree, shown)
        return True


def _members(release: Folder, name: str, kind: str) -> Mapping[str, frozenset[str | None]]:
    """Of labels that are cut without a tree, which of them each shown text stands for."""
    if kind == "extent":
        return extents.members(_axis(release, extents.NAME, name), release.certificate.spelling)
    if kind != "region":
        return {}
    return members(release.json("regions.json"), name, release.certificate.spelling)


def _axis(release: Folder, file: str, name: str) -> Form:
    return mapping(mapping(release.json(file).get("attributes"), "attributes").get(name), name)


def _shape(release: Folder, name: str, kind: str) -> Shape | None:
    """How a column's intervals are made; None for labels."""
    if kind == "discretize":
        rules = mapping(release.json("recoding.json").get("attributes"), "attributes")
        return Shape.of(mapping(rules.get(name), name))
    if kind in ("region", "extent"):
        axis = _axis(release, extents.NAME if kind == "extent" else "regions.json", name)
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
