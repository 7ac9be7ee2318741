"""k-map: the population, shown as the release shows its records by its own recoding, and counted."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form, field, whole
from sfumato.privacy.verify.raw import read_raw
from sfumato.privacy.verify.reached import as_told, columns
from sfumato.privacy.verify.recoding import Recoding
from sfumato.privacy.verify.regular_files import sha256_of
from sfumato.privacy.verify.rule import Rule
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

PEOPLE = "\0people"  # no column has this name
NOWHERE = "\0nowhere"  # no label


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody whom a record may be about; `sha256` of the file that they stand in, if they stand in one."""

    table: pl.DataFrame
    sha256: str | None


def read_population(population: object, *, missing: Collection[str]) -> Population:
    """The population, with the texts that mean missing taken out."""
    if isinstance(population, Population):
        return Population(read_raw(population.table, missing=missing), population.sha256)
    table = read_raw(population, missing=missing)
    return Population(table, sha256(population) if isinstance(population, str | Path) else None)


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file."""
    return sha256_of(path, most=None, follow=True)


def check_k_map(table: pl.DataFrame, claim: Form, *, recoding: Recoding, population: Population) -> str:
    """Every combination of shown values fits at least k people of the population (Sweeney, 2002)."""
    import polars as pl

    on, k = columns(claim, {"k", "population"}), whole(claim, "k")
    gone = [name for name in on if name not in table.columns or name not in population.table.columns]
    if gone or k < 2:
        raise CheckError(f"the table or the population has no column {gone[0]!r}" if gone else "'k' is at least 2")
    unmasked = [name for name in on if name not in recoding.rules]
    if unmasked:
        raise CheckError(f"{unmasked[0]!r} is masked by no recoding, so nobody can be shown as the release does")
    compared = _same_file(claim, population)
    people = _shown(population.table, on, recoding).group_by(on).agg(pl.len().alias(PEOPLE))
    shown = table.select(pl.col(on).cast(pl.String)).unique().join(people, on=on, how="left", nulls_equal=True)
    fits = pl.when(_at_top(on, recoding)).then(population.table.height).otherwise(pl.col(PEOPLE).fill_null(0))
    fewest = shown.select(fits.min()).item()
    if fewest is None or fewest < k:
        raise CheckError(f"a combination of shown values fits fewer than {k} people of the population")
    return f"{as_told(claim, {'k': int(fewest)})}; {compared}"


def held(population: Population, name: str) -> set[str]:
    """The labels that somebody of the population has."""
    return {str(value) for value in population.table[name].unique().to_list() if value is not None}


def _same_file(claim: Form, population: Population) -> str:
    """The population is the one that was counted, as far as that can be told."""
    if "population" not in claim:
        return "which population was counted, the certificate does not say"
    told = field(claim, "population", str)
    if not re.fullmatch("[0-9a-f]{64}", told):
        raise CheckError("'population' is no SHA-256")
    if population.sha256 is None:
        return "whether it is the claimed population cannot be told: it was not given as a file"
    if population.sha256 != told:
        raise CheckError("this is another population than the claimed one: its SHA-256 differs")
    return "the population is the claimed one"


def _at_top(on: Sequence[str], recoding: Recoding) -> pl.Expr:
    """Whether a lifted record shows this: it fits everybody."""
    import polars as pl

    tops = [pl.col(name).eq_missing(pl.lit(recoding.rules[name].top)) for name in on]
    return pl.all_horizontal(pl.lit(recoding.lifted), *tops)


def _shown(people: pl.DataFrame, on: Sequence[str], recoding: Recoding) -> pl.DataFrame:
    """What each person would show."""
    import polars as pl

    return pl.DataFrame([_column(people[name], recoding.rules[name]) for name in on])


def _column(column: pl.Series, rule: Rule) -> pl.Series:
    import polars as pl

    different = column.unique()
    becomes = pl.Series([_place(value, rule) for value in different.to_list()], dtype=pl.String)
    return column.replace_strict(different, becomes, return_dtype=pl.String).alias(column.name)


def _place(value: object, rule: Rule) -> str | None:
    """What a value becomes. A label that the recoding does not know is shown at the top; a number outside its range
    fits nothing."""
    try:
        return rule.becomes(value)
    except CheckError:
        return NOWHERE if rule.kind == "discretize" and value is not None else rule.top
