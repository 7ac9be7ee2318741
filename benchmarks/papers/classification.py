"""Paper 002, section 5, redone: Figures 5, 6a, 6b, 8, 9, 10 and 11.

python -m benchmarks.papers.classification           # fifteen minutes of CPU; writes docs/results
python -m benchmarks.papers.classification --quick   # under a minute; prints, writes nothing unless --out
python -m benchmarks.papers.classification --partition   # what Partition gives, alone: prints its lines
python -m benchmarks.papers.classification --errors      # all other errors that repeat: prints their tables

CRX is not bundled: set SFUMATO_DATA to a folder with crx.csv, or let it be downloaded.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

import sfumato as sf
from benchmarks.papers.classification_report import Curve, Figures, Pair, Race, Timing, lines_of, write_report
from benchmarks.papers.ranking import rank_attributes
from sfumato.data import datasets
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Schema
from sfumato.data.table import Table, narrow
from sfumato.data.taxonomy.taxonomy import Taxonomy, Tree
from sfumato.engines import LocalEngine
from sfumato.evaluation.classes import accuracy_with, class_codes, mask_apart, wrong
from sfumato.evaluation.scores import difference
from sfumato.evaluation.training import Codes, Part, folds, given, raw_features, shown_features, split
from sfumato.maskers.genetic.fit import Genetic
from sfumato.maskers.masker import Labels, Masker, Objective, Task
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.topdown.fit import fit as refine
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import KAnonymity
from sfumato.randomness import Seeded

PAPER = TopDown(beneficial_only=True)
OURS = TopDown(beneficial_only=True, search="portfolio", suppress=0.01)
ADULT_TOP = (
    "capital_gain",
    "age",
    "marital_status",
    "education_num",
    "relationship",
    "hours_per_week",
    "sex",
    "education",
    "occupation",
)
CRX_TOP = ("A9", "A11", "A10", "A8", "A15", "A7", "A14", "A6", "A5")
GERMAN_TOP = (
    "credit_amount",
    "account_status",
    "duration",
    "credit_history",
    "savings",
    "installment_plans",
    "purpose",
    "debtors",
    "property",
)
# The papers do not print their trees. These have as many leaves and levels as ours and group otherwise: who is
# married now, and who belongs to the family.
OTHER_TREES: dict[str, Tree] = {
    "marital_status": {
        "ANY": {
            "Married": {"Spouse-present": ["Married-civ-spouse", "Married-AF-spouse"], "Married-spouse-absent": None},
            "Not-married": {"Never-married": None, "Once-married": ["Separated", "Divorced", "Widowed"]},
        }
    },
    "relationship": {
        "ANY": {
            "Family": ["Husband", "Wife", "Own-child", "Other-relative"],
            "No-family": ["Not-in-family", "Unmarried"],
        }
    },
}
GA_QID = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
KS = (20, 60, 100, 180, 200, 300, 400, 500, 600, 1000)
RACED = (10, 100, 500, 1000)
PARTITIONS: dict[str, Masker] = {"Partition": Partition(), "Partition, labels": Partition(show="labels")}
KINDS = {"suppression": True, "generalization": False}


@dataclass(frozen=True, eq=False)
class Case:
    """A table with its class column and the rows that are held out."""

    name: str
    table: Table
    column: str
    classes: Codes
    parts: Sequence[Part]

    @property
    def names(self) -> list[str]:
        return list(self.table.schema.quasi)

    def task(self, *requirements: KAnonymity) -> Task:
        n = int(self.classes.max()) + 1
        labels = Labels(narrow(self.classes, n), n, told_in_part=True)
        return Task(self.table, labels, requirements, LocalEngine(), objective=self.objective())

    def objective(self) -> Objective | None:
        """For the portfolio: how well a tree tells classes of held-out training rows; test rows are not used."""
        if len(self.parts) > 1:
            return None
        train = self.parts[0].train
        inner = split(self.classes[train])[0]
        parts = [Part(train[inner.train], train[inner.test])]
        return accuracy_with(self.table, self.column, parts=parts, attributes=self.names)


def without_trees(schema: Schema) -> Schema:
    """Categories lose their taxonomies: their values are suppressed."""
    return Schema({n: Category(role=a.role) if isinstance(a, Category) else a for n, a in schema.items()})


def with_other_trees(schema: Schema) -> Schema:
    """Two attributes grouped otherwise."""
    other = {name: Category(role="quasi", taxonomy=Taxonomy.from_tree(t)) for name, t in OTHER_TREES.items()}
    return Schema({**schema, **other})


def adult(*, suppress: bool = False, only: Sequence[str] = (), train: bool = False) -> Case:
    """Adult without incomplete records, masked as one table, in its own split."""
    found = datasets.load("adult", complete=True)
    is_train = np.array(found.table["split"].to_pylist()) == "train"
    arrow = found.table.filter(pa.array(is_train)) if train else found.table
    schema = without_trees(found.schema) if suppress else found.schema
    keep = [*(only or schema.quasi), "income"]
    table = encode(arrow.select(keep), Schema({name: schema[name] for name in keep}))
    classes = class_codes(table, "income")
    return Case("Adult", table, "income", classes, folds(classes, 10) if train else given(is_train))


def small(name: str, column: str, train: int, *, seed: int | None = None) -> Case:
    """CRX or German: the first rows for training, or with a seed as many, drawn at random."""
    found = datasets.load(name, complete=True)
    table = encode(found.table, without_trees(found.schema))
    classes = class_codes(table, column)
    drawn = None if seed is None else split(classes, test=1 - train / table.rows, seed=seed)
    return Case(name, table, column, classes, drawn or given(np.arange(table.rows) < train))


def curve(case: Case, top: Sequence[str], ks: Sequence[int], *, title: str, by: str, masker: Masker = PAPER) -> Curve:
    """AE over k, between BE and UE."""
    raw = raw_features(case.table, case.names)
    be = wrong(raw, case.classes, case.parts, by)
    ue = wrong([f for f in raw if f.name not in top], case.classes, case.parts, by)
    ae, cost = [], []
    for k in ks:
        whole = isinstance(masker, Partition)
        shown = published(case, top, k, masker) if whole else masker.mask(case.task(KAnonymity(top, k))).masked
        seen = wrong(shown_features(case.table, shown, case.names), case.classes, case.parts, by)
        ae.append(float(seen.mean()))
        cost.append(difference(seen, be))
    return Curve(title, tuple(ks), float(be.mean()), float(ue.mean()), tuple(ae), tuple(cost))


def published(case: Case, on: Sequence[str], k: int, masker: Masker) -> Masked:
    """What `publish` shows of a table whose other attributes stay as they are, in the order of its rows."""
    schema = Schema(
        {
            n: a if n in on or n == case.column else replace(a, role="plain", unique_ok=True)
            for n, a in case.table.schema.items()
        }
    )
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Classes(case.column),
        privacy=[KAnonymity(on, k)],
        mask=masker,
        keep_order=True,
    )
    with TemporaryDirectory() as folder:
        run = sf.Run(report=False, trial=True, ledger=sf.Ledger(f"{folder}/ledger"))
        shown = sf.publish(case.table.to_arrow(), recipe, run=run).shown
    return Masked.of({name: shown[name].combine_chunks() for name in on})


def adult_curves(figures: Figures, *, quick: bool, partition: bool = True) -> None:
    """Figures 5, 6a and 6b, and Top7 once more with what is ours."""
    ks, tops = ((20, 1000), (7,)) if quick else (KS, (5, 7, 9))
    for name, suppress in KINDS.items():
        case = adult(suppress=suppress)
        for by in ("tree",) if quick else ("tree", "naive_bayes"):
            for n in tops:
                title = f"Adult, {name}, {by}, Top{n}"
                figures.add(curve(case, ADULT_TOP[:n], ks, title=title, by=by))
        if not quick:
            title = f"Adult, {name}, tree, Top7, ours"
            figures.add(curve(case, ADULT_TOP[:7], ks, title=title, by="tree", masker=OURS))
        if partition:
            partition_curve(figures, case, name, ks)
    if not quick:
        arrow = case.table.to_arrow()
        other = replace(case, table=encode(arrow, with_other_trees(case.table.schema)))
        title = "Adult, generalization, tree, Top7, other trees"
        figures.add(curve(other, ADULT_TOP[:7], ks, title=title, by="tree"))


def partition_curve(figures: Figures, case: Case, name: str, ks: Sequence[int]) -> None:
    """What `publish` gives of Top7, in Figure 5 or 6a."""
    title = f"Adult, {name}, tree, Top7, Partition"
    figures.add(curve(case, ADULT_TOP[:7], ks, title=title, by="tree", masker=Partition()))


def small_curves(figures: Figures, *, quick: bool) -> None:
    """Figure 9: in one split, and in ten folds, because the split's test part is small (PAPERS.md, 002-14)."""
    for case, top, ks in (
        (small("crx", "A16", 465), CRX_TOP, (20, 40, 60, 100, 150, 200, 250, 300, 400, 500, 600)),
        (small("german", "class", 666, seed=0), GERMAN_TOP, (20, 40, 60, 80, 100, 200, 400, 600, 800, 1000)),
    ):
        apart = Case(case.name, case.table, case.column, case.classes, folds(case.classes, 10))
        for n in (7,) if quick else (5, 7, 9):
            for each, how in ((case, "split"), (apart, "10 folds")):
                title = f"{case.name}, {how}, Top{n}"
                figures.add(curve(each, top[:n], ks[:1] if quick else ks, title=title, by="tree"))


def random_requirements(names: Sequence[str], count: int, k: int, *, seed: int = 0) -> list[tuple[KAnonymity, ...]]:
    """002 section 5.1.1: 3 to 7 QIDs of one length from 2 to 9, drawn anew; a repeated QID is discarded."""
    random = Seeded(seed).generator()
    found = []
    for _ in range(count):
        qids, length = int(random.integers(3, 8)), int(random.integers(2, 10))
        drawn = {frozenset(random.choice(names, length, replace=False).tolist()) for _ in range(qids)}
        found.append(tuple(KAnonymity([n for n in names if n in qid], k) for qid in sorted(drawn, key=sorted)))
    return found


def united(requirements: Sequence[KAnonymity]) -> KAnonymity:
    """All quasi-identifiers as one."""
    return KAnonymity(list(dict.fromkeys(n for r in requirements for n in r.on)), requirements[0].k)


def multi_against_single(figures: Figures, *, quick: bool) -> None:
    """Figure 8: several quasi-identifiers against all of their attributes as one."""
    case = adult()
    for requirements in random_requirements(case.names, 4 if quick else 30, 100):
        several, single = (
            float(
                wrong(
                    shown_features(case.table, PAPER.mask(case.task(*asked)).masked, case.names),
                    case.classes,
                    case.parts,
                    "tree",
                ).mean()
            )
            for asked in (requirements, (united(requirements),))
        )
        figures.pairs.append(Pair(len(requirements), len(requirements[0].on), several, single))


REPEATED: dict[str, Masker] = {"TDR": PAPER, "TDR, ours": OURS, "InfoGain Mondrian": Mondrian()}
"""Maskers of Figure 10 that no clock stops, beside Partition."""


def race(figures: Figures, *, quick: bool, seconds: float) -> None:
    """Figure 10: one quasi-identifier, no other attributes, masks learned on nine folds and applied to the tenth."""
    case = adult(only=GA_QID, train=True)
    parts = case.parts[:1] if quick else case.parts
    maskers: dict[str, Masker] = {
        "TDR": PAPER,
        "TDR, ours": OURS,
        **PARTITIONS,
        "InfoGain Mondrian": REPEATED["InfoGain Mondrian"],
        "Genetic CM": Genetic(metric="CM", seconds=seconds),
        "Genetic LM": Genetic(metric="LM", seconds=seconds),
    }
    figures.baseline = _baseline(case, parts)
    for k in (100,) if quick else RACED:
        for name, masker in maskers.items():
            figures.races.append(_raced(case, parts, name, masker, k))
    if not quick:
        race_published(figures)
        long_ones: dict[str, Masker] = {f"Genetic {m}, 30 s": Genetic(metric=m, seconds=30) for m in ("CM", "LM")}
        figures.races += [_raced(case, case.parts[:1], name, m, 100) for name, m in long_ones.items()]


def _baseline(case: Case, parts: Sequence[Part]) -> tuple[float, float]:
    """BE and UE where all attributes are masked."""
    be, ue = (wrong(of, case.classes, parts, "tree").mean() for of in (raw_features(case.table, case.names), []))
    return float(be), float(ue)


def race_published(figures: Figures) -> None:
    """Figure 10's table masked as a whole by `publish`: the recipient splits it into the same ten folds."""
    case = adult(only=GA_QID, train=True)
    figures.baseline = _baseline(case, case.parts)
    for k in RACED:
        began = time.perf_counter()
        shown = shown_features(case.table, published(case, GA_QID, k, Partition()), case.names)
        spent = time.perf_counter() - began
        error = float(wrong(shown, case.classes, case.parts, "tree").mean())
        figures.races.append(Race("Partition, whole table published", k, error, spent, len(case.parts)))


def partition_alone(figures: Figures) -> None:
    """Every line of Partition: Figures 5, 6a and 10."""
    case = adult(only=GA_QID, train=True)
    figures.races += [_raced(case, case.parts, name, masker, k) for k in RACED for name, masker in PARTITIONS.items()]
    race_published(figures)
    for name, suppress in KINDS.items():
        partition_curve(figures, adult(suppress=suppress), name, KS)


def errors_alone(figures: Figures) -> None:
    """All that comes out the same whenever it is run, but Partition's lines."""
    rankings(figures)
    adult_curves(figures, quick=False, partition=False)
    small_curves(figures, quick=False)
    multi_against_single(figures, quick=False)
    case = adult(only=GA_QID, train=True)
    figures.baseline = _baseline(case, case.parts)
    figures.races += [_raced(case, case.parts, name, masker, k) for k in RACED for name, masker in REPEATED.items()]


def _raced(case: Case, parts: Sequence[Part], name: str, masker: Masker, k: int) -> Race:
    missed, spent = [], 0.0
    for part in parts:
        began = time.perf_counter()
        masked = mask_apart(case.table, masker, [KAnonymity(GA_QID, k)], case.classes, engine=LocalEngine(), part=part)
        spent += time.perf_counter() - began
        missed.append(wrong(shown_features(case.table, masked, case.names), case.classes, [part], "tree"))
    return Race(name, k, float(np.concatenate(missed).mean()), spent / len(parts), len(parts))


def scalability(figures: Figures, *, quick: bool) -> None:
    """Figure 11: seconds of refinement alone, on blown-up tables, k = 50."""
    found = datasets.load("adult", complete=True)
    for rows in (100_000,) if quick else (200_000, 600_000, 1_000_000):
        blown = datasets.blow_up(found.table, rows, seed=0, attributes=found.schema.quasi)
        table = encode(blown, found.schema)
        classes = class_codes(table, "income")
        several = random_requirements(found.schema.quasi, 3 if quick else 30, 50)
        one = _seconds(table, classes, (KAnonymity(found.schema.quasi, 50),))
        many = float(np.mean([_seconds(table, classes, requirements) for requirements in several]))
        figures.timings.append(Timing(rows, one, many))


def _seconds(table: Table, classes: Codes, requirements: Sequence[KAnonymity]) -> float:
    labels = Labels(narrow(classes, 2), 2)
    began = time.perf_counter()
    refine(table, labels, requirements, settings=PAPER, engine=LocalEngine())
    return time.perf_counter() - began


def rankings(figures: Figures) -> None:
    """TopN, ours beside the paper's."""
    cases = {
        "Adult": (adult(), ADULT_TOP, slice(None)),
        "CRX": (small("crx", "A16", 465), CRX_TOP, slice(0, 465)),
        "German": (small("german", "class", 666), GERMAN_TOP, slice(0, 666)),
    }
    for name, (case, paper, rows) in cases.items():
        part = encode(case.table.to_arrow().slice(0, rows.stop or case.table.rows), case.table.schema)
        figures.rankings[name] = (paper, tuple(rank_attributes(part, class_codes(part, case.column))[:9]))


def main() -> None:
    """Run everything in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="few settings, under a minute")
    parser.add_argument("--partition", action="store_true", help="only what Partition gives")
    parser.add_argument("--errors", action="store_true", help="only errors that repeat, without Partition's")
    parser.add_argument("--out", type=Path, help="folder for the results (docs/results for a full run)")
    parser.add_argument("--seconds", type=float, default=None, help="limit of each genetic search")
    given_ = parser.parse_args()
    figures, began = Figures(), time.perf_counter()
    if given_.partition:
        partition_alone(figures)
        print(lines_of(figures))
        return
    if given_.errors:
        errors_alone(figures)
        print(lines_of(figures))
        return
    seconds = given_.seconds or (1.0 if given_.quick else 3.0)
    rankings(figures)
    for job in (adult_curves, small_curves, multi_against_single, scalability):
        job(figures, quick=given_.quick)
        print(f"{job.__name__}: {time.perf_counter() - began:.0f} s", flush=True)
    race(figures, quick=given_.quick, seconds=seconds)
    figures.seconds, figures.genetic_seconds = time.perf_counter() - began, seconds
    out = given_.out or (None if given_.quick else Path("docs/results"))
    print(write_report(figures, out))


if __name__ == "__main__":
    main()
