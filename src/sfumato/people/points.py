"""Points: where released rows stand as a matrix, and raw rows in the same space."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.codes import is_text
from sfumato.data.masked import Masked
from sfumato.data.table import column_of
from sfumato.errors import TableError
from sfumato.people.shown_columns import Floats, Labels, Numbers, as_met
from sfumato.structure.places import Bag, Book, Means, Place, Scale
from sfumato.structure.released import Told
from sfumato.structure.space import Space

APART = np.sqrt(0.5)
"""How far a label stands from the origin: two different ones are 1 apart, as the two ends of a number."""
Column = Any


@dataclass(frozen=True, eq=False)
class Points:
    """(rows, dims) of the released rows, and how a raw column of each attribute is placed beside them.

    `dims`: the attribute that each dimension is of; those of one attribute stand together. `titles`: a name of its own
    for each dimension: region=North for a label, region= for a missing one, region.0 where it is no single label's.
    """

    shown: Floats
    placed: Mapping[str, Callable[[Column], Floats]]
    dims: tuple[str, ...]
    titles: tuple[str, ...]

    def without(self, names: Collection[str]) -> Points:
        """The same, as if these attributes were not there."""
        kept = [at for at, name in enumerate(self.dims) if name not in names]
        placed = {name: place for name, place in self.placed.items() if name not in names}
        dims, titles = (tuple(names[at] for at in kept) for names in (self.dims, self.titles))
        return Points(self.shown[:, kept], placed, dims, titles)

    def beside(self, others: Points) -> Points:
        """With the attributes of others behind these."""
        shown = np.hstack([self.shown, others.shown])
        return Points(shown, {**self.placed, **others.placed}, self.dims + others.dims, self.titles + others.titles)

    def raw(self, columns: Mapping[str, Column]) -> Floats:
        """(raw rows, dims)."""
        return np.hstack([_raw_points(name, place, columns[name]) for name, place in self.placed.items()])


def _raw_points(name: str, place: Callable[[Column], Floats], column: Column) -> Floats:
    """A raw column, placed; what is no number where numbers are shown is refused without a word of it."""
    try:
        return place(column)
    except pa.ArrowException:
        raise TableError(
            name,
            "raw rows have numbers, or dates of a type of their own, where the release shows numbers or dates",
            given="text" if is_text(getattr(column.type, "value_type", column.type)) else str(column.type),
            remedy=f"read it as what it is first, in pandas for example pd.to_datetime(rows[{name!r}], "
            f'format="%d-%m-%Y") or pd.read_csv(..., decimal=","); or leave it out, without={name!r}',
        ) from None


def spaced_points(space: Space, masked: Masked) -> Points:
    """In the space that the release tells."""
    shown = space.place(masked).vectors().astype(np.float64)
    widths = {name: _width(place) for name, place in space.attributes.items()}
    dims = tuple(name for name, width in widths.items() for _ in range(width))
    titles = tuple(f"{name}.{at}" if width > 1 else name for name, width in widths.items() for at in range(width))
    return Points(shown, {name: _raw_place(place) for name, place in space.attributes.items()}, dims, titles)


def _width(place: Place) -> int:
    """How many dimensions an attribute has."""
    if isinstance(place, Book):
        return len(place.missing)
    return place.dims if isinstance(place, Bag) else 1


def _raw_place(place: Place) -> Callable[[Column], Floats]:
    if isinstance(place, Book):
        return lambda column: _in_book(place, column)
    if isinstance(place, Bag):
        return lambda column: _bagged(place, column)
    if isinstance(place, Means):
        low, high = place.layout.low, place.layout.high
        return lambda column: _scaled(column, low, high, (low + high) / 2) * place.factor
    return lambda column: _on_scale(place, column)


def _on_scale(place: Scale, column: Column) -> Floats:
    return _scaled(column, place.low, place.high, place.mean) * place.factor


def _in_book(place: Book, column: Column) -> Floats:
    """Each label at its place; one that the release does not know in the middle of all."""
    usual = np.mean([*place.labels.values()] or [place.missing], axis=0)
    return _looked_up(column, {**{None: np.array(place.missing)}, **place.labels}, usual)


def _bagged(place: Bag, column: Column) -> Floats:
    block = place.block(column_of(column))
    return np.asarray(block.at(block.codes), dtype=np.float64)


def own_points(told: Mapping[str, Numbers | Told]) -> Points:
    """Where a release tells no space: numbers from 0 to 1 by what is shown, labels at their shares.

    Labels have the coordinates that the lines of its README give them, in that order: of what some row may stand for.
    """
    shown: list[Floats] = []
    titles: list[str] = []
    placed: dict[str, Callable[[Column], Floats]] = {}
    for name, entries in told.items():
        if isinstance(entries, Numbers):
            shown.append(_own_scale(entries, entries.mean[entries.codes]))
            placed[name] = _own_numbers(entries)
            titles.append(name)
        else:
            labels, met = Labels.of(entries), as_met(entries)
            shares = labels.shares[:, [labels.at[label] for label in met]]
            shown.append(shares[labels.codes] * APART)
            placed[name] = _own_labels(met, shares[labels.codes].mean(axis=0))
            titles += [f"{name}={label or '(missing)'}" for label in met]
    rows = max((len(part) for part in shown), default=0)
    dims = tuple(name for name, part in zip(told, shown, strict=True) for _ in range(part.shape[1]))
    return Points(np.hstack(shown) if shown else np.zeros((rows, 0)), placed, dims, tuple(titles))


def _own_scale(found: Numbers, numbers: Floats) -> Floats:
    known = np.concatenate([found.low, found.high])
    low, high = np.nanmin(known), np.nanmax(known)
    usual = float(np.nanmean(found.mean[found.codes]))
    filled = np.where(np.isnan(numbers), usual, numbers)
    scaled: Floats = (filled - low) / ((high - low) or 1.0)
    return scaled[:, None]


def _own_numbers(found: Numbers) -> Callable[[Column], Floats]:
    return lambda column: _own_scale(found, _numbers(column))


def _own_labels(met: Sequence[str], usual: Floats) -> Callable[[Column], Floats]:
    places = {label or None: APART * row for label, row in zip(met, np.eye(len(met)), strict=True)}
    return lambda column: _looked_up(column, places, APART * usual)


def _looked_up(column: Column, places: Mapping[Any, Any], usual: Floats) -> Floats:
    coded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    values = coded.dictionary.to_pylist()
    known = [next((places[text] for text in _spelt(value) if text in places), usual) for value in values]
    table = np.array([*known, places.get(None, usual)], dtype=np.float64)
    codes: NDArray[np.int64] = coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return table[codes]


def _spelt(value: Any) -> tuple[str | None, ...]:
    """How a release may spell a raw value: true and false stand in it as they were read.

    >>> _spelt(True), _spelt("true"), _spelt("North"), _spelt(None)
    (('True', 'true'), ('true', 'True'), ('North',), (None,))
    """
    text = None if value is None else str(value)
    other = {"True": "true", "False": "false", "true": "True", "false": "False"}.get(text or "")
    return (text,) if other is None else (text, other)


def _scaled(column: Column, low: float, high: float, missing: float) -> Floats:
    numbers = _numbers(column)
    return ((np.where(np.isnan(numbers), missing, numbers) - low) / ((high - low) or 1.0))[:, None]


def _numbers(column: Column) -> Floats:
    """Numbers, or microseconds of dates; NaN where missing."""
    if pt.is_dictionary(column.type):
        column = column.dictionary_decode()
    if calendar.is_calendar_type(column.type):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    return column.cast(pa.float64()).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
