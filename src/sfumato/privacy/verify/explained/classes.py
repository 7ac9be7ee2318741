"""regions.json and centroids.json: the table shows the classes that they list, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from sfumato.events import checkpoint
from sfumato.privacy.verify.explained.regions import Class, read_regions
from sfumato.privacy.verify.fields import Form, exact_keys, field, mapping, one_of
from sfumato.privacy.verify.spelling import Spelling
from sfumato.privacy.verify.table import values
from sfumato.privacy.verify.values import floor
from sfumato.privacy.verify.verdict import CheckError, Idle

if TYPE_CHECKING:
    import polars as pl

    from sfumato.privacy.verify.folder import Folder

REGION, CENTROID = "region", "centroid"
FILES = {REGION: "regions.json", CENTROID: "centroids.json"}
SEPARATOR = 16  # characters between the items of a set that stands as text
KINDS = ("number", "whole", "date", "category", "items")


def classes(release: Folder) -> str:
    """What the columns show that are masked by regions or by centres."""
    found = []
    for kind, name in FILES.items():
        masked = [column.name for column in release.certificate.columns if column.masked == kind]
        if masked or name in release.files:
            form = release.json(name)
            if set(mapping(form.get("attributes"), "attributes")) != set(masked):
                raise CheckError(f"{name} is about other columns than those that the certificate calls masked by it")
            found.append(
                _regions(form, release.table, masked, spelling=release.certificate.spelling)
                if kind == REGION
                else _centroids(form, release.table, masked)
            )
    return "; ".join(found) or Idle("this release has none")


def _regions(form: Form, table: pl.DataFrame, masked: Sequence[str], *, spelling: Spelling) -> str:
    """Every combination of shown values is that of one region, and every region is shown."""
    regions = read_regions(form, masked, spelling=spelling)
    for name in masked:
        values(table, name)
    if len(set(regions)) != len(regions) or set(_texts(table, masked)) != set(regions):
        raise CheckError("the table does not show the regions of regions.json, each of them and no other")
    return f"{len(regions)} regions are shown, each of them as the cuts above it make it"


def _texts(table: pl.DataFrame, on: Sequence[str]) -> list[Class]:
    import polars as pl

    return table.select(pl.col(on).cast(pl.String)).unique().rows()


def _centroids(form: Form, table: pl.DataFrame, masked: Sequence[str]) -> str:
    """Every class is shown by as many records as its size says, and no record shows anything else."""
    import polars as pl

    exact_keys(form, ["attributes", "sizes", "missing"], "centroids.json")
    exact_keys(mapping(form["attributes"], "attributes"), masked, "centroids.json")
    one_of(form, "missing", ("class", "impute"))
    sizes: list[object] = field(form, "sizes", list)
    counts = [size for size in sizes if isinstance(size, int) and not isinstance(size, bool) and size > 0]
    parts = {name: mapping(part, name) for name, part in field(form, "attributes", dict).items()}
    centres = {name: _centres(part, len(sizes)) for name, part in parts.items()}
    gone = [name for name in masked if name not in table.columns]
    if len(counts) != len(sizes) or not masked or gone:
        raise CheckError("centroids.json has a size for every class and columns that are in the table")
    _in_order([field(part, "centres", list) for part in parts.values()])
    checkpoint()
    told: Counter[Class] = Counter()
    for at, size in enumerate(counts):
        told[tuple(centres[name][at] for name in masked)] += size
    columns = [_keyed(table[name], part) for name, part in parts.items()]
    shown = pl.DataFrame(columns).group_by(masked).agg(pl.len().alias("\0size"))
    if {row[:-1]: row[-1] for row in shown.rows()} != told:
        raise CheckError("the table does not show the centres of centroids.json as often as their sizes say")
    return f"{len(told)} centres are shown, each as often as its size says"


def _centres(part: Form, count: int) -> list[str | None]:
    checkpoint()
    also = "separator" if part.get("kind") == "items" else "calendar" if "calendar" in part else None
    exact_keys(part, ["kind", *([also] if also else []), "centres"], "a column of centroids.json")
    if also == "separator" and not 0 < len(field(part, "separator", str)) <= SEPARATOR:
        raise CheckError(f"a separator has 1 to {SEPARATOR} characters")
    entries: list[object] = field(part, "centres", list)
    if not all(_typed(entry, part) for entry in entries):
        raise CheckError("a centre of centroids.json is not written as its kind is")
    if len(entries) != count:
        raise CheckError("centroids.json has not as many centres as sizes")
    return [_key(entry, part) for entry in entries]


def _in_order(columns: Sequence[Sequence[object]]) -> None:
    """Classes are different, and stand in the order of what they show, missing last: their order says nothing."""
    keys = [[(value is None, value) for value in values] for values in zip(*columns, strict=True)]
    if any(not before < after for before, after in pairwise(keys)):
        raise CheckError("the classes of centroids.json are different, and stand in the order of what they show")


def _typed(entry: object, part: Form) -> bool:
    """Whether a centre is written in the one way that its kind has."""
    if entry is None:
        return True
    if part.get("calendar") is not None:
        return isinstance(entry, str) and floor(entry, field(part, "calendar", str)) == entry
    if isinstance(entry, list):
        texts = [item for item in entry if isinstance(item, str)]
        return part.get("kind") == "items" and len(texts) == len(entry) and texts == sorted(set(texts))
    kinds = {"number": float, "whole": int, "category": str}
    return type(entry) is kinds.get(one_of(part, "kind", KINDS))


def _keyed(column: pl.Series, part: Form) -> pl.Series:
    import polars as pl

    checkpoint()
    different = column.unique()
    keys = pl.Series([_key(cell, part) for cell in different.to_list()], dtype=pl.String)
    if isinstance(column.dtype, pl.List):
        return pl.Series(column.name, [_key(cell, part) for cell in column.to_list()], dtype=pl.String)
    return column.replace_strict(different, keys, return_dtype=pl.String)


def _key(cell: object, part: Form) -> str | None:
    """A cell or a centre as a text that is the same exactly where they are."""
    kind = one_of(part, "kind", KINDS)
    if cell is None:
        return None
    if kind in ("number", "whole") and part.get("calendar") is None:
        return repr(_float(cell) + 0.0)  # zero has no sign
    if kind == "items":
        items = cell if isinstance(cell, list) else [item for item in str(cell).split(str(part["separator"])) if item]
        return json.dumps(sorted(str(item) for item in items))
    if part.get("calendar") is not None:
        start = floor(cell, field(part, "calendar", str))
        if start is None:
            raise CheckError("a centre is no date, or its calendar is not understood")
        return start
    return str(cell)


def _float(cell: object) -> float:
    try:
        return float(str(cell))
    except ValueError:
        raise CheckError("a centre is no number") from None
