"""Masking beside earlier releases, so that all of them are safe together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from sfumato.data.cut import labels_of
from sfumato.data.groups import group_numbers, group_sizes
from sfumato.data.schema import Category, Schema
from sfumato.data.table import Table, whole_values
from sfumato.errors import Infeasible, ReleaseError, TableError
from sfumato.maskers.masker import Fixed, Outcome, Task, codes_of
from sfumato.maskers.topdown.fit import TopDown
from sfumato.maskers.topdown.recoding import Generalize, Recoding, Rule, Suppress
from sfumato.privacy.requirements import KAnonymity, basic, without_covered
from sfumato.privacy.several import anonymity
from sfumato.privacy.several.claims import BCFAnonymity, Certified, JointAnonymity
from sfumato.recipe import Recipe
from sfumato.release.certificate import sha256
from sfumato.release.claims import Claim
from sfumato.release.reading import (
    CERTIFICATE,
    has_whole,
    plain_file,
    read_certificate,
    read_lifted,
    read_recoding,
    read_rows,
)
from sfumato.release.seeing import Side, views

Shown = Mapping[str, "pa.Array[Any]"]


def fixed_groups(recipe: Recipe, people: Table) -> Fixed | None:
    """For versions of one table: the groups that the earlier ones show together, for each requirement."""
    if recipe.earlier is None or recipe.earlier.people != "same":
        return None
    seen = [_shown_again(Path(folder), people) for folder in recipe.earlier.releases]
    needs = basic(without_covered(recipe.privacy).kept)
    return {
        frozenset(need.on): group_numbers(
            [codes_of(columns[name]) for columns in seen for name in need.on if name in columns], people.rows
        )
        for need in needs
    }


def mask_beside(task: Task, recipe: Recipe) -> Outcome:
    """Mask as the recipe says; beside releases of a growing table only as far as all of them stay safe.

    Refining never adds anonymity (Fung et al., EDBT 2008, section 5), so the number of refinements is bisected.
    """
    outcome = recipe.mask.mask(task)
    if recipe.earlier is None or recipe.earlier.people != "growing" or not isinstance(recipe.mask, TopDown):
        return outcome
    sides = [_side(Path(folder), recipe.schema) for folder in recipe.earlier.releases]
    if _holds(sides, task, outcome, recipe):
        return outcome
    fine = len(outcome.history["rounds"])
    coarse, found = 0, replace(recipe.mask, max_steps=0).mask(task)
    if not _holds(sides, task, found, recipe):
        raise Infeasible("earlier", "beside the earlier releases at least the most masked table keeps k",
                         given="it does not",
                         remedy="wait until at least k people were added, or ask for a smaller k")  # fmt: skip
    while fine - coarse > 1:
        steps = (coarse + fine) // 2
        tried = replace(recipe.mask, max_steps=steps).mask(task)
        if _holds(sides, task, tried, recipe):
            coarse, found = steps, tried
        else:
            fine = steps
    return found


def claims_beside(people: Table, outcome: Outcome, recipe: Recipe) -> list[Claim]:
    """What is claimed of the release and the earlier ones together."""
    if recipe.earlier is None:
        return []
    folders = [Path(folder) for folder in recipe.earlier.releases]
    beside = tuple(_certified(folder) for folder in folders)
    if recipe.earlier.people == "growing":
        seen = views([*(_side(folder, recipe.schema) for folder in folders), _new_side(people, outcome)])
        return [Claim(BCFAnonymity(asked, beside), anonymity(seen, asked.on)) for asked in _asked(recipe)]
    shown = [*(_shown_again(folder, people) for folder in folders), outcome.columns]
    return [Claim(JointAnonymity(asked, beside), _smallest(shown, asked, people.rows)) for asked in _asked(recipe)]


def _asked(recipe: Recipe) -> Iterator[KAnonymity]:
    return (r for r in without_covered(recipe.privacy).kept if isinstance(r, KAnonymity))


def _smallest(shown: list[Shown], asked: KAnonymity, rows: int) -> int:
    codes = [codes_of(columns[name]) for columns in shown for name in asked.on if name in columns]
    return int(group_sizes(codes, rows).min())


def _holds(sides: list[Side], task: Task, outcome: Outcome, recipe: Recipe) -> bool:
    """Also for an attacker who knows which labels there are behind a `*`; verify, which does not, counts without."""
    side = _new_side(task.table, outcome)
    hidden = [name for name, rule in side.recoding.attributes.items() if isinstance(rule, Suppress)]
    domains = {name: _held(task.table, name) for name in hidden}
    ways = [views([*sides, side]), *([views([*sides, side], domains=domains)] if domains else [])]
    return all(anonymity(seen, asked.on, enough=asked.k) >= asked.k for seen in ways for asked in _asked(recipe))


def _held(people: Table, name: str) -> tuple[str | None, ...]:
    """The labels that somebody has, and None if somebody's is missing."""
    column = people.column(name)
    return (*labels_of(column.values), *([None] if column.missing else []))


def _new_side(people: Table, outcome: Outcome) -> Side:
    from sfumato.release.bundle import released_table

    if not isinstance(outcome.mask, Recoding):
        raise AssertionError("a recipe with earlier releases refuses other masks")
    return Side(released_table(people, outcome.columns), outcome.mask)


def _side(folder: Path, schema: Schema) -> Side:
    """An earlier release with its recoding: the holder's whole one, or the released one over the declared trees."""
    recoding = read_recoding(folder)
    if not has_whole(folder):
        rules = {name: _over(rule, name, schema, folder) for name, rule in recoding.attributes.items()}
        recoding = replace(recoding, attributes=rules)
    return Side(read_rows(folder), recoding)


def _over(rule: Rule, name: str, schema: Schema, folder: Path) -> Rule:
    """A released cut over the whole tree, of which the release tells what it shows."""
    if not isinstance(rule, Generalize):
        return rule
    attribute = schema.get(name)
    tree = attribute.taxonomy if isinstance(attribute, Category) else None
    if tree is None or any(label is not None and label not in tree for label in rule.cut):
        raise ReleaseError(
            str(folder),
            f"the labels of {name} are placed by the whole tree",
            given="a release without its holder's folder, and no such tree in the recipe",
            remedy="put NAME.holder beside it, or declare the taxonomy of that release",
        )
    return replace(rule, taxonomy=tree)


def _certified(folder: Path) -> Certified:
    return Certified(sha256(plain_file(folder, CERTIFICATE)), str(read_certificate(folder)["created"]))


def _shown_again(folder: Path, people: Table) -> dict[str, pa.Array[Any]]:
    """What an earlier release shows of each row of the table, which must be the table that it was made from."""
    side = _side(folder, people.schema)
    if side.table.num_rows != people.rows:
        _refuse_other(folder)
    lifted = read_lifted(folder, people.rows)
    try:
        columns = side.recoding.apply(people, lifted=lifted)
    except TableError:
        _refuse_other(folder)
    bare = {name: pa.array(whole_values(people.columns[name])) for name in side.table.column_names
            if name not in columns and name in people.columns}  # fmt: skip
    names = list(columns)
    again = pa.table({name: column.cast(pa.string()) for name, column in columns.items()})
    if _counted(again, names) != _counted(side.table.select(names), names):
        _refuse_other(folder)
    return {**columns, **bare}


def _counted(table: pa.Table, names: list[str]) -> dict[tuple[Any, ...], int]:
    """How often each different row occurs."""
    texts = pa.table({name: table.column(name).cast(pa.string()) for name in names})
    found = texts.group_by(names).aggregate([([], "count_all")]).to_pydict()
    return dict(zip(zip(*(found[name] for name in names), strict=True), found["count_all"], strict=True))


def _refuse_other(folder: Path) -> NoReturn:
    raise ReleaseError(str(folder), "versions of one table have the same people in them",
                       given="a release that was not made from this table",
                       remedy="say people: growing if people were added since")  # fmt: skip
