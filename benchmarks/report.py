"""How long the two reports and the attacks of a publish take, in CPU seconds.

    python -m benchmarks.report [ROWS ...]

Adult's complete records, eight quasi-identifiers, k = 50, Partition, six clusters. Other numbers of rows are drawn from
them with replacement, ages moved by at most a year.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.events import Began, Ended, Event

QUASI = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
STEPS = ("Drawing the public report", "Attacking what is shown", "Drawing the holder's report")
SIZES = (45_222, 1_000_000)


class Clock:
    """Owns the CPU seconds of every step so far."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, event: Event) -> None:
        """Told by the run when a step begins and when it ends."""
        if isinstance(event, Began):
            self.seconds[event.step] = -time.process_time()
        elif isinstance(event, Ended):
            self.seconds[event.step] += time.process_time()


def people(rows: int) -> pa.Table:
    """Adult, or so many records drawn from it."""
    table = sf.datasets.load("adult", complete=True).table.select([*QUASI, "income"])
    if rows == table.num_rows:
        return table
    chance = np.random.default_rng(0)
    drawn = table.take(chance.integers(0, table.num_rows, rows))
    ages = np.clip(drawn["age"].to_numpy() + chance.integers(-1, 2, rows), 17, 90)
    return drawn.set_column(0, "age", pa.array(ages, drawn.schema.field("age").type)).combine_chunks()


def recipe(k: int = 50) -> sf.Recipe:
    """Eight quasi-identifiers and one secret."""
    known = sf.datasets.load("adult", complete=True).schema
    quasi = {name: replace(known[name], role="quasi") for name in QUASI}
    schema = sf.Schema({**quasi, "income": replace(known["income"], role="sensitive")})
    asked = (sf.KAnonymity(QUASI, k),)
    return sf.Recipe(schema=schema, structure=sf.Clusters("kmeans", k=6), privacy=asked, mask=sf.Partition())


def seconds(rows: int) -> dict[str, float]:
    """CPU seconds of each step of one publish."""
    clock = Clock()
    with TemporaryDirectory() as folder:
        sf.publish(people(rows), recipe(), run=sf.Run(listener=clock, ledger=sf.Ledger(f"{folder}/ledger.jsonl")))
    return clock.seconds


def main(*sizes: int) -> None:
    """Print a table of the steps that draw and attack."""
    every = sizes or SIZES
    found = [seconds(rows) for rows in every]
    print(f"| CPU seconds | {' | '.join(f'{rows:,} rows' for rows in every)} |")
    print(f"|---|{'---|' * len(every)}")
    for step in STEPS:
        print(f"| {step} | {' | '.join(f'{one[step]:.2f}' for one in found)} |")
    print(f"| together | {' | '.join(f'{sum(one[step] for step in STEPS):.2f}' for one in found)} |")


if __name__ == "__main__":
    main(*(int(rows) for rows in sys.argv[1:]))
