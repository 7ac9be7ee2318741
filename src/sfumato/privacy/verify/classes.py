"""regions.json and centroids.json: the table shows the classes that they list, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.privacy.verify.dates import floor
from sfumato.privacy.verify.fields import Form, field, forms, mapping, names, one_of, read_json
from sfumato.privacy.verify.rule import only_keys
from sfumato.privacy.verify.table import values
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

    from sfumato.privacy.verify.folder import Folder

REGION, CENTROID = "region", "centroid"
FILES = {REGION: "regions.json", CENTROID: "centroids.json"}
KINDS = ("number", "whole", "date", "category", "items")
CUTS = {"below": {"at"}, "missing": set[str](), "labels": {"labels"}}
Class = tuple[str | None, ...]


def classes(release: Folder) -> str:
    """What the columns show that are masked by regions or by centres."""
    found = []
    for kind, name in FILES.items():
        masked = [column.name for column in release.certificate.columns if column.masked == kind]
        if not masked and name not in release.files:
            continue
        form = read_json(release.file(name))
        listed = names(form, "attributes") if kind == REGION else tuple(field(form, "attributes", dict))
        if set(listed) != set(masked):
            raise CheckError(f"{name} is about other columns than those that the certificate calls masked by it")
        found.append((_regions if kind == REGION else _centroids)(form, release.table))
    return "; ".join(found) or "this release has none"


def _regions(form: Form, table: pl.DataFrame) -> str:
    """Every combination of shown values is that of a leaf of the tree of cuts; a leaf may have no records."""
    only_keys(form, {"attributes", "top", "nodes"}, "regions.json")
    on = names(form, "attributes")
    _shown(form, "top", on)
    nodes = forms(form, "nodes")
    below = [child for node in nodes if "shown" not in node for child in _children(node, on)]
    if sorted(below) != list(range(1, len(nodes))):
        raise CheckError("the nodes of regions.json are no tree")
    leaves = {_shown(node, "shown", on) for node in nodes if "shown" in node}
    for name in on:
        values(table, name)
    shown = set(_texts(table, on))
    if not shown <= leaves:
        raise CheckError("the table shows what is no region of regions.json")
    return f"{len(shown)} regions are shown, each of them listed"


def _children(node: Form, on: Sequence[str]) -> list[int]:
    kind = one_of(node, "cut", tuple(CUTS))
    only_keys(node, {"attribute", "cut", "below", *CUTS[kind]}, "a node of regions.json")
    one_of(node, "attribute", on)
    below: list[object] = field(node, "below", list)
    numbers = [child for child in below if isinstance(child, int) and not isinstance(child, bool)]
    if len(numbers) != len(below):
        raise CheckError("below a cut of regions.json stand the numbers of nodes")
    return numbers


def _shown(form: Form, key: str, on: Sequence[str]) -> Class:
    if key == "shown":
        only_keys(form, {"shown"}, "a leaf of regions.json")
    shown = mapping(form.get(key), key)
    labels = tuple(label for label in (shown.get(name, 0) for name in on) if label is None or isinstance(label, str))
    if set(shown) != set(on) or len(labels) != len(on):
        raise CheckError(f"{key!r} in regions.json has not one text for every column")
    return labels


def _texts(table: pl.DataFrame, on: Sequence[str]) -> list[Class]:
    import polars as pl

    return table.select(pl.col(on).cast(pl.String)).unique().rows()


def _centroids(form: Form, table: pl.DataFrame) -> str:
    """Every class is shown by as many records as its size says, and no record shows anything else."""
    import polars as pl

    only_keys(form, {"attributes", "sizes", "missing"}, "centroids.json")
    one_of(form, "missing", ("class", "impute"))
    sizes: list[object] = field(form, "sizes", list)
    counts = [size for size in sizes if isinstance(size, int) and not isinstance(size, bool) and size > 0]
    parts = {name: mapping(part, name) for name, part in field(form, "attributes", dict).items()}
    compared = {name: part for name, part in parts.items() if _comparable(table, name, part)}
    centres = {name: _centres(part, len(sizes)) for name, part in parts.items()}
    if len(counts) != len(sizes) or not compared:
        raise CheckError("centroids.json has a size for every class and columns that are in the table")
    told: Counter[Class] = Counter()
    for at, size in enumerate(counts):
        told[tuple(centres[name][at] for name in compared)] += size
    columns = [_keyed(table[name], part) for name, part in compared.items()]
    shown = pl.DataFrame(columns).group_by(list(compared)).agg(pl.len().alias("\0size"))
    if {row[:-1]: row[-1] for row in shown.rows()} != told:
        raise CheckError("the table does not show the centres of centroids.json as often as their sizes say")
    return f"{len(told)} centres are shown, each as often as its size says"


def _comparable(table: pl.DataFrame, name: str, part: Form) -> bool:
    """Sets that a text file has joined cannot be taken apart: how is not told."""
    import polars as pl

    if name not in table.columns:
        raise CheckError(f"the table has no column {name!r}")
    return part.get("kind") != "items" or isinstance(table.schema[name], pl.List)


def _centres(part: Form, count: int) -> list[str | None]:
    only_keys(part, {"kind", "centres", "calendar"}, "a column of centroids.json")
    entries: list[object] = field(part, "centres", list)
    if len(entries) != count:
        raise CheckError("centroids.json has not as many centres as sizes")
    return [_key(entry, part) for entry in entries]


def _keyed(column: pl.Series, part: Form) -> pl.Series:
    import polars as pl

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
    if kind == "items" and isinstance(cell, list):
        return json.dumps(sorted(str(item) for item in cell))
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
