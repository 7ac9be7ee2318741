"""The released table: read by a library that did not write it, and held against its description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.privacy.verify.certificate import Certificate, Column
from sfumato.privacy.verify.explained.recoding import MARK, Recoding
from sfumato.privacy.verify.files.csv_file import check_spelling, read_rows
from sfumato.privacy.verify.files.parquet import walk
from sfumato.privacy.verify.files.regular_files import open_regular
from sfumato.privacy.verify.intervals import Rule
from sfumato.privacy.verify.letters import look_of_name, visible, why_no_name
from sfumato.privacy.verify.maskers import RECODED
from sfumato.privacy.verify.values import plain
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Written:
    """The table as it is in its file, and what was found about the file's form."""

    table: pl.DataFrame
    form: str


def read_table(path: Path, certificate: Certificate) -> Written:
    """The table, once its file is seen to hold nothing else; text is held as categories, which are counted faster."""
    import polars as pl

    read = _written_csv if path.suffix == ".csv" else _written_parquet
    written = read(path, certificate)
    table = written.table
    odd = [name for name in table.columns if name == "*" or (name.startswith("^") and name.endswith("$"))]
    if odd:
        raise CheckError(f"a column is called {odd[0]!r}, which polars takes for a pattern")
    return replace(written, table=table.with_columns(pl.col(pl.String).cast(pl.Categorical)))


def _written_parquet(path: Path, certificate: Certificate) -> Written:
    """Walked byte by byte, then read by polars, which finds the same."""
    import polars as pl
    from polars.exceptions import PolarsError

    del certificate
    walked = walk(path)
    try:
        with open_regular(path, most=None) as file:
            table = pl.read_parquet(file, glob=False, hive_partitioning=False)
    except (PolarsError, OSError):
        raise CheckError(f"{path.name} cannot be read") from None
    if {name: table[name].null_count() for name in table.columns} != walked.missing or table.height != walked.rows:
        raise CheckError(f"{path.name} is read in two ways")
    return Written(table, f"{walked.pages} pages and a bare footer, each byte of which follows from the values")


def _written_csv(path: Path, certificate: Certificate) -> Written:
    """Read by pyarrow, written again from what was read, and compared; numbers stand in their one spelling."""
    import polars as pl

    table: pl.DataFrame = pl.DataFrame(read_rows(path, spreadsheet_safe=certificate.spreadsheet_safe))
    for column in certificate.columns:
        if column.kind == "number" and column.masked not in RECODED and column.name in table.columns:
            check_spelling(column.name, table[column.name].unique().to_list(), strict=column.masked is None)
    return Written(table, "a header and rows, to the byte as their cells give them")


def read_parquet(path: Path) -> pl.DataFrame:
    """All columns of anybody's Parquet, read by polars; the path is a name and no pattern.

    A damaged file can end the whole process in polars, where pyarrow refuses it: so pyarrow goes first.
    """
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError):
        raise CheckError(f"{path.name} cannot be read") from None
    return pl.read_parquet(path, glob=False, hive_partitioning=False)


def read_csv(path: Path) -> pl.DataFrame:
    """All columns of anybody's CSV as text; an empty cell is missing, a quoted empty cell is an empty text."""
    import polars as pl
    import pyarrow as pa
    from pyarrow import csv

    with path.open("rb") as file:
        start = file.read(3)
    if start == b"\xef\xbb\xbf":
        raise CheckError("the CSV file begins with a byte order mark")
    with csv.open_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True)) as first:
        header = first.schema.names
    options = csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(header) > 1)
    return pl.DataFrame(csv.read_csv(path, convert_options=options, parse_options=parse))


def one_form(table: pl.DataFrame, certificate: Certificate) -> pl.DataFrame:
    """The table with numbers that are the same written the same: 0.0 and -0.0; in CSV 1, 1.0 and 01. NaN is missing."""
    import polars as pl

    bare = [column for column in certificate.columns if column.masked is None and column.name in table.columns]
    floats = [column.name for column in bare if table.schema[column.name].is_float()]
    texts = [c.name for c in bare if c.kind == "number" and table.schema[c.name] == pl.Categorical]
    return table.with_columns(pl.col(floats).fill_nan(None) + 0.0, *(_plain(table[name]) for name in texts))


def _plain(column: pl.Series) -> pl.Series:
    import polars as pl

    different = column.cast(pl.String).unique()
    forms = pl.Series([None if text is None else plain(text) for text in different.to_list()], dtype=pl.String)
    return column.cast(pl.String).replace_strict(different, forms, return_dtype=pl.String).cast(pl.Categorical)


def columns(table: pl.DataFrame, certificate: Certificate) -> str:
    """The columns are the declared ones, in order."""
    declared = [column.name for column in certificate.columns]
    _check_names(declared)
    _check_names(table.columns)
    extra, gone = set(table.columns) - set(declared), set(declared) - set(table.columns)
    if extra or gone:
        raise CheckError(f"{min(extra or gone)!r} is {'not declared' if extra else 'declared and not there'}")
    if table.columns != declared:
        raise CheckError("the columns stand in another order than declared")
    return f"{len(declared)} columns as declared"


def _check_names(names: Sequence[str]) -> None:
    """Every name can be read, and no two look alike."""
    for name in names:
        if wrong := why_no_name(name):
            raise CheckError(f"the column {visible(name, most=60)!r} {wrong}")
    if len({look_of_name(name) for name in names}) < len(names):
        raise CheckError("two columns have names that look alike")


def rows(table: pl.DataFrame, certificate: Certificate) -> str:
    """As many rows as declared."""
    if table.height != certificate.rows:
        raise CheckError(f"the table does not have {certificate.rows} rows")
    return f"{table.height} rows"


def masked(certificate: Certificate, recoding: Recoding) -> str:
    """Quasi-identifiers, masked columns and columns in claims are the same ones."""
    declared = certificate.columns
    if certificate.generated:
        return f"{len(declared)} columns are generated"
    _refuse("is described otherwise in recoding.json", _misdescribed(declared, recoding))
    quasi = {column.name for column in declared if column.role == "quasi"}
    claimed = {str(name) for claim in certificate.claims for name in _on(claim)}
    changed = {*recoding.rules, *certificate.masked_otherwise}
    learned = {str(claim["sensitive"]) for claim in certificate.claims if "sensitive" in claim}
    _refuse("is sensitive in a claim, and masked", changed & learned)
    _refuse("is masked and no quasi-identifier", changed - quasi)
    _refuse("stands in a claim and is no quasi-identifier", claimed - quasi)
    if certificate.claims_nothing:
        return f"{len(changed)} columns are transformed, and nothing is claimed of them"
    _refuse("is a quasi-identifier and not masked", quasi - changed)
    _refuse("is a quasi-identifier and stands in no claim", quasi - claimed)
    return f"{len(quasi)} quasi-identifiers, each masked and in a claim"


def _misdescribed(declared: Sequence[Column], recoding: Recoding) -> set[str]:
    stated = {column.name: column.masked for column in declared if column.masked in RECODED}
    kinds = {name: rule.kind for name, rule in recoding.rules.items()}
    return {name for name in {*stated, *kinds} if stated.get(name) != kinds.get(name)}


def _on(claim: Mapping[str, object]) -> list[object]:
    on = claim.get("on")
    return on if isinstance(on, list) else []


def recoded(recoding: Recoding) -> str:
    """Reading the recoding has checked every rule."""
    return f"{len(recoding.rules)} rules, each a real cut" if recoding.rules else "this release has none"


def shown(table: pl.DataFrame, recoding: Recoding) -> str:
    """Every value that a masked column shows is one that its rule may show."""
    for name, rule in recoding.rules.items():
        allowed = rule.shown | {rule.top} if recoding.lifted else rule.shown
        if not held(table, name, rule) <= allowed:
            raise CheckError(f"{name} shows a value that is not in its cut")
    return f"{len(recoding.rules)} columns show values of their cuts" if recoding.rules else "no column has a cut"


def held(table: pl.DataFrame, name: str, rule: Rule) -> set[str | None]:
    """The different values of a masked column; of sets the labels that they are made of, a missing set not counted."""
    if rule.separator is None:
        return values(table, name)
    return {
        label for text in sets(table, name, rule.separator).unique().to_list() if text for label in text.split(MARK)
    }


def sets(table: pl.DataFrame, name: str, separator: str) -> pl.Series:
    """A column of sets, each as its labels in order, joined by a mark; missing where it is."""
    import polars as pl

    if name not in table.columns:
        raise CheckError(f"the table has no column {name!r}")
    column = table[name]
    if not isinstance(column.dtype, pl.List):
        parts = column.cast(pl.String).str.split(separator)
        column = parts.list.eval(pl.element().filter(pl.element() != ""))
    listed = column.cast(pl.List(pl.String))
    if bool((listed.list.len() != listed.list.unique().list.len()).any()):
        raise CheckError(f"{name} shows a label of a set twice")
    return listed.list.sort().list.join(MARK)


def values(table: pl.DataFrame, name: str) -> set[str | None]:
    """The different values of a masked column."""
    import polars as pl

    if name not in table.columns:
        raise CheckError(f"the table has no column {name!r}")
    if table.schema[name] != pl.Categorical:
        raise CheckError(f"{name} is masked and holds no text")
    return set(table[name].unique().to_list())


def lifted(table: pl.DataFrame, certificate: Certificate, recoding: Recoding) -> str:
    """Records were lifted to the top of every masked column, or of none; at least as many as the largest k."""
    count = certificate.lifted
    if recoding.lifted != (count > 0):
        raise CheckError("certificate and recoding.json disagree whether records were lifted")
    if not count:
        return "no record was lifted"
    largest = max((k for claim in certificate.claims if isinstance(k := claim.get("k"), int)), default=1)
    if count < largest:
        raise CheckError(f"fewer than {largest} records were lifted: they form no group of their own")
    _check_lifted_rows(table, recoding, count)
    return f"{count} records were lifted"


def _check_lifted_rows(table: pl.DataFrame, recoding: Recoding, count: int) -> None:
    """A value that only lifted records show is shown by all of them, and by nobody who is not at the top everywhere."""
    import polars as pl

    rules = recoding.rules
    at_top = pl.all_horizontal(pl.col(name).eq_missing(rule.top) for name, rule in rules.items())
    telling = [name for name, rule in rules.items() if rule.top not in rule.shown]
    tops = int(table.select(at_top.sum()).item())
    if tops < count or any(int((table[name] == rules[name].top).sum()) != count for name in telling):
        raise CheckError("the table does not show as many lifted records as the certificate says")


def _refuse(what: str, found: set[str]) -> None:
    if found:
        raise CheckError(f"{min(found)!r} {what}")
