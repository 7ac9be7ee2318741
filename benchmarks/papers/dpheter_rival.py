"""MST or AIM on columns of small whole numbers. Runs under a Python that has dpmm, which does not install beside us.

    PYTHON dpheter_rival.py IN.npz OUT.npz MODEL EPSILON

IN has `codes` (rows, columns) and `sizes` (columns,), the public number of values of each column; OUT has as many
generated rows. The privacy is (epsilon, 10^-5), weaker than ours: these models need a delta.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np

DELTA = 1e-5
STEPS = 500
"""Most steps of each fit to noisy marginals; dpmm's own 2,500 and 5,000 take minutes for each table."""
MODELS = {"MST": ("dpmm.models.mst", "MSTGM"), "AIM": ("dpmm.models.aim", "AIMGM")}


def main(given: str, made: str, model: str, epsilon: str) -> None:
    """Fit one model and write what it generates."""
    with np.load(given) as table:
        codes, sizes = table["codes"], table["sizes"]
    module, name = MODELS[model]
    _limit(import_module(module))
    names = [f"c{at}" for at in range(len(sizes))]
    frame = import_module("pandas").DataFrame(codes, columns=names)
    fitted = getattr(import_module(module), name)(epsilon=float(epsilon), delta=DELTA, n_jobs=1, n_iters=STEPS)
    fitted.set_domain(dict(zip(names, sizes.tolist(), strict=True)))
    fitted.fit(frame)
    np.savez(made, codes=fitted.generate(n_records=len(codes))[names].to_numpy())


def _limit(module: Any) -> None:
    """No fit takes more than `STEPS`."""
    fit = module.FactoredInference
    module.FactoredInference = lambda domain, iters, **more: fit(domain, iters=min(iters, STEPS), **more)


if __name__ == "__main__":
    main(*sys.argv[1:])
