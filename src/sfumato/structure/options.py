"""Which options a clusterer takes: plain numbers, truth values and names, each within its limits, and no others.

Options reach scikit-learn's constructors, where a text can mean much: the name of a cache of pickles, of a module's
function. So what may be said is listed here, for each clusterer, and everything else is refused before it gets there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.errors import RecipeError, did_you_mean

LINKAGES = ("ward", "complete", "average", "single")
SKLEARN = "sklearn."


@dataclass(frozen=True)
class Numbers:
    """Numbers from `least` to `most`, whole ones alone if it says so."""

    least: float
    most: float
    whole: bool = False

    def takes(self, given: object) -> bool:
        """Whether it is such a number; true is none."""
        kinds = int if self.whole else int | float
        return isinstance(given, kinds) and not isinstance(given, bool) and self.least <= given <= self.most

    def __str__(self) -> str:
        return f"a {'whole ' if self.whole else ''}number from {self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Names:
    """One of some texts."""

    names: tuple[str, ...]

    def takes(self, given: object) -> bool:
        """Whether it is one of them."""
        return isinstance(given, str) and given in self.names

    def __str__(self) -> str:
        return "one of " + ", ".join(self.names)


@dataclass(frozen=True)
class Truth:
    """True or false."""

    def takes(self, given: object) -> bool:
        """Whether it is one of both."""
        return isinstance(given, bool)

    def __str__(self) -> str:
        return "true or false"


Takes = Numbers | Names | Truth
_ROUNDS = Numbers(1, 10_000, whole=True)
_SHARE = Numbers(0, 1)
_DISTANCE = Numbers(1e-9, 1e9)
_FEW = Numbers(1, 5_000, whole=True)
_METRIC = Names(("euclidean", "manhattan", "l1", "l2", "cosine"))
_CENTRED: dict[str, Takes] = {
    "init": Names(("k-means++", "random")),
    "max_iter": _ROUNDS,
    "tol": _SHARE,
    "algorithm": Names(("lloyd", "elkan")),
}
_DENSE: dict[str, Takes] = {
    "min_samples": _FEW,
    "metric": _METRIC,
    "algorithm": Names(("auto", "brute", "kd_tree", "ball_tree")),
    "leaf_size": _FEW,
}
_MIXED: dict[str, Takes] = {
    "covariance_type": Names(("full", "tied", "diag", "spherical")),
    "tol": _SHARE,
    "reg_covar": _SHARE,
    "max_iter": _ROUNDS,
    "init_params": Names(("kmeans", "k-means++", "random", "random_from_data")),
}
_BISECTING = {**_CENTRED, "bisecting_strategy": Names(("biggest_inertia", "largest_cluster"))}
_DBSCAN = {**_DENSE, "eps": _DISTANCE}
_HDBSCAN = {
    **_DENSE,
    "min_cluster_size": Numbers(2, 5_000, whole=True),
    "max_cluster_size": Numbers(2, 5_000, whole=True),
    "cluster_selection_epsilon": Numbers(0, 1e9),
    "cluster_selection_method": Names(("eom", "leaf")),
    "allow_single_cluster": Truth(),
    "alpha": _DISTANCE,
}
_LINKED: dict[str, Takes] = {"metric": _METRIC}

OURS: Mapping[str, Mapping[str, Takes]] = {
    "kmeans": _CENTRED,
    "bisecting": _BISECTING,
    "agglomerative": {**_LINKED, "linkage": Names(LINKAGES)},
    **{name: {} if name == "ward" else _LINKED for name in LINKAGES},
    "dbscan": _DBSCAN,
    "hdbscan": _HDBSCAN,
    "kmedoids": {},
}
"""The clusterers of ours, with the options of each."""

IMPORTED: Mapping[str, Mapping[str, Takes]] = {
    "sklearn.cluster.AffinityPropagation": {"damping": Numbers(0.5, 0.999), "max_iter": _ROUNDS},
    "sklearn.cluster.AgglomerativeClustering": {**_LINKED, "linkage": Names(LINKAGES)},
    "sklearn.cluster.Birch": {"threshold": _DISTANCE, "branching_factor": Numbers(2, 1_000, whole=True)},
    "sklearn.cluster.BisectingKMeans": _BISECTING,
    "sklearn.cluster.DBSCAN": _DBSCAN,
    "sklearn.cluster.HDBSCAN": _HDBSCAN,
    "sklearn.cluster.KMeans": _CENTRED,
    "sklearn.cluster.MeanShift": {"bandwidth": _DISTANCE, "cluster_all": Truth(), "max_iter": _ROUNDS},
    "sklearn.cluster.MiniBatchKMeans": {
        **{name: takes for name, takes in _CENTRED.items() if name != "algorithm"},
        "batch_size": Numbers(1, 1_000_000, whole=True),
    },
    "sklearn.cluster.OPTICS": {**_DENSE, "max_eps": _DISTANCE, "xi": _SHARE},
    "sklearn.cluster.SpectralClustering": {
        "affinity": Names(("rbf", "nearest_neighbors")),
        "gamma": _DISTANCE,
        "n_neighbors": _FEW,
        "assign_labels": Names(("kmeans", "discretize", "cluster_qr")),
    },
    "sklearn.mixture.BayesianGaussianMixture": _MIXED,
    "sklearn.mixture.GaussianMixture": _MIXED,
}
"""The clusterers of scikit-learn that can be named by their import path, with the options of each."""


def check_options(clusterer: str, options: object) -> None:
    """Refuse options that are not listed for a clusterer, and values that are none of theirs."""
    takes = {**OURS, **IMPORTED}[clusterer]
    if not isinstance(options, Mapping):
        raise RecipeError("options", "options are given by their names", given=type(options).__name__,
                          remedy="write {eps: 0.3}")  # fmt: skip
    for name, given in options.items():
        if name not in takes:
            raise RecipeError(clusterer, "an option is one that is listed for the clusterer", given=_told(name),
                              remedy=did_you_mean(str(name), takes))  # fmt: skip
        if not takes[name].takes(given):
            raise RecipeError(f"{clusterer}: {name}", f"it is {takes[name]}", given=_told(given),
                              remedy="mend it, or leave it out")  # fmt: skip


def _told(given: Any) -> str:
    return repr(given) if isinstance(given, str | int | float) else type(given).__name__
