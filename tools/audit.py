"""Runs whole maskers on neighbouring tables that are chosen to hurt: the table of docs/differential_privacy.md.

python -m tools.audit 100000    # runs of each masker on each of five tables
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import chain

from tests.statistical.audit import Outputs, leak
from tests.statistical.neighbours import BASE, HURT, Row
from tests.statistical.whole import WHOLE

AT_ONCE = 1_000


def main(runs: int) -> None:
    """One line for each masker and pair: a lower bound on the epsilon that the most telling event gives away."""
    print("| masker | epsilon | the record that hurts | lost, at least | runs on each table |")
    print("|---|---|---|---|---|")
    with ProcessPoolExecutor() as pool:
        for name, whole in WHOLE.items():
            without = _outputs(pool, name, BASE, runs, first=0)
            for at, (hurt, record) in enumerate(HURT.items(), 1):
                found = leak(_outputs(pool, name, [*BASE, record], runs, first=at * runs), without)
                print(f"| {name} | {whole.epsilon} | {hurt} | {found.epsilon:.2f} | {len(without):,} |", flush=True)


def _outputs(pool: ProcessPoolExecutor, name: str, rows: list[Row], runs: int, *, first: int) -> Outputs:
    """What so many releases show, a thousand to each task; seeds, where there are any, are all different."""
    tasks = [
        pool.submit(_some, name, rows, min(AT_ONCE, runs - done), first + done) for done in range(0, runs, AT_ONCE)
    ]
    return list(chain.from_iterable(task.result() for task in tasks))


def _some(name: str, rows: list[Row], runs: int, seed: int) -> Outputs:
    return WHOLE[name].outputs(rows, runs, seed=seed)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000)
