"""A released column, entry by entry: what it shows, which numbers or labels that may stand for, and in what shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data import calendar
from sfumato.data.axis import MISSING
from sfumato.data.shown import OR_MISSING, SUPPRESSED, set_pieces
from sfumato.structure.masked_positions import Ends, interval_ends
from sfumato.structure.released import MEAN, Spread, Told

Floats = NDArray[np.float64]
NOTHING = np.nan
FEW_HALVES = 0.4
"""The share of ends halfway between two whole numbers up to which a column is taken for one of whole numbers."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of intervals: which entry each row has, and of each entry its ends, its mean, whether it is closed.

    `told`: whether its mean is; else it is the middle. An end that is not told (`open_low`, `open_high`) is the
    smallest or the largest number that the column tells. Of a missing value all are NaN. Dates are microseconds since
    the beginning of 1970.
    """

    codes: Ints
    low: Floats
    high: Floats
    mean: Floats
    told: NDArray[np.bool_]
    closed: NDArray[np.bool_]
    open_low: NDArray[np.bool_]
    open_high: NDArray[np.bool_]
    dates: bool

    @classmethod
    def of(cls, told: Told, *, dates: bool = False) -> Numbers:
        """By what is shown, and what a codebook tells of it; `dates`: that these are dates, which years do not show."""
        dates = dates or _are_dates(told)
        ends = [_ends(text, dates=dates) for text in told.shown]
        means = np.array([_mean(spread) for spread in told.spreads])
        low = np.array([NOTHING if one is None or one.low is None else one.low for one in ends])
        high = np.array([NOTHING if one is None or one.high is None else one.high for one in ends])
        known = np.concatenate([low, high, means])
        least, most = (np.nanmin(known), np.nanmax(known)) if np.isfinite(known).any() else (0.0, 0.0)
        gone = np.array([text is None for text in told.shown], dtype=np.bool_)
        open_low, open_high = np.isnan(low) & ~gone, np.isnan(high) & ~gone
        low = np.where(gone, NOTHING, np.where(np.isnan(low), least, low))
        high = np.where(gone, NOTHING, np.where(np.isnan(high), most, high))
        known_means = ~np.isnan(means)
        means = np.where(known_means, means, (low + high) / 2)
        closed = np.array([text is None or not text.removesuffix(OR_MISSING).endswith(")") for text in told.shown])
        return cls(
            codes=told.codes.astype(np.int64),
            low=low,
            high=high,
            mean=means,
            told=known_means,
            closed=closed,
            open_low=open_low,
            open_high=open_high,
            dates=dates,
        )

    @cached_property
    def whole(self) -> bool:
        """Whether numbers inside are taken for whole ones: every end is one, or a few stand halfway between two."""
        known = np.unique(self._ends)
        between = known != np.floor(known)
        only_halves = bool((2 * known == np.floor(2 * known)).all())
        return not self.dates and only_halves and bool(between.sum() <= FEW_HALVES * len(known))

    @cached_property
    def days(self) -> bool:
        """Whether every end is the beginning of a day, so that moments inside are taken for days."""
        return self.dates and bool((self._ends % calendar.DAY == 0).all())

    @property
    def _ends(self) -> Floats:
        """The ends that are told."""
        known: Floats = np.concatenate([self.low[~self.open_low], self.high[~self.open_high]])
        found: Floats = known[np.isfinite(known)]
        return found

    def drawn(self, chance: np.random.Generator) -> Floats:
        """(rows,): a number inside each row's interval, so that those of an entry have its mean.

        Below the mean with the share that puts the mean where it is, and evenly on either side of it.
        """
        low, high = self.low[self.codes], self.high[self.codes]
        if self.whole:
            closed = self.closed[self.codes] & (high >= low)
            low, high = np.ceil(low), np.where(closed, np.floor(high) + 1, np.ceil(high))
        mean = np.clip(self.mean[self.codes] + 0.5 * self.whole, low, high)
        width = np.where(high > low, high - low, 1.0)
        below = chance.random(len(low)) < (high - mean) / width
        found = np.where(below, low, mean) + chance.random(len(low)) * np.where(below, mean - low, high - mean)
        if self.days:
            return np.floor(found / calendar.DAY) * calendar.DAY
        return np.minimum(np.floor(found), high - 1).clip(low) if self.whole else found


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of labels: which entry each row has, and `shares` (entries, labels + 1): of each label in each entry, of
    a missing value last."""

    codes: Ints
    labels: tuple[str, ...]
    shares: Floats

    @classmethod
    def of(cls, told: Told) -> Labels:
        """By what is shown, and what a codebook tells of it; what it leaves open is spread evenly over its labels. What
        stands for anything is spread as all others are."""
        found = LeftOpen.of(told)
        evenly = found.told + found.members * (found.rest / np.maximum(found.members.sum(axis=1), 1))[:, None]
        return cls(told.codes.astype(np.int64), found.labels, _spread_evenly(evenly, told.codes))

    @property
    def at(self) -> dict[str, int]:
        """Where the shares of each label stand; of a missing value those of an empty text."""
        return {label: number for number, label in enumerate((*self.labels, MISSING_TEXT))}

    def drawn(self, chance: np.random.Generator) -> list[str | None]:
        """(rows,): a label for each row, drawn by the shares of its entry."""
        up_to = np.cumsum(self.shares, axis=1)
        up_to = up_to / np.maximum(up_to[:, -1:], 1e-12)
        among = (up_to + np.arange(len(up_to))[:, None]).ravel()
        at = np.searchsorted(among, self.codes + chance.random(len(self.codes)), side="right")
        texts = (*self.labels, None)
        return [texts[one] for one in np.minimum(at - self.codes * self.shares.shape[1], len(self.labels)).tolist()]


MISSING_TEXT = ""


@dataclass(frozen=True, eq=False)
class LeftOpen:
    """What a codebook tells of each entry of a column of labels, and what it leaves open.

    (entries, labels + 1), of a missing value last: `told`, the shares that are told; `members`, the labels among which
    the rest is. (entries,): `rest`, the share that is left. Of what stands for anything there are no members.
    """

    labels: tuple[str, ...]
    told: Floats
    members: NDArray[np.bool_]
    rest: Floats

    @classmethod
    def of(cls, told: Told) -> LeftOpen:
        """By what is shown, and what is told of it."""
        members = [_members(text) for text in told.shown]
        named = {label for some in members for label in some} | {
            MISSING_TEXT if key == MISSING else key
            for text, spread in zip(told.shown, told.spreads, strict=True)
            for key in spread
            if key != text
        }
        labels = tuple(sorted(named - {MISSING_TEXT, SUPPRESSED}))
        at = {label: number for number, label in enumerate((*labels, MISSING_TEXT))}
        shares, among = np.zeros((len(members), len(at))), np.zeros((len(members), len(at)), dtype=np.bool_)
        rest = np.zeros(len(members))
        for entry, (text, some, spread) in enumerate(zip(told.shown, members, told.spreads, strict=True)):
            for key, share in spread.items():
                if key != text:
                    shares[entry, at[MISSING_TEXT if key == MISSING else key]] += float(share)
            rest[entry] = float(spread.get(text or "", 0 if spread else 1))
            known = [label for label in some if label in at]
            among[entry, [at[label] for label in known if _key(label) not in spread] or [at[one] for one in known]] = (
                True
            )
        return cls(labels, shares, among, rest)


def as_met(told: Told) -> tuple[str, ...]:
    """The labels that rows may stand for, an empty text for a missing value: in the order in which they are met.

    Row after row, of each what is told of it, then what the rest may be: as the lines of a README meet them.
    """
    met: dict[str, None] = {}
    codes, first = np.unique(told.codes, return_index=True)
    for code in codes[np.argsort(first)].tolist():
        text, spread = told.shown[code], told.spreads[code]
        met |= dict.fromkeys(MISSING_TEXT if key == MISSING else key for key in spread if key != text)
        if spread.get(text or "", 0 if spread else 1):
            every = _members(text)
            met |= dict.fromkeys([label for label in every if _key(label) not in spread] or every)
    return tuple(label for label in met if label != SUPPRESSED)


def _key(label: str) -> str:
    """Under which a codebook tells the share of a label, or of a missing value."""
    return label or MISSING


def _members(text: str | None) -> tuple[str, ...]:
    """The labels that a text may stand for; an empty one for a missing value."""
    if text is None:
        return (MISSING_TEXT,)
    return set_pieces(text) or (text,)


def _spread_evenly(shares: Floats, codes: NDArray[np.generic]) -> Floats:
    """Entries of which nothing is known take the mean shares of all rows of which something is, as in a README: where
    these leave a part open, so does it."""
    known = shares.sum(axis=1) > 0
    weights = np.bincount(codes.astype(np.int64), minlength=len(shares))
    every, rows = (shares * weights[:, None])[known].sum(axis=0), weights[known].sum()
    usual = every / rows if rows else np.full(shares.shape[1], 1 / shares.shape[1])
    return np.where(known[:, None], shares, usual)


def _are_dates(told: Told) -> bool:
    if any(isinstance(spread.get(MEAN), str) for spread in told.spreads):
        return True
    texts = [text for text in told.shown if text is not None and text != SUPPRESSED]
    return bool(texts) and all(interval_ends(text) in (None, Ends(None, None)) for text in texts)


def _ends(text: str | None, *, dates: bool) -> Ends | None:
    return None if text is None else interval_ends(text, "second" if dates else None)


def _mean(spread: Spread) -> float:
    mean = spread.get(MEAN, NOTHING)
    return float(calendar.parse(mean)) if isinstance(mean, str) else mean
