"""`sfumato clusters`: the groups that the holder saw, found in a release by whoever has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sfumato.cli.output import figures, note, refuse_overwrite, show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXAMPLE = "sfumato clusters out --output grouped.csv"
EXPECTED = "expected"


def clusters(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A folder that publish wrote.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write the table with a column `cluster`: .parquet or .csv."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file that is there.")] = False,
    placement: Annotated[
        str, typer.Option("--placement", help="`expected`, as the codebook says; `middle`, by what rows show alone.")
    ] = EXPECTED,
    k: Annotated[
        int | None,
        typer.Option("--k", min=2, help="So many instead, the best of thirty starts: where no centres go along."),
    ] = None,
) -> None:
    """Find the clusters of RELEASE: k-means, started from the centres that go along.

    They are those that its holder saw if he looked by k-means. RELEASE alone is needed. In Python:
    sf.find_clusters("out"), one number for each row; for --k sf.load("out").clusters(5).
    """
    import numpy as np
    from rich.table import Table

    if output is not None:
        refuse_overwrite(output, force=force)
    labels = _found(release, placement, k)
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
        _write_grouped(release, labels, output)


def _found(release: Path, placement: str, k: int | None) -> NDArray[np.int64]:
    """(rows,): the cluster of each row; which placements there are is told by who knows them."""
    from sfumato.errors import RecipeError
    from sfumato.people.door import opened
    from sfumato.publishing.orders import check_folder, find_clusters

    if k is None:
        return find_clusters(release, placement=cast(Any, placement))
    if placement != EXPECTED:
        raise RecipeError(
            "--placement", "it goes with the centres of a release", given="--k, too", remedy="leave it out"
        )
    check_folder(release)
    return opened(release).clusters(k)


def _write_grouped(release: Path, labels: NDArray[np.int64], output: Path) -> None:
    """The table with a column more; sets are joined as the release does, where it tells how."""
    import pyarrow as pa

    from sfumato.data.writing import write
    from sfumato.publishing.orders import CENTRES, read_space, released_rows
    from sfumato.release.reading import read_certificate
    from sfumato.structure.places import Bag

    rows = released_rows(release)
    name = "cluster"
    while name in rows.column_names:
        name += "_"
    places = read_space(release).attributes if (release / CENTRES).exists() else {}
    separators = {key: place.separator for key, place in places.items() if isinstance(place, Bag)}
    safe = bool(read_certificate(release)["table"].get("spreadsheet_safe"))
    grouped = rows.append_column(name, pa.array(labels))
    write(grouped, output, order=None, separators=separators, spreadsheet_safe=safe)
    note(f"wrote {output}: {len(labels):,} rows, their clusters in {name}")
