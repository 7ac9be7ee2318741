"""One k-anonymous release of the people of several holders: counts come up, the mask goes down, masked rows come up.

It is the release of the joined table: the same mask, claims and groups, and the same rows in another order. Counts add
up over any split of the rows, so that the search does not know how many holders there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.calls import called
from sfumato.data.encoding import encode_column, encode_raw
from sfumato.data.masked import Masked
from sfumato.data.schema import Schema
from sfumato.data.sources.scratch import Tuples, expanded
from sfumato.data.sources.source import RawTable
from sfumato.data.table import Table
from sfumato.errors import RecipeError, TableError
from sfumato.holders.domains import domains_of
from sfumato.holders.holder import Holder, mask_files, recipe_digest
from sfumato.holders.lines import Line, LocalHolder
from sfumato.publishing import handover, steps
from sfumato.publishing.case import Case, Run, Step, refuse_fingerprints
from sfumato.publishing.orders import FIND, MASK, MEASURE, released_by, walk
from sfumato.publishing.remarks import tell
from sfumato.recipe import Recipe
from sfumato.release.release import Release

FEWEST = 2
BY_ITSELF = (
    "what a row shows follows from the row and the mask alone",
    "centres, or records that are lifted",
    "use partition, or top_down without suppress",
)
"""A rule, what breaks it, and the remedy."""


@called
def publish_together(holders: Sequence[object], recipe: Recipe | str | Path, *, run: Run | None = None) -> Release:
    """One release of the people of several holders, whose rows stay with them until they are masked.

    `holders`: for each a `RemoteHolder` (a command that answers, such as `sfumato hold TABLE RECIPE`), or a table as
    `publish` takes it. `recipe`: the one that all of them have. No report is drawn: who would look at raw rows for it?
    """
    recipe = Recipe.of(recipe)
    lines = lines_of(holders, recipe)
    _check(recipe, lines)
    agree(lines, recipe)
    order = (
        Step("Looking into the ledger", steps.open_account),
        Step("Counting at every holder", partial(_count, lines)),
        FIND,
        MASK,
        Step("Masking at every holder", partial(_gather, lines)),
        MEASURE,
        Step("Counting what is claimed", handover.describe),
        Step("Writing", handover.write_folder),
        Step("Verifying the written file", handover.check),
    )
    return released_by(recipe, walk(order, Case(recipe=recipe, run=replace(run or Run(), report=False))))


def lines_of(holders: Sequence[object], recipe: Recipe) -> list[Line]:
    """Whom to ask: what can be asked is, a table is held here."""
    return [
        one if isinstance(one, Line) else LocalHolder(Holder(one, recipe), f"holder {at}")
        for at, one in enumerate(holders, start=1)
    ]


def agree(lines: Sequence[Line], recipe: Recipe) -> None:
    """All of them publish by the same recipe."""
    for line in lines:
        if line.ask({"ask": "recipe"}).get("recipe") != recipe_digest(recipe):
            raise RecipeError(
                "holders",
                "all of them publish by the same recipe",
                given="another one at one of them",
                remedy="give every holder the same file; where its table lies may differ",
            )


def _check(recipe: Recipe, lines: Sequence[Line]) -> None:
    wrong = (
        (len(lines) < FEWEST, "there are at least two", "fewer", "use publish"),
        (
            recipe.mask.guarantee.spends,
            "under a budget each holder publishes its part",
            "a budget",
            "use publish_parts",
        ),
        (recipe.keep_order, "rows of several holders have no order", "keep_order", "leave it out"),
        (bool(recipe.before.releases), "beside earlier releases rows are joined", "earlier", "leave it out"),
        (recipe.population is not None, "a population is counted in one place", "k_map", "leave it out"),
        (recipe.release.label_role is not None, "nobody has the clusters of single records", "labels", "leave it out"),
        (not recipe.mask.guarantee.claims, "something is claimed of the table", "no guarantee", "use top_down"),
        (recipe.mask.averages, *BY_ITSELF),
    )
    for is_so, rule, given, remedy in wrong:
        if is_so:
            raise RecipeError("holders", rule, given=given, remedy=remedy)
    domains_of(recipe)


def _count(lines: Sequence[Line], case: Case) -> Case:
    """The people of all holders on the needed columns, as their counts add up."""
    domains = domains_of(case.recipe)
    raw = _added(domains, [_tuples(line.ask({"ask": "tuples"}), domains) for line in lines])
    case.accounting.look(raw)
    people = encode_raw(raw, Schema({name: case.recipe.schema[name] for name in domains}))
    remarks = tell(people, case.recipe, read=people.rows)
    return replace(case, people=people, account=case.accounting.account(people), remarks=remarks)


def _added(domains: Mapping[str, pa.Array[Any]], parts: Sequence[Tuples]) -> RawTable:
    """The people that all counts stand for, by the values that somebody has."""
    values, places = {}, {}
    for name, domain in domains.items():
        used = np.unique(np.concatenate([part.codes[name] for part in parts]))
        known = used[used < len(domain)]
        values[name] = domain.take(pa.array(known))
        places[name] = np.full(len(domain) + 1, len(known), dtype=np.int64)
        places[name][known] = np.arange(len(known))
    found = [Tuples({name: places[name][part.codes[name]] for name in domains}, part.weights) for part in parts]
    return expanded(values, found)


def _tuples(answer: Mapping[str, Any], domains: Mapping[str, pa.Array[Any]]) -> Tuples:
    """What a holder counted, once it is seen to be counts of codes and nothing else."""
    codes, counts = answer.get("codes"), answer.get("counts")
    if not isinstance(codes, dict) or list(codes) != list(domains):
        raise _strange()
    columns = {name: _whole(codes[name], 0, len(domain)) for name, domain in domains.items()}
    weights = _whole(counts, 1, 2**40)
    if any(len(column) != len(weights) for column in columns.values()):
        raise _strange()
    return Tuples(columns, weights)


def _whole(given: object, least: int, most: int) -> NDArray[np.int64]:
    if not isinstance(given, list) or not all(type(one) is int and least <= one <= most for one in given):
        raise _strange()
    return np.array(given, dtype=np.int64)


def _strange() -> TableError:
    return TableError(
        "holders",
        "a holder answers with counts of codes, then with masked rows",
        given="something else",
        remedy="ask for the same version",
    )


def _gather(lines: Sequence[Line], case: Case) -> Case:
    """Every holder's rows as the mask shows them, each set beside one of the counted people who shows the same.

    Which of those who show the same is nobody's business: it is drawn.
    """
    mask, masked, schema = case.outcome.mask, case.outcome.masked, case.recipe.schema
    if mask.lifted or not mask.repeats:
        rule, given, remedy = BY_ITSELF
        raise RecipeError("holders", rule, given=given, remedy=remedy)
    question = {"ask": "rows", "mask": mask_files({**mask.files(), **mask.kept_back()})}
    parts = [line.ask(question).get("rows") for line in lines]
    names = list(schema.kept)
    if not all(isinstance(part, dict) and list(part) == names for part in parts):
        raise _strange()
    try:
        rows = {name: pa.array([cell for part in parts if part for cell in part[name]]) for name in names}
        shown = Masked.of({name: _typed(rows[name], masked, name) for name in masked.names})
    except (pa.ArrowException, TypeError):
        raise _strange() from None
    order = _beside(masked, shown, case.run.chance.permutation(shown.rows))
    columns = dict(case.people.columns)
    for name in (name for name in names if name not in columns):
        more: Any = encode_column(name, pa.chunked_array([rows[name].take(pa.array(order))]), schema[name])
        columns[name] = more
    people = Table(schema, {name: columns[name] for name in names}, case.people.rows)
    refuse_fingerprints(people)
    task = replace(case.task, table=people)
    outcome = replace(case.outcome, masked=masked.over(people))
    return replace(case, people=people, task=task, outcome=outcome)


def _typed(cells: pa.Array[Any], masked: Masked, name: str) -> pa.Array[Any]:
    kind: Any = masked.shown(name).values.type
    return cells.cast(kind)


def _beside(ours: Masked, theirs: Masked, chance: NDArray[np.int64]) -> NDArray[np.int64]:
    """(rows,): for each of ours one of their rows that shows the same on every column of ours; each once."""
    both = Masked.of(
        {name: pa.concat_arrays([ours.shown(name).decode(), theirs.shown(name).decode()]) for name in ours.names}
    )
    groups = both.groups(ours.names)
    mine, other = groups[: ours.rows], groups[ours.rows :]
    if ours.rows != theirs.rows or (np.bincount(mine) != np.bincount(other, minlength=int(mine.max()) + 1)).any():
        raise TableError(
            "holders",
            "masked rows are those of the counted people",
            given="others: a table that changed, or a holder with another version",
            remedy="try again with tables that nobody changes; nothing is left",
        )
    drawn = chance[np.argsort(other[chance], kind="stable")]
    found = np.empty(ours.rows, dtype=np.int64)
    found[np.argsort(mine, kind="stable")] = drawn
    return found
