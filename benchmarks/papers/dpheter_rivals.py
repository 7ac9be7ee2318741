"""MST and AIM on the tables of 003, in the same cells as ours, through another Python that has them.

Both know columns with one small whole number a row. So they get what our tree counts: every number in its eight public
bins, every category at its leaves, and one yes-or-no column for each label that a set may hold. What they generate goes
back the same way: a number is uniform in its bin, a set holds the labels that say yes.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.maskers.histogram.domains import Domain, ItemDomain, NumberDomain, declared
from sfumato.maskers.histogram.marginals import SetRows, column_of, numbers_in
from sfumato.maskers.histogram.records import Records, records_of

SCRIPT = Path(__file__).with_name("dpheter_rival.py")
ONE_CORE = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, eq=False)
class Coded:
    """A table as whole numbers: `codes` (rows, columns), and how many values each column has."""

    domains: Mapping[str, Domain]
    codes: Ints
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, table: Table, *, bins: int, may_miss: tuple[str, ...]) -> Coded:
        """Every attribute in its public cells."""
        records = records_of(table, declared(table.schema, bins=bins, may_miss=may_miss))
        blocks = {name: _block(records, name) for name in records.domains}
        sizes = [
            size
            for name, domain in records.domains.items()
            for size in ([2] * domain.size if isinstance(domain, ItemDomain) else [domain.size])
        ]
        return cls(records.domains, np.hstack(list(blocks.values())), tuple(sizes))

    def generated(self, python: str, *, model: str, epsilon: str, seed: int) -> tuple[Masked, float]:
        """As many rows as there are records, made by a rival on one core; and in how many seconds."""
        began = time.perf_counter()
        with TemporaryDirectory() as folder:
            given, made = Path(folder) / "given.npz", Path(folder) / "made.npz"
            np.savez(given, codes=self.codes, sizes=np.array(self.sizes))
            command = [python, str(SCRIPT), str(given), str(made), model, epsilon]
            subprocess.run(command, check=True, env={**os.environ, **ONE_CORE})
            with np.load(made) as found:
                columns = self.columns(found["codes"], np.random.default_rng(seed))
        return columns, time.perf_counter() - began

    def columns(self, codes: Ints, random: np.random.Generator) -> Masked:
        """Codes as the columns of a table."""
        found: dict[str, Any] = {}
        first = 0
        for name, domain in self.domains.items():
            width = domain.size if isinstance(domain, ItemDomain) else 1
            found[name] = _column(domain, codes[:, first : first + width], random)
            first += width
        return Masked.of(found, came="generated")


def _block(records: Records, name: str) -> Ints:
    """(rows, 1), or (rows, labels) of a set-valued attribute."""
    if name in records.cells:
        return records.cells[name][:, None]
    sets = records.sets[name]
    held = np.zeros((records.rows, records.domains[name].size), dtype=np.int64)
    held[sets.owners, sets.items] = 1
    return held


def _column(domain: Domain, codes: Ints, random: np.random.Generator) -> Any:
    if isinstance(domain, ItemDomain):
        held = codes > 0
        return column_of(domain, [SetRows(np.nonzero(held)[1], held.sum(axis=1), np.zeros(len(held), dtype=np.bool_))])
    cells = codes[:, 0]
    return column_of(domain, [numbers_in(domain, cells, random) if isinstance(domain, NumberDomain) else cells])
