"""MST or AIM on columns of small whole numbers. Runs under a Python that has dpmm, which does not install beside us.

    PYTHON dpheter_rival.py IN.npz OUT.npz MODEL EPSILON

IN has `codes` (rows, columns) and `sizes` (columns,), the public number of values of each column; OUT has as many
generated rows. The privacy is (epsilon, 10^-5), weaker than ours: these models need a delta.
"""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np

DELTA = 1e-5
STEPS = 1000
"""Of fitting the model to its measurements; dpmm's default of 5,000 takes minutes for each table."""
MODELS = {"MST": ("dpmm.models.mst", "MSTGM"), "AIM": ("dpmm.models.aim", "AIMGM")}


def main(given: str, made: str, model: str, epsilon: str) -> None:
    """Fit one model and write what it generates."""
    with np.load(given) as table:
        codes, sizes = table["codes"], table["sizes"]
    module, name = MODELS[model]
    names = [f"c{at}" for at in range(len(sizes))]
    frame = import_module("pandas").DataFrame(codes, columns=names)
    fitted = getattr(import_module(module), name)(epsilon=float(epsilon), delta=DELTA, n_jobs=1, n_iters=STEPS)
    fitted.set_domain(dict(zip(names, sizes.tolist(), strict=True)))
    fitted.fit(frame)
    np.savez(made, codes=fitted.generate(n_records=len(codes))[names].to_numpy())


if __name__ == "__main__":
    main(*sys.argv[1:])
