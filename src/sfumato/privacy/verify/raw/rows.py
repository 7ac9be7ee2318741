"""For the holder: the released rows are the raw rows, recoded, in another order.

The population of a k-map is shown as the release shows its records, by its own recoding, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import TableError
from sfumato.events import watched
from sfumato.privacy.verify.explained.recoding import Recoding
from sfumato.privacy.verify.fields import Form, field, whole
from sfumato.privacy.verify.files.regular_files import open_regular, sha256_of
from sfumato.privacy.verify.folder import Folder
from sfumato.privacy.verify.intervals import Rule, Unread
from sfumato.privacy.verify.raw.extents import within
from sfumato.privacy.verify.table import read_csv, read_parquet, sets
from sfumato.privacy.verify.terms import as_told, columns
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

COUNT = "\0count"  # no column has this name
ARROW, ARROW_FILE = (".arrow", ".ipc", ".feather", ".arrows"), b"ARROW1"  # a stream begins otherwise than a file
SEPARATOR = ";"  # of the items of a set, where a text file writes the set as text
WHERE = "a release tells what it shows; the whole recoding is in the holder's folder, which must stand beside it"
ENOUGH = 20  # rows, and different rows, from which on an order can be told from chance


def read_raw(raw: object, *, missing: Collection[str]) -> pl.DataFrame:
    """The raw table, with the texts that mean missing taken out; text files are read as text."""
    import polars as pl
    from polars.exceptions import PanicException

    try:
        table = _read(Path(raw)) if isinstance(raw, str | Path) else _convert(raw)
    except (Exception, PanicException) as error:
        raise TableError(
            str(raw) if isinstance(raw, str | Path) else "raw",
            "the raw table is a Parquet, CSV or Arrow file, or a polars, pandas or pyarrow table",
            given=type(error).__name__ if isinstance(raw, str | Path) else type(raw).__name__,
            remedy="give the table that was published",
        ) from None
    table = table.with_columns(pl.col(pl.Float32).cast(pl.String).cast(pl.Float64))  # 33.6, not 33.599998474121094
    if not missing:
        return table
    plain = [name for name, kind in table.schema.items() if not kind.is_nested()]
    gone = pl.col(plain).cast(pl.String).str.strip_chars().is_in(list(missing))
    return table.with_columns(pl.when(~gone.fill_null(False)).then(pl.col(plain)))


def _read(path: Path) -> pl.DataFrame:
    import polars as pl

    with open_regular(path, most=None, follow=True) as file:  # a pipe would wait for ever
        is_arrow_file = file.read(len(ARROW_FILE)) == ARROW_FILE
    if path.suffix.lower() == ".csv":
        return read_csv(path)
    if path.suffix.lower() in ARROW:
        return pl.read_ipc(path) if is_arrow_file else pl.read_ipc_stream(path)
    return read_parquet(path)


def _convert(raw: object) -> pl.DataFrame:
    import polars as pl

    if isinstance(raw, pl.LazyFrame):
        return raw.collect()
    if not hasattr(raw, "__arrow_c_stream__"):
        raise TypeError
    return pl.DataFrame(raw)


@dataclass(frozen=True, eq=False)
class Pair:
    """The released table and the recoded raw one, column for column of the same types."""

    released: pl.DataFrame
    expected: pl.DataFrame


class Comparison:
    """Owns a release and the raw table it was made from; recodes the raw rows once."""

    def __init__(self, release: Folder, raw: pl.DataFrame) -> None:
        self.release, self.raw = release, raw

    @cached_property
    def pair(self) -> Pair:
        """Both tables, made comparable."""
        import polars as pl

        rules = self.release.whole_recoding.rules  # other masked columns cannot be recoded
        table = self.release.table.with_columns(pl.col(pl.Enum).cast(pl.Categorical))  # with texts of the raw table
        if table.height != self.raw.height:
            raise CheckError("the raw table has another number of rows than the release")
        if (labels := self.release.certificate.labels) is not None:  # no raw table has it
            table = table.drop(labels, strict=False)
        gone = [name for name in table.columns if name not in self.raw.columns]
        if gone:
            raise CheckError(f"the raw table has no column {gone[0]!r}")
        shown = within(self.release, self.raw)
        others = [name for name in self.release.certificate.masked_otherwise if name not in shown]
        return _paired(table.drop(others, strict=False), self.raw, rules, shown)


def same_rows(comparison: Comparison) -> str:
    """The released rows are the recoded raw rows, each as often; but for those lifted to the top."""
    import polars as pl

    pair, count = comparison.pair, comparison.release.certificate.lifted
    differ = _differences(pair)
    if not differ.height:
        return f"{pair.released.height} released rows are the raw rows, recoded{_not_compared(comparison)}"
    more, less = differ.filter(pl.col(COUNT) > 0), differ.filter(pl.col(COUNT) < 0)
    rules = comparison.release.recoding.rules
    at_top = pl.all_horizontal(pl.col(name).eq_missing(rule.top) for name, rule in rules.items())
    if int(more[COUNT].sum()) > count or not more.select(at_top.all()).item():
        raise CheckError("released rows are not the recoded raw rows")
    kept = [name for name in pair.released.columns if name not in rules]
    if _totals(pl.concat([more, less]), kept).height:
        raise CheckError("released rows differ from the raw rows in columns that are not masked")
    return f"{pair.released.height} released rows are the raw rows, recoded, {count} of them lifted"


def _not_compared(comparison: Comparison) -> str:
    """Which columns could not be held against the raw ones, because no recoding tells what a value becomes."""
    compared = comparison.pair.released.columns
    others = [name for name in comparison.release.certificate.masked_otherwise if name not in compared]
    return f"; NOT compared: {', '.join(others)}" if others else ""


def row_order(comparison: Comparison) -> str:
    """The order of the rows tells nothing about the raw table's, unless the certificate says that it does.

    Equal rows fall onto each other by chance: with shares p of the different rows, in a share `sum(p * p)` of all
    places. A shuffled table lies near that share; one that is nearer to the raw order is refused.
    """
    import polars as pl

    if comparison.release.certificate.row_order == "kept":
        return "kept, as the certificate says: row n of the release is row n of the raw table"
    pair = comparison.pair
    names = pair.released.columns
    sizes = pair.released.group_by(names).agg(pl.len().alias(COUNT))[COUNT]
    if pair.released.height < ENOUGH or len(sizes) < ENOUGH:
        return "too few different rows to tell an order from chance"
    same = [pair.released[name].eq_missing(pair.expected[name]) for name in names]
    equal = float(pl.DataFrame(same).select(pl.all_horizontal(pl.all()).mean()).item())
    chance = float(((sizes / pair.released.height) ** 2).sum())
    if equal > (1 + chance) / 2:
        raise CheckError("most rows stand where they stand in the raw table; the certificate says shuffled")
    return "shuffled: the raw table's order is gone"


def _differences(pair: Pair) -> pl.DataFrame:
    """Rows that stand in one table more often than in the other: how much more often in the released one."""
    import polars as pl

    names = pair.released.columns
    ones = [pair.released.with_columns(pl.lit(1).alias(COUNT)), pair.expected.with_columns(pl.lit(-1).alias(COUNT))]
    return pl.concat([_totals(table, names) for table in ones]).pipe(_totals, names)


def _totals(table: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The sum of the counts of each different row, where it is not zero."""
    import polars as pl

    total = pl.col(COUNT).cast(pl.Int64).sum()
    sums = table.group_by(names).agg(total) if names else table.select(total)
    return sums.filter(pl.col(COUNT) != 0)


def _paired(table: pl.DataFrame, raw: pl.DataFrame, rules: Mapping[str, Rule], shown: Mapping[str, pl.Series]) -> Pair:
    import polars as pl

    left, right = [], []
    for name in watched(table.columns):
        if name in shown:
            left.append(table[name].cast(pl.String))
            right.append(shown[name])
        elif name in rules and (separator := rules[name].separator) is not None:
            left.append(sets(table, name, separator))
            right.append(_recoded_sets(name, raw[name], rules[name]))
        elif name in rules:
            left.append(table[name])
            right.append(_recoded(name, raw[name], rules[name]))
        else:
            both = alike(table[name], raw[name])
            left.append(both.released)
            right.append(both.expected)
    return Pair(pl.DataFrame(left), pl.DataFrame(right))


def _recoded_sets(name: str, column: pl.Series, rule: Rule) -> pl.Series:
    """What the rule makes of each raw set, as text."""
    import polars as pl

    try:
        return pl.Series(name, [rule.becomes(value) for value in watched(column.to_list())], dtype=pl.String)
    except CheckError as error:
        raise CheckError(f"{name}: {error} ({WHERE})") from None


def _recoded(name: str, column: pl.Series, rule: Rule) -> pl.Series:
    """What the rule makes of each raw value; each different value is looked at once."""
    import polars as pl

    different = column.unique()
    try:
        becomes = [rule.becomes(value) for value in different.to_list()]
    except Unread as error:
        raise CheckError(f"{name}: {error}") from None
    except CheckError as error:
        raise CheckError(f"{name}: {error} ({WHERE})") from None
    shown = pl.Series(name, becomes, dtype=pl.String)
    return column.replace_strict(different, shown, return_dtype=pl.String).cast(pl.Categorical)


@dataclass(frozen=True, eq=False)
class Columns:
    """One column of either table, of the same type."""

    released: pl.Series
    expected: pl.Series


def alike(released: pl.Series, raw: pl.Series) -> Columns:
    """A column that is not masked: a text file's text is read as the other's type; sets have no order."""
    import polars as pl

    try:
        if released.dtype == pl.Categorical and raw.dtype not in (pl.String, pl.Categorical, pl.Enum):
            return Columns(_set(_read_as(released.cast(pl.String), raw.dtype)), _set(raw))
        return Columns(_set(released), _set(_read_as(raw, released.dtype)))
    except pl.exceptions.PolarsError:
        raise CheckError(f"{released.name} has another type in the raw table") from None


def _read_as(column: pl.Series, kind: pl.DataType) -> pl.Series:
    import polars as pl

    if isinstance(kind, pl.List) and not isinstance(column.dtype, pl.List):
        items = column.cast(pl.String).str.split(SEPARATOR)
        return items.list.eval(pl.element().filter(pl.element() != "")).cast(kind)
    if column.dtype == pl.String and kind == pl.Boolean:
        return column.replace_strict(["true", "false"], [True, False], return_dtype=pl.Boolean)
    if column.dtype == pl.String and kind == pl.Date:
        return column.str.to_date("%Y-%m-%d")
    return column.cast(kind)


def _set(column: pl.Series) -> pl.Series:
    import polars as pl

    if column.dtype.is_float():
        return column.fill_nan(None)  # no number is missing
    return column.list.unique().list.sort() if isinstance(column.dtype, pl.List) else column


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
    return Population(
        table, sha256_of(population, most=None, follow=True) if isinstance(population, str | Path) else None
    )


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
    """What a value becomes. A label that the recoding does not know is shown at the top; a number outside its range,
    or a missing one where none was missing, fits nothing."""
    try:
        return rule.becomes(value)
    except CheckError:
        return NOWHERE if rule.kind == "discretize" else rule.top
