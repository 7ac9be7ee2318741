"""Masking beside earlier releases, so that all of them are safe together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Ints, Marks
from sfumato.data.axis import labels_of
from sfumato.data.grouping import group_numbers, group_sizes
from sfumato.data.masked import Masked
from sfumato.data.schema import Schema
from sfumato.data.table import AnyColumn, Column, ItemColumn, Table
from sfumato.errors import ReleaseError, TableError
from sfumato.events import part
from sfumato.maskers.masker import Fixed, Mask, Masker, Outcome, Task
from sfumato.maskers.recoding.rules import Points, Rule
from sfumato.privacy.joint_claims import BCFAnonymity, Certified, JointAnonymity, promised_together
from sfumato.privacy.requirements import KAnonymity, basic, without_covered
from sfumato.recipe import Recipe
from sfumato.release.certificate import Claim, sha256
from sfumato.release.reading import (
    CERTIFICATE,
    has_whole,
    plain_file,
    read_certificate,
    read_lifted,
    read_masked,
    read_recoding,
)

if TYPE_CHECKING:
    from sfumato.privacy.several import View


@dataclass(frozen=True, eq=False)
class Side:
    """A released table with the mask that it shows, which has one rule for everybody in each column."""

    masked: Masked
    mask: Mask


def views(sides: Sequence[Side], *, domains: Mapping[str, Sequence[str | None]] | None = None) -> list[View]:
    """What an attacker sees who holds all of them. Columns that none of them masks and all have tell records apart.

    `domains`: of attributes without a taxonomy, which labels there are, for an attacker who knows that too; None among
    them where somebody's is missing.
    """
    rules = {name: [side.mask.rules.get(name) for side in sides] for side in sides for name in side.mask.rules}
    _refuse_bare(sides, list(rules))
    reach = {name: _reach(name, of, (domains or {}).get(name)) for name, of in rules.items()}
    values = _values(sides, rules)
    return [
        _view(side, {name: found[at] for name, found in reach.items() if found[at] is not None}, values[at])
        for at, side in enumerate(sides)
    ]


def _refuse_bare(sides: Sequence[Side], masked: Sequence[str]) -> None:
    for side in sides:
        bare = [name for name in masked if name in side.masked.names and name not in side.mask.rules]
        if bare:
            raise ReleaseError(
                bare[0],
                "what one release masks no other shows as it is",
                given="shown in one of them",
                remedy="give it the role quasi again",
            )


def _view(side: Side, reach: Mapping[str, Any], values: Ints) -> View:
    from sfumato.privacy.several import View

    shown = {name: _codes(side.masked.shown(name), side.mask.rules[name]) for name in reach}
    found: dict[str, Marks] = dict(reach)
    if side.mask.lifted:  # who shows the top everywhere may be anybody
        at_top = np.logical_and.reduce([codes == _top(side.mask.rules[name]) for name, codes in shown.items()])
        for name, covered in found.items():
            shown[name] = np.where(at_top, len(covered), shown[name])
            found[name] = np.vstack([covered, np.ones((1, covered.shape[1]), dtype=bool)])
    return View(shown, found, values)


def _top(rule: Rule) -> int:
    return rule.values.index(rule.top)


def _codes(column: AnyColumn, rule: Rule) -> Ints:
    """(rows,): which of the rule's values a row shows."""
    at = {label: place for place, label in enumerate(rule.values)}
    codes = np.array([at.get(label, -1) for label in (*column.labels, None)], dtype=np.int64)[column.keys]
    if (codes < 0).any():
        raise ReleaseError(
            "several releases",
            "every masked value stands in the recoding",
            given="one that does not",
            remedy="restore the release from a good copy",
        )
    return codes


def _reach(name: str, rules: Sequence[Rule | None], domain: Sequence[str | None] | None) -> list[Marks | None]:
    """Of each release (values, points): which points of the domain a shown value may stand for, missing last."""
    held = [rule for rule in rules if rule is not None]
    if len({rule.numeric for rule in held}) > 1:
        raise ReleaseError(
            name,
            "an attribute is a number in all releases, or in none",
            given="both",
            remedy="declare it as in the earlier release",
        )
    points = Points.of(held, domain)
    return [None if rule is None else rule.reach(points) for rule in rules]


def _values(sides: Sequence[Side], masked: Mapping[str, object]) -> list[Ints]:
    """Of each release (rows,): what is shown as it is in all of them, in codes that are the same in all."""
    names = [
        name
        for name in sides[0].masked.names
        if name not in masked and all(name in side.masked.names for side in sides)
    ]
    rows = [side.masked.rows for side in sides]
    codes = [_alike([side.masked.shown(name) for side in sides]) for name in names]
    return np.split(group_numbers(codes, sum(rows)), np.cumsum(rows)[:-1])


def _alike(columns: Sequence[AnyColumn]) -> Ints:
    """Codes of one column over all releases; a missing value is a value."""
    return Column.of(pa.chunked_array([_text(column) for column in columns])).keys


def _text(column: AnyColumn) -> pa.Array[Any]:
    if isinstance(column, ItemColumn):
        sets = [None if items is None else "\0".join(sorted(map(str, items))) for items in column.to_pylist()]
        return pa.array(sets, type=pa.string())
    return column.decode().cast(pa.string())


Keys = Mapping[str, NDArray[np.int64]]
"""(rows,) by column: numbers that are equal exactly where a release shows the same."""


def fixed_groups(recipe: Recipe, people: Table) -> Fixed | None:
    """For versions of one table: the groups that the earlier ones show together, for each requirement."""
    seen = [_shown_again(Path(folder), people) for folder in recipe.before.same]
    if not seen:
        return None
    needs = basic(without_covered(recipe.privacy).kept)
    return {
        frozenset(need.on): group_numbers(
            [keys[name] for keys in seen for name in need.on if name in keys], people.rows
        )
        for need in needs
    }


def mask_beside(task: Task, masker: Masker, recipe: Recipe) -> Outcome:
    """Mask as the recipe says; beside releases of a growing table only as far as all of them stay safe."""
    sides = [_side(Path(folder), recipe.schema) for folder in recipe.before.growing]
    if not sides:
        return masker.mask(task)
    with part(0.0, 0.0):  # how often it is tried again is not known before, so that no share is told
        return masker.mask_while(task, lambda outcome: _holds(sides, task, outcome, recipe))


def claims_beside(people: Table, outcome: Outcome, recipe: Recipe) -> list[Claim]:
    """What is claimed of the release and the earlier ones together."""
    return [*_claims_of_same(people, outcome, recipe), *_claims_of_growing(people, outcome, recipe)]


def _claims_of_same(people: Table, outcome: Outcome, recipe: Recipe) -> list[Claim]:
    folders = [Path(folder) for folder in recipe.before.same]
    if not folders:
        return []
    beside = tuple(map(_certified, folders))
    now = {name: column.keys for name, column in outcome.masked.items()}
    shown: list[Keys] = [*(_shown_again(folder, people) for folder in folders), now]
    return [Claim(JointAnonymity(asked, beside), _smallest(shown, asked, people.rows)) for asked in _asked(recipe)]


def _claims_of_growing(people: Table, outcome: Outcome, recipe: Recipe) -> list[Claim]:
    folders = [Path(folder) for folder in recipe.before.growing]
    if not folders:
        return []
    from sfumato.privacy.several import anonymity

    beside = tuple(map(_certified, folders))
    seen = views([*(_side(folder, recipe.schema) for folder in folders), _new_side(people, outcome)])
    return [Claim(BCFAnonymity(asked, beside), anonymity(seen, asked.on)) for asked in _asked(recipe)]


def _asked(recipe: Recipe) -> tuple[KAnonymity, ...]:
    return promised_together(without_covered(recipe.privacy).kept)


def _smallest(shown: list[Keys], asked: KAnonymity, rows: int) -> int:
    codes = [keys[name] for keys in shown for name in asked.on if name in keys]
    return int(group_sizes(codes, rows).min())


def _holds(sides: list[Side], task: Task, outcome: Outcome, recipe: Recipe) -> bool:
    """Also for an attacker who knows which labels there are behind a `*`; verify, which does not, counts without."""
    from sfumato.privacy.several import anonymity

    side = _new_side(task.table, outcome)
    hidden = [name for name, rule in side.mask.rules.items() if not rule.tells_domain]
    domains = {name: _held(task.table, name) for name in hidden}
    ways = [views([*sides, side]), *([views([*sides, side], domains=domains)] if domains else [])]
    return all(anonymity(seen, asked.on, enough=asked.k) >= asked.k for seen in ways for asked in _asked(recipe))


def _held(people: Table, name: str) -> tuple[str | None, ...]:
    """The labels that somebody has, and None if somebody's is missing."""
    column = people.column(name)
    return (*labels_of(column.values), *([None] if column.missing else []))


def _new_side(people: Table, outcome: Outcome) -> Side:
    return Side(outcome.masked.over(people), outcome.mask)


def _side(folder: Path, schema: Schema) -> Side:
    """An earlier release with its recoding: the holder's whole one, or the released one over the declared trees."""
    mask = read_recoding(folder)
    return Side(read_masked(folder), mask if has_whole(folder) else mask.declared(schema, release=str(folder)))


def _certified(folder: Path) -> Certified:
    return Certified(sha256(plain_file(folder, CERTIFICATE)), str(read_certificate(folder)["created"]))


def _shown_again(folder: Path, people: Table) -> dict[str, NDArray[np.int64]]:
    """What an earlier release shows of each row of the table, which must be the table that it was made from."""
    side = _side(folder, people.schema)
    if side.masked.rows != people.rows:
        _refuse_other(folder)
    lifted = read_lifted(folder, people.rows)
    try:
        masked = side.mask.apply(people, lifted=lifted)
    except TableError:
        _refuse_other(folder)
    if _counted(masked, list(masked)) != _counted(side.masked, list(masked)):
        _refuse_other(folder)
    every = {name: column.keys for name, column in people.columns.items() if name in side.masked.names}
    return every | {name: column.keys for name, column in masked.items()}


def _counted(masked: Masked, names: list[str]) -> dict[tuple[Any, ...], int]:
    """How often each different row occurs."""
    texts = pa.table({name: masked.shown(name).decode().cast(pa.string()) for name in names})
    found = texts.group_by(names).aggregate([([], "count_all")]).to_pydict()
    return dict(zip(zip(*(found[name] for name in names), strict=True), found["count_all"], strict=True))


def _refuse_other(folder: Path) -> NoReturn:
    raise ReleaseError(
        str(folder),
        "versions of one table have the same people in them",
        given="a release that was not made from this table",
        remedy="say people: growing if people were added since",
    )
