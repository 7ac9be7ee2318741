"""`sfumato clusters`: the groups that the holder saw, found in a release by whoever has it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sfumato.cli.output import figures, note, refuse_overwrite, show

EXAMPLE = "sfumato clusters out --output grouped.csv"


def clusters(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A folder that publish wrote.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write the table with a column `cluster`: .parquet or .csv."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file that is there.")] = False,
    placement: Annotated[
        str, typer.Option("--placement", help="`expected`, as the codebook says; `middle`, by what rows show alone.")
    ] = "expected",
) -> None:
    """Find the clusters of RELEASE: k-means, started from the centres that go along.

    They are those that its holder saw if he looked by k-means. RELEASE alone is needed. In Python:
    sf.find_clusters("out"), one number for each row.
    """
    import numpy as np
    import pyarrow as pa
    from rich.table import Table

    from sfumato.data.writing import write
    from sfumato.publishing.orders import find_clusters, read_space, released_rows
    from sfumato.release.reading import read_certificate
    from sfumato.structure.places import Bag

    if output is not None:
        refuse_overwrite(output, force=force)
    labels = find_clusters(release, placement=cast(Any, placement))  # which there are is told by who knows them
    counts = np.bincount(labels).tolist()
    shares = [{"cluster": at, "rows": rows, "share": rows / len(labels)} for at, rows in enumerate(counts)]
    figures("clusters", {"rows": len(labels), "clusters": shares})
    table = Table(title=f"{len(labels):,} rows", title_justify="left")
    for heading in ("cluster", "rows", "share"):
        table.add_column(heading, justify="right")
    for one in shares:
        table.add_row(str(one["cluster"]), f"{one['rows']:,}", f"{one['share']:.1%}")
    show(table)
    if output is not None:
        rows = released_rows(release)
        name = "cluster"
        while name in rows.column_names:
            name += "_"
        places = read_space(release).attributes
        separators = {key: place.separator for key, place in places.items() if isinstance(place, Bag)}
        safe = bool(read_certificate(release)["table"].get("spreadsheet_safe"))
        grouped = rows.append_column(name, pa.array(labels))
        write(grouped, output, order=None, separators=separators, spreadsheet_safe=safe)
        note(f"wrote {output}: {len(labels):,} rows, their clusters in {name}")
