"""Runs whole maskers on neighbouring tables that are chosen to hurt: the table of docs/differential_privacy.md.

python -m tools.audit 1000      # runs of each masker on each of five tables: three minutes of CPU
python -m tools.audit 100000    # narrower bounds: hours
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context

from tests.statistical.audit import Outputs, leak
from tests.statistical.neighbours import BASE, HURT, Row
from tests.statistical.whole import TOO_MUCH, WHOLE, spendthrift

AT_ONCE = 1_000
AUDITED = {"private tree": 1, "DPHeter": 4}
"""The epsilon of each: at 1 three steps of DPHeter show hardly anything of ten records."""
FEW = 2_000
"""So many runs show a planted bug: it spends many times what it claims, and must lose more than that."""


def main(runs: int) -> None:
    """One line for each masker and pair: a lower bound on the epsilon that the most telling event gives away."""
    print("| masker | epsilon | the record that hurts | lost, at least | runs on each table |")
    print("|---|---|---|---|---|")
    for name, whole in WHOLE.items():
        found = spendthrift(name, FEW)
        line = f"| {name} that spends {TOO_MUCH} | {whole.epsilon} | alone in a leaf | {found.epsilon:.2f} | {FEW:,} |"
        print(line, flush=True)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for name, epsilon in AUDITED.items():
            without = _outputs(pool, name, BASE, runs, first=0)
            for at, (hurt, record) in enumerate(HURT.items(), 1):
                found = leak(_outputs(pool, name, [*BASE, record], runs, first=at * runs), without)
                print(f"| {name} | {epsilon} | {hurt} | {found.epsilon:.2f} | {len(without):,} |", flush=True)


def _outputs(pool: ProcessPoolExecutor, name: str, rows: list[Row], runs: int, *, first: int) -> Outputs:
    """What so many releases show, a thousand to each task; seeds, where there are any, are all different."""
    tasks = [
        pool.submit(_some, name, rows, min(AT_ONCE, runs - done), first + done) for done in range(0, runs, AT_ONCE)
    ]
    return list(chain.from_iterable(task.result() for task in tasks))


def _some(name: str, rows: list[Row], runs: int, seed: int) -> Outputs:
    return WHOLE[name].outputs(rows, runs, seed=seed, spent=AUDITED[name])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000)
