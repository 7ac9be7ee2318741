"""MST or AIM on columns of small whole numbers. Runs under a Python of its own, for which docs/results/dpheter.md tells
the packages.

    PYTHON dpheter_rival.py IN.npz OUT.npz MODEL EPSILON

IN has `codes` (rows, columns) and `sizes` (columns,), the public number of values of each column; OUT has as many
generated rows. The privacy is (epsilon, 10^-5), weaker than ours: these models need a delta.

dpmm chooses what to measure and adds the noise, with its own settings; its models are fitted to the noisy counts by
mbi, the library of the author of both mechanisms, in as many steps as dpmm asks for. Fits are post-processing. dpmm's
own ones do the same in numpy, and slower.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np

DELTA = 1e-5
KEPT_FITS = 10
"""Compiled programs are dropped after so many fits: each of AIM's fits needs new ones, until memory maps run out."""
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "MST": ("dpmm.models.mst", "MSTGM", {}),
    "AIM": ("dpmm.models.aim", "AIMGM", {"max_model_size": 1}),
}
"""AIM's model is held to a megabyte: with the 80 that dpmm allows, it can take many hours, says its source."""


def main(given: str, made: str, model: str, epsilon: str) -> None:
    """Fit one model and write what it generates."""
    import_module("jax").config.update("jax_enable_x64", True)
    import_module("jax").config.update("jax_enable_compilation_cache", False)
    with np.load(given) as table:
        codes, sizes = table["codes"], table["sizes"]
    name, kind, settings = MODELS[model]
    import_module("dpmm.models.base.mbi").FactoredInference.mirror_descent = descend
    names = [f"c{at}" for at in range(len(sizes))]
    frame = import_module("pandas").DataFrame(codes, columns=names)
    fitted = getattr(import_module(name), kind)(epsilon=float(epsilon), delta=DELTA, n_jobs=1, **settings)
    fitted.set_domain(dict(zip(names, sizes.tolist(), strict=True)))
    fitted.fit(frame)
    np.savez(made, codes=fitted.generate(n_records=len(codes))[names].to_numpy())


def descend(fit: Any, measurements: list[Any], total: float | None, callback: None = None) -> None:
    """Mirror descent by mbi in the place of dpmm's: the model nearest to noisy counts."""
    mbi, dpmm = import_module("mbi"), import_module("dpmm.models.base.mbi")
    fit._setup(measurements, total)
    model = fit.model
    domain = mbi.Domain(tuple(model.domain.attrs), tuple(map(int, model.domain.shape)))
    seen = [_measurement(mbi, *one) for one in measurements]
    begin = getattr(fit, "found", None) if fit.warm_start else None
    fit.found = mbi.estimation.MirrorDescent().estimate(
        domain, seen, known_total=model.total, iters=fit.iters, warm_start=begin
    )
    model.potentials = dpmm.CliqueVector.zeros(model.domain, model.cliques)
    model.potentials.combine(
        {
            clique: dpmm.Factor(model.domain.project(clique), np.asarray(table.values, dtype=float))
            for clique, table in fit.found.potentials.tables.items()
        }
    )
    model.marginals = model.belief_propagation(model.potentials)
    fit.fits = getattr(fit, "fits", 0) + 1
    if not fit.fits % KEPT_FITS:
        import_module("jax").clear_caches()


def _measurement(mbi: Any, query: Any, noisy: Any, noise: float, columns: Any) -> Any:
    """Counts with noise; those of rare values that dpmm has joined weigh less."""
    weights = np.asarray(query @ np.ones(query.shape[1]))
    how = {} if np.all(weights == 1) else {"query": mbi.WeightedQuery(weights)}
    return mbi.LinearMeasurement(np.asarray(noisy).ravel(), tuple(columns), float(noise), **how)


if __name__ == "__main__":
    main(*sys.argv[1:])
