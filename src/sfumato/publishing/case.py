"""Case: what is known in a run so far. Every step takes one and gives back one that knows more.

`prepare` gives the people as they are published: without dropped rows, and with look-alikes settled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.calls import constructed, expected
from sfumato.counting import Engine
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.evaluation.attacks.results import AttackReport, Measured
from sfumato.evaluation.attacks.settings import Effort, Others
from sfumato.evaluation.scores import Judged
from sfumato.events import Listener, Stop
from sfumato.maskers.masker import Outcome, Task
from sfumato.maskers.sensitive import settled
from sfumato.privacy.ledger import Account, Ledger
from sfumato.privacy.verify import Verdict
from sfumato.publishing.remarks import Remarks
from sfumato.randomness import Randomness, Secure
from sfumato.recipe import Recipe
from sfumato.release.accounting import Accounting, Costs, Free
from sfumato.release.bundle import Format, Shown
from sfumato.release.labels import ClusterLabels
from sfumato.release.report.material import Released
from sfumato.structure.measures import Measure, check_own
from sfumato.structure.structures import Found


@constructed
@dataclass(frozen=True, kw_only=True)
class Run:
    """How to run, apart from what: who counts, where chance comes from, who listens, what ends it early.

    `chance`: `sf.Secure()`, or for tests `sf.Seeded(n)`, which draws the same every time and protects nobody.
    `report`: draw the report in its two editions. `ledger`: where spent epsilon is
    entered, and every release that is written. `trial`: nothing is to be written, so that releases which are out
    already are neither told nor in the way, until it is written all the same (`sfumato publish --trial`). `suggest`:
    where the table tells too little, try other settings on a sample. `stream`: read the table by batches, or whole;
    None leaves that to its size. `measures`: figures of your own by name, each a function of the labels of raw
    records and those found again.
    """

    engine: Engine | None = None
    chance: Randomness = field(default_factory=Secure)
    listener: Listener | None = None
    stop: Stop | None = None
    format: Format = "parquet"
    report: bool = True
    ledger: Ledger = field(default_factory=Ledger)
    trial: bool = False
    suggest: bool = False
    stream: bool | None = None
    measures: Mapping[str, Measure] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.chance, type) or not hasattr(self.chance, "permutation"):
            rule, remedy = "chance is an sf.Secure or an sf.Seeded", "write chance=sf.Seeded(1), or leave it out"
            expected("Run: chance", self.chance, (), rule=rule, remedy=remedy)
        remedy = 'write ledger=sf.Ledger("folder"), or leave it out'
        expected("Run: ledger", self.ledger, Ledger, rule="it is an sf.Ledger", remedy=remedy)
        if self.measures:
            check_own(self.measures)


class _NotYet:
    """Stands for what a later step finds out: whoever asks too early is told so."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by tools that look at modules, not by a step
            raise AttributeError(name)
        raise AssertionError(f"a step asked for {name} of what no step before it has found")


NOT_YET: Any = _NotYet()


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """One run: what it was given, and below that what its steps have found, in their order.

    `whole`: of large tables, too, all records are compared. `seconds`: how long each step took. `closing`: what is
    undone if the run does not end well.
    """

    recipe: Recipe
    run: Run
    source: object = None
    release: Path = NOT_YET
    seconds: dict[str, float] = field(default_factory=dict)
    closing: ExitStack = field(default_factory=ExitStack)
    seeds: int = 2
    whole: bool = False
    effort: Effort = field(default_factory=Effort)
    others: Others = field(default_factory=Others)

    costs: Costs = field(default_factory=Free)
    accounting: Accounting = NOT_YET
    people: Table = NOT_YET
    left_out: int = 0
    account: Account | None = NOT_YET
    remarks: Remarks = field(default_factory=Remarks)
    found: Found = NOT_YET
    labels: ClusterLabels | None = None
    task: Task = NOT_YET
    counting: Task = NOT_YET
    outcome: Outcome = NOT_YET
    written: Masked | None = None
    judged: Judged = NOT_YET
    attacks: Measured | None = None
    released: Released = NOT_YET
    files: Mapping[str, Any] = NOT_YET
    kept: Mapping[str, Any] = NOT_YET
    pages: Mapping[str, str] = field(default_factory=dict)
    scratch: TemporaryDirectory[str] = NOT_YET
    folder: Path = NOT_YET
    shown: Shown = NOT_YET
    verdict: Verdict = NOT_YET
    certificate: Mapping[str, Any] = NOT_YET
    history: Mapping[str, Any] = NOT_YET
    report: str | None = None
    papers: Mapping[str, str] = field(default_factory=dict)
    attacked: AttackReport = NOT_YET


@dataclass(frozen=True)
class Step:
    """One stage of a run, by the name that is told while it goes on."""

    name: str
    do: Callable[[Case], Case]


FEW = 5
"""A value held by fewer people than this tells them apart."""


def prepare(people: Table, recipe: Recipe) -> Table:
    """The rows that are published, with sensitive numbers that are the same held as one value."""
    people = published_rows(people, recipe)
    if not recipe.mask.guarantee.spends:  # there a refusal that follows from the records would tell of them
        refuse_fingerprints(people)
    return people


def published_rows(people: Table, recipe: Recipe) -> Table:
    """The same of some of the people, whatever they are together with the others."""
    return settled(_without_dropped(people, recipe), recipe.privacy)


def kept_rows(people: Table, recipe: Recipe) -> NDArray[np.bool_]:
    """(rows,): which are published; others miss a value that the recipe asks for."""
    kept = np.ones(people.rows, dtype=bool)
    for name in recipe.missing:
        column = people.columns[name]
        kept &= column.marks != column.missing_code
    return kept


def _without_dropped(people: Table, recipe: Recipe) -> Table:
    kept = kept_rows(people, recipe)
    if kept.all():
        return people
    if not kept.any():
        raise RecipeError(
            "missing",
            "dropping rows leaves some",
            given="a rule that drops every row",
            remedy="keep missing values as a value: missing: {NAME: value}",
        )
    return encode(people.to_arrow().filter(pa.array(kept)), people.schema, origin=people.origin)


def refuse_fingerprints(people: Table) -> None:
    """Columns that are released as they are do not tell most people apart."""
    for name in (*people.schema.with_role("plain"), *people.schema.with_role("sensitive")):
        counts = people.columns[name].counts
        rare = int(counts[counts < FEW].sum())
        if 2 * rare > people.rows and not people.schema[name].unique_ok:
            raise RecipeError(
                name,
                f"more than half of its rows have a value that fewer than {FEW} people share: released as it is, it "
                "tells most people apart",
                given=f"role {people.schema[name].role}",
                remedy="declare it quasi (masked) or an identifier (left out), round it or join its rare values in the "
                "table, or confirm it with unique_ok: true (in Python unique_ok=True)",
            )
