"""Advice for a table: candidate recipes tried on a sample, side by side, and one sentence that says which to take.

Nothing is written, nothing is spent, and no ledger is asked. Everything is measured against the raw table, and is for
the holder's eyes only.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.calls import called
from sfumato.data.reading import read
from sfumato.display import Card, Grid
from sfumato.errors import RecipeError, SchemaError, SfumatoError
from sfumato.events import OutOfTime, running, step, within_time
from sfumato.maskers.registry import name_of
from sfumato.publishing.case import prepare
from sfumato.publishing.tries import ROWS, sampled, trial_scores
from sfumato.recipe import Recipe, draft
from sfumato.sweeping.comparison import Skipped, Tried, choose, sentence, trade, warning
from sfumato.sweeping.contenders import AS_IT_IS, Contender, maskers, other_privacy
from sfumato.sweeping.points import load

SECONDS = 60.0
"""After so long no further candidate begins, and the one under way ends."""
FEWEST_ROWS = 50
MASKERS = 4
"""So many maskers are compared under the privacy that is asked for; the best of them also under two others."""


K_STAYS = " k is kept as it is, so that the sample shows less than the whole table will."


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What was tried, in that order, and what could not be.

    `rows`: records of the sample; `of_rows`: of the table. `base`: the recipe that the candidates are made from;
    `drafted`: there was none, and it is a draft. `public`: another table, which is public, was tried.
    """

    base: Recipe
    drafted: bool
    public: bool
    rows: int
    of_rows: int
    tried: tuple[Tried, ...]
    skipped: tuple[Skipped, ...]

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        """What to take, every candidate with its figures, and what was left out."""
        kept = next((one.survived.kind.words for one in self.tried if one.survived is not None), "structure")
        spends = self.base.mask.guarantee.spends  # of generated rows relations are measured, and no risk
        last = [one.relations if spends else one.risk for one in self.tried]
        rows = [
            [one.contender.title, one.detail, one.share, one.silent, of]
            for one, of in zip(self.tried, last, strict=True)
        ]
        heads = ("candidate", "detail", kept, "silent columns", "relations kept" if spends else "highest risk")
        grids = [Grid(heads, rows)] if rows else []
        if self.skipped:
            grids.append(Grid(("left out", "why"), [[one.name, one.reason] for one in self.skipped]))
        lines = [self.sentence, *(words for words in (self.trade, self.warning) if words), self.sample]
        return Card(f"Advice: {len(rows)} candidates, for your eyes only", lines, grids)

    @property
    def best(self) -> Tried | None:
        """The one to take; None where none could be tried."""
        return choose(self.tried)

    @property
    def recipe(self) -> Recipe | None:
        """The recipe to publish with."""
        return None if self.best is None else self.best.recipe

    @property
    def sentence(self) -> str:
        """What to take, and why. What a sample cannot show the whole table may, as k is kept."""
        if self.best is None and self.rows < self.of_rows:
            return (
                f"No candidate can be published on this sample of {self.rows:,} of the {self.of_rows:,} records; the "
                "reasons are above. That says little of the whole table, in which more people are alike: --rows "
                f"{self.of_rows} (rows={self.of_rows}) tries them on all of it."
            )
        return sentence(self.tried)

    @property
    def trade(self) -> str | None:
        """What the same would keep with less and with more privacy."""
        return trade(self.tried)

    @property
    def warning(self) -> str | None:
        """What the one to take gives away although it keeps every promise."""
        return None if self.best is None else warning(self.best)

    @property
    def sample(self) -> str:
        """On what it was tried."""
        table = "public table" if self.public else "table"
        if self.rows == self.of_rows:
            return f"Tried on all {self.rows:,} records of the {table}; nothing was released."
        whom = f"a sample of {self.rows:,} of the {self.of_rows:,} records of the {table}"
        less = "" if self.base.mask.guarantee.spends else K_STAYS
        return f"Tried on {whom}; nothing was released.{less}"

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        best = self.best
        return {
            "advice": self.sentence,
            "other_privacy": self.trade,
            "warning": self.warning,
            "take": None if best is None else best.contender.title,
            "set": [] if best is None else list(best.contender.changes),
            "drafted": self.drafted,
            "public": self.public,
            "rows": self.rows,
            "of_rows": self.of_rows,
            "tried": [one.to_json() for one in self.tried],
            "not_tried": [{"name": one.name, "reason": one.reason} for one in self.skipped],
        }


@called
def advise(
    table: object,
    recipe: Recipe | str | Path | None = None,
    *,
    rows: int = ROWS,
    seconds: float = SECONDS,
    public: object = None,
    encoding: str | None = None,
) -> Advice:
    """Try several recipes for a table on a sample of it, and say which to take. Nothing is written or spent.

    `table` is whatever `publish` takes, or "bundled:adult". Without a `recipe` the candidates are made from a draft:
    read that before anything is published (`encoding`: that of a CSV to draft from). `rows`: size of the sample.
    `seconds`: after so long no candidate begins; one is finished in any case. `public`: a table of the same columns
    that is nobody's secret, tried in the place of `table`: a recipe with a budget is tried on no other.
    """
    _check(rows, seconds)
    if recipe is not None and encoding is not None:
        raise RecipeError(
            "encoding", "a recipe says that of its table", given="both", remedy="write encoding: in the recipe"
        )
    with running():
        with step("Reading the table"), nullcontext() if recipe is not None else _of_a_draft():
            base = _drafted(table, encoding) if recipe is None else Recipe.of(recipe)
            refuse_others(base, public=public is not None)
            chosen = _opened(table if public is None else public)
            people = prepare(read(chosen, base.schema, encoding=base.encoding), base)
            arrow = sampled(people, rows)
        tried, skipped = _compared(base, arrow, seconds, note="drafted" if recipe is None else AS_IT_IS)
    return Advice(
        base=base,
        drafted=recipe is None,
        public=public is not None,
        rows=arrow.num_rows,
        of_rows=people.rows,
        tried=tuple(tried),
        skipped=tuple(skipped),
    )


def _check(rows: int, seconds: float) -> None:
    for name, given, least in (("rows", rows, FEWEST_ROWS), ("seconds", seconds, 1)):
        if not given >= least:
            raise RecipeError(name, f"it is at least {least}", given=f"{given:g}", remedy="leave it out")


def _drafted(table: object, encoding: str | None) -> Recipe:
    named = str(table) if isinstance(table, str | Path) else "table"
    return replace(draft(_opened(table), encoding=encoding), table=named)


def _opened(table: object) -> object:
    return load(table) if isinstance(table, str) else table


def refuse_others(recipe: Recipe, *, public: bool) -> None:
    """Recipes that cannot be tried side by side on a sample, each with the way out."""
    if recipe.mask.guarantee.spends and not public:
        raise RecipeError(
            "advise",
            "a budget of differential privacy is not spent to find settings: every candidate would spend it, and to "
            "choose among them by what they keep would tell of the data beyond it",
            given=f"a recipe with a budget ({name_of(recipe.mask)})",
            remedy="name a public or generated table of the same columns with --public FILE (public=): candidates are "
            "tried on that, then publish yours once",
        )
    if not recipe.mask.guarantee.claims:
        raise RecipeError(
            "advise",
            "candidates are compared by what they keep of a table under the same promise",
            given=f"{name_of(recipe.mask)}, of which nothing may be claimed",
            remedy="give a recipe with requirements and a masker with a guarantee, such as mask: partition",
        )
    if recipe.before.releases or recipe.population is not None:
        raise RecipeError(
            "advise",
            "a sample stands beside no earlier release and no population, which are of whole tables",
            given="a recipe with earlier: or k_map",
            remedy="leave it out to be advised, and put it back to publish: top_down is what can be held beside them",
        )


@contextmanager
def _of_a_draft() -> Iterator[None]:
    """What is refused of a draft is mended in a file: nobody wrote one yet."""
    try:
        yield
    except (RecipeError, SchemaError) as error:
        remedy = f"{error.remedy}; for that, write a recipe with sfumato draft TABLE --output recipe.yaml"
        raise RecipeError(error.thing, error.rule, given=error.given, remedy=remedy) from None


def _compared(base: Recipe, arrow: pa.Table, seconds: float, *, note: str) -> tuple[list[Tried], list[Skipped]]:
    """The maskers, as many as are compared; then the best of them under other privacy."""
    clock = _Clock(seconds)
    tried: list[Tried] = []
    skipped: list[Skipped] = []

    def go(some: Iterable[Contender], most: int) -> None:
        for one in some:
            if len(tried) >= most:
                skipped.append(Skipped(one.title, f"{most} maskers are compared; name it in a recipe to see it"))
                continue
            found = _try(one, base, arrow, clock, first=not tried)
            if isinstance(found, Tried):
                tried.append(found)
            else:
                skipped.append(found)

    go(maskers(base, note=note), MASKERS)
    best = choose(tried)
    if best is not None:
        go(other_privacy(base, best.contender), MASKERS + 2)
    return tried, skipped


class _Clock:
    """Owns the time that is left for all candidates."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.began = seconds, time.monotonic()

    @property
    def left(self) -> float:
        return self.seconds - (time.monotonic() - self.began)

    @property
    def more(self) -> str:
        """How it is given, in a notebook and in a shell."""
        twice = f"{2 * self.seconds or 60:g}"
        return f"seconds={twice} gives more, in a shell --seconds {twice}"


def _try(one: Contender, base: Recipe, arrow: pa.Table, clock: _Clock, *, first: bool) -> Tried | Skipped:
    """What comes of a candidate, or why nothing does. The first is finished whatever time it takes."""
    if not first and clock.left <= 0:
        return Skipped(one.title, f"the {clock.seconds:g} seconds were over ({clock.more})")
    began = time.monotonic()
    with step(f"Trying {one.title}"):
        try:
            recipe = one.recipe(base)
            with within_time(float("inf") if first else clock.left):
                scores = trial_scores(recipe, arrow)
        except SfumatoError as error:
            return Skipped(one.title, f"{error.thing}: {error.rule}; given: {error.given}")
        except OutOfTime:
            return Skipped(one.title, f"it did not end within the {clock.seconds:g} seconds ({clock.more})")
    return Tried.of(one, recipe, scores, seconds=time.monotonic() - began)
