"""The released table: read by a library that did not write it, and held against its description."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.events import watched
from sfumato.privacy.verify.certificate import Certificate, Column
from sfumato.privacy.verify.explained.recoding import MARK, Recoding
from sfumato.privacy.verify.files.csv_file import Texts, check_spelling, read_rows
from sfumato.privacy.verify.files.parquet import walk
from sfumato.privacy.verify.files.regular_files import open_regular
from sfumato.privacy.verify.intervals import Rule
from sfumato.privacy.verify.letters import look_of_name, visible, why_no_name
from sfumato.privacy.verify.maskers import RECODED
from sfumato.privacy.verify.tallies import is_text, text_counts
from sfumato.privacy.verify.values import plain
from sfumato.privacy.verify.verdict import CheckError, Idle

if TYPE_CHECKING:
    import polars as pl


BATCH = 2**18  # rows that are read at once


@dataclass(frozen=True, eq=False)
class Written:
    """The table as it is in its file, and what was found about the file's form."""

    table: pl.DataFrame
    form: str


def read_table(path: Path, certificate: Certificate) -> Written:
    """The table, once its file is seen to hold nothing else; texts are held by numbers, which are counted faster."""
    read = _written_csv if path.suffix == ".csv" else _written_parquet
    written = read(path, certificate)
    odd = [name for name in written.table.columns if name == "*" or (name.startswith("^") and name.endswith("$"))]
    if odd:
        raise CheckError(f"a column is called {odd[0]!r}, which polars takes for a pattern")
    return written


def _written_parquet(path: Path, certificate: Certificate) -> Written:
    """Walked byte by byte, then read by pyarrow, which finds the same; some rows at a time, texts by their numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    del certificate
    walked = walk(path)
    try:
        with open_regular(path, most=None) as file:
            plain_types = pq.ParquetFile(file).schema_arrow
            texts = [name for name in plain_types.names if pa.types.is_string(plain_types.field(name).type)]
            file.seek(0)
            batches = pq.ParquetFile(file, read_dictionary=texts).iter_batches(BATCH)
            table = _held(watched(batches, walked.rows // BATCH + 1), plain_types, set(texts))
    except (pa.ArrowException, OSError):
        raise CheckError(f"{path.name} cannot be read") from None
    if {name: table[name].null_count() for name in table.columns} != walked.missing or table.height != walked.rows:
        raise CheckError(f"{path.name} is read in two ways")
    return Written(table, f"{walked.pages} pages and a bare footer, each byte of which follows from the values")


def _held(batches: Iterable[Any], kinds: Any, texts: Collection[str]) -> pl.DataFrame:
    """All rows, of columns of text by the numbers of their texts."""
    import polars as pl
    import pyarrow as pa

    numbered = {name: Texts() for name in kinds.names if name in texts}
    others: dict[str, list[Any]] = {name: [] for name in kinds.names if name not in texts}
    for batch in batches:
        for name, column in numbered.items():
            column.add(batch.column(name))
        for name, parts in others.items():
            parts.append(batch.column(name))
    found = {}
    for name in kinds.names:
        if name in numbered:
            found[name] = _numbered(numbered.pop(name))
        else:
            found[name] = pl.Series(name, pa.chunked_array(others.pop(name), type=kinds.field(name).type))
    return pl.DataFrame(found)


def _written_csv(path: Path, certificate: Certificate) -> Written:
    """Read by pyarrow, written again from what was read, and compared; numbers stand in their one spelling."""
    import polars as pl

    columns = read_rows(path, spreadsheet_safe=certificate.spreadsheet_safe)
    table = pl.DataFrame({name: _numbered(column) for name, column in columns.items()})
    for column in certificate.columns:
        if column.kind == "number" and column.masked not in RECODED and column.name in table.columns:
            check_spelling(column.name, table[column.name].unique().to_list(), strict=column.masked is None)
    return Written(table, "a header and rows, to the byte as their cells give them")


def _numbered(column: Texts) -> pl.Series:
    """Texts by the numbers of their different ones, which are put in order first."""
    import numpy as np
    import polars as pl

    order = sorted(range(len(column.texts)), key=column.texts.__getitem__)
    places = np.empty(len(order) + 1, dtype=column.codes.dtype)
    places[order] = np.arange(len(order), dtype=column.codes.dtype)
    places[-1] = len(order)
    codes = pl.Series(places[column.codes])
    codes = codes.set(codes == len(order), None) if column.misses else codes
    return codes.cat.to(pl.Enum([column.texts[at] for at in order]))


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
    texts = [c.name for c in bare if c.kind == "number" and is_text(table.schema[c.name])]
    return table.with_columns(pl.col(floats).fill_nan(None) + 0.0, *(_plain(table[name]) for name in texts))


def _plain(column: pl.Series) -> pl.Series:
    import polars as pl

    different = column.unique().cast(pl.String)
    forms = pl.Series([None if text is None else plain(text) for text in different.to_list()], dtype=pl.String)
    kind = pl.Enum(forms.unique().drop_nulls().sort())
    return column.replace_strict(different.cast(column.dtype), forms.cast(kind), return_dtype=kind)


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
    return f"{len(recoding.rules)} rules, each a real cut" if recoding.rules else Idle("this release has none")


def shown(table: pl.DataFrame, recoding: Recoding) -> str:
    """Every value that a masked column shows is one that its rule may show."""
    for name, rule in recoding.rules.items():
        allowed = rule.shown | {rule.top} if recoding.lifted else rule.shown
        if not held(table, name, rule) <= allowed:
            raise CheckError(f"{name} shows a value that is not in its cut")
    return f"{len(recoding.rules)} columns show values of their cuts" if recoding.rules else Idle("no column has a cut")


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
    if name not in table.columns:
        raise CheckError(f"the table has no column {name!r}")
    if not is_text(table.schema[name]):
        raise CheckError(f"{name} is masked and holds no text")
    return set(text_counts(table[name]))


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
    at_top = {name: shows(table[name], rule.top) for name, rule in rules.items()}
    telling = [name for name, rule in rules.items() if rule.top not in rule.shown]
    tops = int(pl.DataFrame(at_top).select(pl.all_horizontal(pl.all()).sum()).item())
    if tops < count or any(int(at_top[name].sum()) != count for name in telling):
        raise CheckError("the table does not show as many lifted records as the certificate says")


def shows(column: pl.Series, text: str | None) -> pl.Series:
    """Which rows show this text, or miss theirs if it is None; a text that no row shows is nobody's."""
    import polars as pl

    if text is None:
        return column.is_null()
    if isinstance(column.dtype, pl.Enum) and text not in column.dtype.categories:
        return pl.repeat(False, len(column), eager=True)
    return (column == text).fill_null(False)


def _refuse(what: str, found: set[str]) -> None:
    if found:
        raise CheckError(f"{min(found)!r} {what}")
