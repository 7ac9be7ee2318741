"""How many new rows find a part that covers them: Partition learned on nine tenths of Adult, asked about the last.

    XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.new_rows

Seven quasi-identifiers, guided by the income. A new row that no part covers shows nothing (`unseen="suppress"`).
"""

from __future__ import annotations

import warnings

import pyarrow as pa

import sfumato as sf

QUASI = ("age", "workclass", "education", "marital_status", "occupation", "sex", "hours_per_week")
CLASS = "income"
WAYS = {
    "sets, by what occurs": sf.Partition(),
    'sets, `extent="cuts"`': sf.Partition(extent="cuts"),
    '`show="labels"`': sf.Partition(show="labels"),
}
TENTH = 10


def covered(mask: sf.Partition, k: int) -> float:
    """The share of the last tenth's rows that show something."""
    adult = sf.datasets.load("adult", complete=True)
    table = adult.table.select([*QUASI, CLASS])
    rows = table.num_rows // TENTH * (TENTH - 1)
    recipe = sf.Recipe(
        schema=sf.Schema({name: adult.schema[name] for name in (*QUASI, CLASS)}),
        structure=sf.Classes(CLASS),
        privacy=[sf.KAnonymity(QUASI, k)],
        mask=mask,
    )
    release = sf.publish(table.slice(0, rows), recipe, run=sf.Run(report=False, trial=True))
    new: pa.Table = release.apply(table.slice(rows), unseen="suppress")
    hidden = [all(cell in (None, "*") for cell in row.values()) for row in new.select(QUASI).to_pylist()]
    return 1 - sum(hidden) / len(hidden)


def main() -> None:
    """Print the table of the page."""
    warnings.simplefilter("ignore")
    print("| shown | k = 10 | k = 100 |\n|---|---|---|")
    for name, mask in WAYS.items():
        print(f"| {name} | {covered(mask, 10):.0%} | {covered(mask, 100):.0%} |", flush=True)


if __name__ == "__main__":
    main()
