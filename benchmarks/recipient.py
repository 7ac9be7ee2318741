"""What a recipient gets out of a release of Adult: clusters and a classifier, with Sfumato's reader and without it.

    XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.recipient          # eight quasi-identifiers, k = 50: two minutes
    XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.recipient 100      # another k
    XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.recipient 20 counts  # the counts alone: half a minute

Two releases by Partition: one guided by six clusters, one by the income. Clusters are compared with those that k-means
finds in the raw table (F-measure). A classifier (gradient boosting) learns from the released rows of two thirds of the
people and is asked about the raw rows of the last third, three times; beside it the same, learned from raw rows. Counts
of labels are estimated from twenty draws; how far they are off is the share of rows that are counted at another label.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.evaluation.clusters import f_measure
from sfumato.people.clusters import cluster_points
from sfumato.people.shown_columns import Labels
from sfumato.structure.structures import find

EIGHT = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
CLASS = "income"
CLUSTERS = sf.Clusters("kmeans", k=6)
DRAWS, FOLDS, COUNTED = 5, 3, 20


def released(folder: Path, k: int, structure: Any) -> tuple[Any, Any]:
    """Adult in the order of its rows, and a release of it in that order, loaded by its recipient."""
    adult = sf.datasets.load("adult", complete=True)
    roles = {**dict.fromkeys(EIGHT, "quasi"), CLASS: "sensitive"}
    schema = sf.Schema({name: replace(adult.schema[name], role=role) for name, role in roles.items()})  # type: ignore[arg-type]
    recipe = sf.Recipe(schema=schema, structure=structure, privacy=[sf.KAnonymity(on=EIGHT, k=k)], keep_order=True)
    raw = adult.table.select(list(roles))
    sf.publish(raw, recipe, run=sf.Run(report=False)).write(folder)
    return raw, sf.load(folder)


def snippet(folder: Path) -> dict[str, Any]:
    """What the lines in the release's README make, run as they stand there."""
    page = (folder / "README.md").read_text(encoding="utf-8")
    lines = re.search(r"## Work with it in pandas alone\n\n((?:(?:    .*)?\n)+)", page)
    assert lines is not None
    made: dict[str, Any] = {}
    code = "\n".join(line[4:] for line in lines[1].splitlines())
    for file in ("table.parquet", "centres.json", "codebook.json"):
        code = code.replace(f'"{file}"', repr(str(folder / file)))
    exec(code, made)
    return made


def clusters_of(points: Any, centres: Any) -> NDArray[np.int64]:
    """Clusters by scikit-learn, from the centres that go along."""
    kmeans = import_module("sklearn.cluster").KMeans(len(centres), init=np.array(centres), n_init=1)
    found: NDArray[np.int64] = kmeans.fit_predict(points)
    return found


def found_clusters(k: int) -> dict[str, float]:
    """F-measure of every way to find the clusters."""
    from sfumato.data.encoding import encode

    with TemporaryDirectory() as place:
        folder = Path(place) / "out"
        raw, people = released(folder, k, CLUSTERS)
        schema = sf.datasets.load("adult", complete=True).schema
        roles = {**dict.fromkeys(EIGHT, "quasi"), CLASS: "sensitive"}
        table = encode(raw, sf.Schema({name: replace(schema[name], role=role) for name, role in roles.items()}))  # type: ignore[arg-type]
        true, alone = find(CLUSTERS, table).labels, snippet(folder)
        return {
            "README's lines, then KMeans": f_measure(true, clusters_of(alone["points"], alone["space"]["centres"])),
            "people.points(), then KMeans": f_measure(true, clusters_of(people.points(), people.centres)),
            "people.clusters()": f_measure(true, people.clusters()),
            "the best of thirty cold starts": f_measure(true, cluster_points(people.points(), len(people.centres))),
        }


def _coded(rows: Any, like: Any) -> NDArray[np.float64]:
    """A frame as numbers: each label by its place among those of the raw column."""
    found = {}
    for name in EIGHT:
        if name == "age":
            found[name] = rows[name].astype(float)
        else:
            labels = {label: at for at, label in enumerate(sorted(like[name].dropna().astype(str).unique()))}
            found[name] = rows[name].astype(str).map(labels).astype(float)
    return np.column_stack(list(found.values()))


def errors(k: int, structure: Any) -> dict[str, float]:
    """Mean error on raw rows of every way to learn."""
    with TemporaryDirectory() as place:
        raw, people = released(Path(place) / "out", k, structure)
        frame = raw.to_pandas()
        classes = frame[CLASS].astype(str).to_numpy()
        exact = _coded(frame, frame)
        drawn = _coded(people.numbers("sample", draws=DRAWS), frame)
        points, asked = people.points(), people.points(raw)
    fold = np.random.default_rng(0).permutation(len(exact)) % FOLDS
    found: dict[str, list[float]] = {}
    for one in range(FOLDS):
        learn, judge = fold != one, fold == one
        for name, rows, given, labels, tiles in (
            ("raw rows", exact, exact, True, 1),
            ('people.numbers("sample")', drawn, exact, True, DRAWS),
            ("people.points()", points, asked, False, 1),
        ):
            many = np.tile(learn, tiles)
            model = import_module("sklearn.ensemble").HistGradientBoostingClassifier(
                categorical_features=np.arange(exact.shape[1]) > 0 if labels else None, random_state=0
            )
            model.fit(rows[many], np.tile(classes, tiles)[many])
            found.setdefault(name, []).append(float((model.predict(given[judge]) != classes[judge]).mean()))
    return {name: float(np.mean(some)) for name, some in found.items()}


def counts_off(k: int) -> dict[str, tuple[float, ...]]:
    """By column: the share of rows that counts by drawn labels put elsewhere, drawn evenly and as they are likely."""
    with TemporaryDirectory() as place:
        raw, people = released(Path(place) / "out", k, CLUSTERS)
        drawn = people.numbers("sample", draws=COUNTED, seed=1)
        found: dict[str, tuple[float, ...]] = {}
        for name in EIGHT[1:]:
            true = raw.to_pandas()[name].astype(str).value_counts()
            labels = Labels.of(people._told(name))
            evenly = dict(zip(labels.labels, labels.shares[labels.codes].sum(axis=0), strict=False))
            likely = drawn[name].astype(str).value_counts() / COUNTED
            found[name] = tuple(_off(true, counts) for counts in (evenly, likely))
        return found


def _off(true: Any, counts: Any) -> float:
    return float(sum(abs(counts.get(label, 0.0) - true[label]) for label in true.index) / 2 / true.sum())


def print_counts(k: int) -> None:
    print("\n| counts of | drawn evenly | drawn as likely |\n| --- | --- | --- |")
    for name, (evenly, likely) in counts_off(k).items():
        print(f"| {name} | {evenly:.1%} | {likely:.1%} |")


def main(k: int) -> None:
    print("| clusters found by | F |\n| --- | --- |")
    for name, f in found_clusters(k).items():
        print(f"| {name} | {f:.4f} |")
    for guide, structure in (("the income", sf.Classes(CLASS)), ("clusters", CLUSTERS)):
        print(f"\n| learned from, guided by {guide} | error on raw rows |\n| --- | --- |")
        for name, error in errors(k, structure).items():
            print(f"| {name} | {error:.4f} |")
    print_counts(k)


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    (print_counts if "counts" in sys.argv else main)(asked)
