"""Which encoding of a masked table does a classifier learn best from?

    python -m benchmarks.learning          # Adult, eight quasi-identifiers, k = 50: some minutes
    python -m benchmarks.learning 100      # another k

Adult is masked by Partition, guided by the income, as a whole. Gradient boosting learns from two thirds of the masked
rows and is judged by the last third, three times: on masked rows, or on raw ones.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.structure.masked_positions import interval_ends

EIGHT = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
CLASS = "income"
DRAWS, FOLDS = 5, 3
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Masked:
    """The first attribute's intervals, and for each other (rows, labels) which labels a row may have."""

    low: Matrix
    high: Matrix
    may_be: list[NDArray[np.bool_]]

    def shares(self) -> Matrix:
        """Middle and width of the interval, and of each label its share of those shown."""
        labels = [part / part.sum(axis=1, keepdims=True) for part in self.may_be]
        return np.column_stack([(self.low + self.high) / 2, self.high - self.low, *labels])

    def sets(self) -> Matrix:
        """Middle and width of the interval, and each set as a category of its own."""
        codes = [np.minimum(np.unique(part, axis=0, return_inverse=True)[1].ravel(), 254) for part in self.may_be]
        return np.column_stack([(self.low + self.high) / 2, self.high - self.low, *codes])

    def drawn(self, rng: np.random.Generator) -> Matrix:
        """A row as it may have been: a number and labels drawn evenly from what is shown."""
        number = np.floor(self.low + rng.random(len(self.low)) * (self.high - self.low))
        labels = [(rng.random(part.shape) * part).argmax(axis=1) for part in self.may_be]
        return np.column_stack([number, *labels])


def published(k: int) -> tuple[Matrix, Masked, NDArray[np.int64]]:
    """Adult's raw rows, the same rows masked, and their classes."""
    adult = sf.datasets.load("adult", complete=True)
    roles = {**dict.fromkeys(EIGHT, "quasi"), CLASS: "sensitive"}
    schema = sf.Schema({name: replace(adult.schema[name], role=role) for name, role in roles.items()})  # type: ignore[arg-type]
    arrow = adult.table.select(list(roles))
    recipe = sf.Recipe(schema=schema, structure=sf.Classes(CLASS), privacy=[sf.KAnonymity(on=EIGHT, k=k)])
    release = sf.publish(arrow, recipe, run=sf.Run(report=False, trial=True))
    table = encode(arrow, schema)
    shown = release.mask.apply(table)
    texts = {name: [str(one) for one in shown[name].values.to_pylist()] for name in EIGHT}
    ends = np.array([_ends(text) for text in texts["age"]])[shown["age"].codes]
    may_be = [_may_be(texts[name], table.column(name).values.to_pylist())[shown[name].codes] for name in EIGHT[1:]]
    raw = np.column_stack([arrow["age"].to_numpy(), *(table.column(name).codes for name in EIGHT[1:])])
    return raw.astype(float), Masked(ends[:, 0], ends[:, 1], may_be), table.column(CLASS).codes.astype(np.int64)


def _ends(text: str) -> tuple[float, float]:
    found = interval_ends(text)
    return (17.0, 91.0) if found is None or found.low is None or found.high is None else (found.low, found.high)


def _may_be(texts: list[str], labels: list[Any]) -> NDArray[np.bool_]:
    """(texts, labels): which labels each text stands for."""
    sets = [set(labels) if text == "*" else set(text.strip("{}").split(", ")) for text in texts]
    return np.array([[label in some for label in labels] for some in sets])


def errors(k: int) -> dict[str, float]:
    """Mean error of every way to learn."""
    raw, masked, classes = published(k)
    rng = np.random.default_rng(0)
    shares, sets, drawn = masked.shares(), masked.sets(), [masked.drawn(rng) for _ in range(DRAWS)]
    fold = rng.permutation(len(raw)) % FOLDS
    found: dict[str, list[float]] = {}
    for one in range(FOLDS):
        learn, judge = fold != one, fold == one
        many = np.concatenate([rows[learn] for rows in drawn]), np.tile(classes[learn], DRAWS)
        for name, rows, labels, asked, numbers in (
            ("raw rows, judged on raw rows", raw[learn], classes[learn], raw[judge], 1),
            ("sets as categories, judged on masked rows", sets[learn], classes[learn], sets[judge], 2),
            ("shares of labels, judged on masked rows", shares[learn], classes[learn], shares[judge], shares.shape[1]),
            ("rows drawn inside their regions, judged on raw rows", *many, raw[judge], 1),
        ):
            found.setdefault(name, []).append(_error(rows, labels, asked, classes[judge], numbers=numbers))
    return {name: float(np.mean(some)) for name, some in found.items()}


def _error(rows: Matrix, labels: NDArray[Any], asked: Matrix, true: NDArray[Any], *, numbers: int) -> float:
    model: Any = import_module("sklearn.ensemble").HistGradientBoostingClassifier(
        categorical_features=np.arange(rows.shape[1]) >= numbers, random_state=0
    )
    return float((model.fit(rows, labels).predict(asked) != true).mean())


def main(k: int) -> None:
    print("| learned from | error |\n| --- | --- |")
    for name, error in errors(k).items():
        print(f"| {name} | {error:.4f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
