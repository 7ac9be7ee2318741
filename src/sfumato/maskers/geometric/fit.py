"""From settings and a table to a transformation: draw what is not given, apply it, hand the key to the holder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.data.table import Table
from sfumato.errors import TableError
from sfumato.maskers.geometric.checking import Settings, distributions, rounding
from sfumato.maskers.geometric.mask import KEY, Frame, Transformation
from sfumato.maskers.geometric.noise import Chance, Distribution, Noise
from sfumato.maskers.geometric.numbers import is_whole, numbers_in, to_arrow
from sfumato.maskers.geometric.operations import Columns, Floats, Operation
from sfumato.maskers.masker import Outcome, Task


@dataclass(frozen=True, eq=False)
class Given:
    """What a masker plans with: the raw numbers, which are whole, how wide they spread, and chance."""

    columns: Columns
    wholes: Mapping[str, bool]
    chance: Chance

    @classmethod
    def of(cls, table: Table, names: tuple[str, ...], seed: int | None) -> Given:
        """The named attributes of a table."""
        columns = {name: numbers_in(table, name) for name in names}
        return cls(columns, {name: is_whole(table, name) for name in names}, Chance.of(seed))

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that are transformed."""
        return tuple(self.columns)

    def frames(self) -> dict[str, Frame]:
        """Every attribute in its own unit."""
        return {name: Frame(whole=whole) for name, whole in self.wholes.items()}


@dataclass(frozen=True)
class Plan:
    """What is done to the numbers: in which scale, by which operations, with which noise."""

    frames: Mapping[str, Frame]
    operations: tuple[Operation, ...] = ()
    noises: tuple[Noise, ...] = ()


def transform(task: Task, names: tuple[str, ...], settings: Settings, plan: Callable[[Given], Plan]) -> Outcome:
    """Mask the named attributes as planned; the key goes to the holder's folder only."""
    given = Given.of(task.table, names, settings.seed)
    made = plan(given)
    bare = Transformation(_kind(settings), made.frames, made.operations, made.noises)
    shown = bare.forward(given.columns)
    more = (enhancement(settings, shown, given.chance),) if settings.enhance else ()
    mask = Transformation(bare.kind, bare.frames, bare.operations, (*bare.noises, *more),
                          rounding(settings.round, given.wholes))  # fmt: skip
    for noise in more:
        shown = noise.forward(shown)
    columns = {name: to_arrow(column, mask.rounding.get(name)) for name, column in shown.items()}
    return Outcome(mask, columns, dict.fromkeys(names, "transformed"), holder={KEY: mask.to_json()}, guarantee="none")


def _kind(settings: Settings) -> str:
    """The masker's name in a recipe."""
    return {"AddNoise": "add_noise"}.get(type(settings).__name__, type(settings).__name__.lower())


def enhancement(settings: Settings, shown: Columns, chance: Chance) -> Noise:
    """Noise on a share of the transformed rows (004 section 5.4)."""
    given = distributions(settings.enhance_noise)
    draws = {name: given.get(name) or Distribution("normal", 0.0, spread(column)) for name, column in shown.items()}
    return Noise(settings.enhance, draws, chance.below("enhance"))


def spread(column: Floats) -> float:
    """The standard deviation of the known values; 1 where there is none."""
    known = column[np.isfinite(column)]
    return (float(known.std()) if len(known) else 0.0) or 1.0


def refuse_missing(columns: Columns) -> None:
    """Rotation needs both values of every row."""
    for name, column in columns.items():
        if np.isnan(column).any():
            raise TableError(name, "a rotation needs a value in every row", given="rows where it is missing",
                             remedy=f"leave those rows out in the recipe (missing: {{{name}: drop}}), or use "
                                    "translate or scale")  # fmt: skip
