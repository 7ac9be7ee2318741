"""What every masker is: settings that know how to fit, and a mask that tells what was learned.

To add a masker: a folder beside this file with a frozen dataclass of settings that satisfies `Masker`, and
one line in `registry.py`. Recipes, the command line and publish find it there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.counting import Engine, Positions
from sfumato.data.detail import Detail
from sfumato.data.masked import Came, Masked
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import Infeasible, RecipeError, ReleaseError
from sfumato.maskers.recoding.rules import Rule
from sfumato.privacy.budget import Budget, Share
from sfumato.privacy.mechanisms import Mechanisms
from sfumato.privacy.requirements import Covered, KAnonymity, Requirement

Objective = Callable[[Masked], float]
Fixed = Mapping[frozenset[str], NDArray[np.int64]]
"""For the attributes of a requirement: (rows,) the group of each row in the earlier releases, from 0 without gaps."""
DAY = 86_400.0
"""Seconds: no search may be asked to last longer."""
SEED = 2**31 - 1
LARGE = 1e15
"""No distance, factor or spread is larger: beyond it numbers lose their last digits."""


@dataclass(frozen=True)
class Guarantee:
    """What may be claimed of what a masker makes: stated once, by the masker; general code asks.

    `claims`: whether anything may be claimed at all. `spends`: it is a property of the process, paid from a budget, and
    nothing that follows from the records may leave another way. `came`: where released rows come from.
    """

    name: str
    claims: bool = True
    spends: bool = False
    came: Came = "recoded"

    @property
    def row_by_row(self) -> bool:
        """Whether a release has a row for each raw record."""
        return self.came != "generated"

    def __str__(self) -> str:
        return self.name


K_ANONYMITY = Guarantee("k_anonymity")
DIFFERENTIAL_PRIVACY = Guarantee("differential_privacy", spends=True, came="generated")
NO_GUARANTEE = Guarantee("none", claims=False, came="moved")


@dataclass(frozen=True, eq=False)
class Labels:
    """The structure that must survive: each row's class, 0..n-1.

    `most`: how many classes there can be by declarations alone; None where the records decide. What is public follows
    from `most`, never from `n`, which is counted in the records. `told_in_part`: they are a column of the table, of
    which the other attributes tell only a part; clusters follow from them.
    """

    classes: Positions
    n: int
    most: int | None = None
    told_in_part: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """What a masker is given: the table, the structure that must survive, what must hold, and who counts.

    `objective` tells how well masked columns keep the structure, from 0 to 1, for maskers that try several ways.
    `mechanisms` is the only way to private data for maskers that spend a privacy budget. `fixed`: what earlier
    releases of the same rows show, with which every requirement must hold together (top-down refinement alone does).
    `detail`: how finely some attributes must be shown to everybody, for maskers that keep such wishes.
    """

    table: Table
    labels: Labels
    requirements: Sequence[Requirement]
    engine: Engine
    objective: Objective | None = None
    mechanisms: Mechanisms | None = None
    fixed: Fixed | None = None
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Parts:
    """For which parts of the records rows were generated.

    `rows`: how many for each part, in the order of the generated table. `of_records`: (records,) the part of each
    record of the task's table, -1 for none; for the holder.
    """

    rows: Sequence[int]
    of_records: Ints

    @property
    def of_rows(self) -> Ints:
        """(generated rows,): the part that each was made for."""
        return np.repeat(np.arange(len(self.rows)), self.rows)


WHOLE = "whole"
"""The folder of the holder's files that have the whole of what the release tells in part."""


class Mask:
    """What was learned: frozen, in labels, plain JSON. What general code asks of a mask, with the usual answers.

    `rules`: of masks with one meaning of a value for everybody, what all values of an attribute become. `exact`: the
    columns in which every raw value has one shown value, and the recipient knows which. `repeats`: applied to the table
    that it was learned from, it shows again what was released. `local`: a value may be shown in one way here and in
    another there, so that a codebook tells of each group unless the recipe says otherwise.
    """

    repeats: ClassVar[bool] = True
    local: ClassVar[bool] = False

    @property
    def rules(self) -> Mapping[str, Rule]:
        """None: a value may become one thing here and another there."""
        return {}

    @property
    def lifted(self) -> bool:
        """Whether some records show the top of every column."""
        return False

    @property
    def parts(self) -> Parts | None:
        """Of generated rows, as long as it is known: for which parts of the records they were made."""
        return None

    @property
    def shows_values(self) -> bool:
        """Whether generated rows hold values as raw records do, so that clusters found in them may go along."""
        return False

    @property
    def exact(self) -> frozenset[str]:
        """None: every shown value that covers a raw one may stand for it."""
        return frozenset()

    def files(self) -> Mapping[str, Any]:
        """What goes into the release, JSON by file name.

        A masker may add one file of its registry's name, such as `round_to_tens.json`, once verify knows it: a masker
        is entered in `sfumato.privacy.verify.maskers`, with its words and its file, and what is not there is refused.
        """
        raise NotImplementedError

    def released(self, masked: Masked, needed: Mapping[str, Collection[str]]) -> Mask:
        """What may be told of it beside a table that shows this; `needed`: labels that go along in any case."""
        return self

    def only(self, names: Collection[str]) -> Mask:
        """The same for some of its columns alone; of masks with rules."""
        raise RecipeError(
            "k_map", "a population is masked by a recoding", given="another mask", remedy="use mask: top_down"
        )

    def declared(self, schema: Schema, *, release: str) -> Mask:
        """The same with what is declared, where a release (`release`: its name) tells a part of it."""
        return self

    def kept_back(self) -> Mapping[str, Any]:
        """Of what the release tells in part, the whole, for the holder: JSON by file name."""
        return {}

    def apply(self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None) -> Masked:
        """What the rows of any table of the same schema show; unseen values are "refuse"d or "suppress"ed.

        `lifted` (rows,): which rows are shown at the top of every column, for masks that lift some.
        """
        raise NotImplementedError


def refuse_lifted(lifted: NDArray[np.bool_] | None) -> None:
    """For masks that lift no records."""
    if lifted is not None and lifted.any():
        raise ReleaseError(
            "lifted.json",
            "this mask lifts no records to the top",
            given="some that were",
            remedy="restore the holder's folder from a good copy",
        )


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a masker gives back: the mask, and what the task's table shows.

    `covered`: requirements that follow from others. `history`: JSON for the holder's eyes. `holder`: files for the
    holder's folder, JSON by file name, such as the key of a transformation. `settled`: the search was asked to end
    early, and how far it was; the recipe alone does not give such a mask again.
    """

    mask: Mask
    masked: Masked
    covered: Sequence[Covered] = ()
    history: Mapping[str, Any] = field(default_factory=dict)
    holder: Mapping[str, Any] = field(default_factory=dict)
    settled: str | None = None


class Masker:
    """Settings of one masker: a frozen dataclass, so that recipes can be read and written.

    A masker states its `guarantee`, checks a recipe, masks a task, and reads its mask back. What else general code asks
    has a usual answer here. `joins_earlier`: it can be held beside releases that are out already. `averages`: masked
    numbers are shown as other numbers, not as intervals. `interval_trees`: it cuts a number's given tree of intervals.
    `settles`: asked to end early, its search gives what it has found by then, which keeps every requirement.
    `guided`: what it does depends on the structure that must survive.
    """

    guarantee: ClassVar[Guarantee] = K_ANONYMITY
    averages: ClassVar[bool] = False
    interval_trees: ClassVar[bool] = False
    settles: ClassVar[bool] = False
    guided: ClassVar[bool] = True

    @property
    def joins_earlier(self) -> bool:
        """Whether it knows how to stay safe beside earlier releases."""
        return False

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Refuse a recipe that this masker cannot make sound."""
        raise NotImplementedError

    def check_detail(self, detail: Detail) -> None:
        """Refuse wishes that this masker does not keep: all of them, unless it says otherwise."""
        if detail:
            raise RecipeError(
                "detail",
                "partition and top_down show everybody as finely as it says",
                given=type(self).__name__,
                remedy="use mask: partition, or leave it out",
            )

    def check_labels(self, most: int | None) -> None:
        """Where noise follows the number of labels: refuse a structure that does not declare it (`most` is None)."""

    def unguided(self) -> Masker:
        """The same where there is no structure to be guided by; refused where that makes no sense."""
        return self

    @property
    def declarations(self) -> Mapping[str, Any]:
        """What its settings declare of the table, which another masker in its place must declare as well."""
        return {}

    def keeping_relations(self, schema: Schema) -> str:
        """Of maskers that generate rows: settings that keep more relations between columns, as a recipe has them."""
        return ""

    def plan(self, schema: Schema, budget: Budget) -> tuple[Share, ...]:
        """What a budget will be spent on; nothing, unless the masker spends one."""
        return ()

    def mask(self, task: Task) -> Outcome:
        """Learn a mask and apply it."""
        raise NotImplementedError

    def mask_while(self, task: Task, holds: Callable[[Outcome], bool]) -> Outcome:
        """As `mask`, as fine as it holds; only maskers that join earlier releases know coarser ways."""
        raise NotImplementedError

    def explained(self, task: Task, history: Mapping[str, Any], mask: Mask) -> Mapping[str, Any]:
        """The history with what looking or searching again can tell of a mask, such as which k would show more."""
        return history

    def explained_row(self, task: Task, mask: Mask, row: int) -> Mapping[str, str]:
        """By masked column, what stood in the way of showing the group of one record finer; nothing where no group has
        a reason of its own."""
        return {}

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Mask:
        """The mask of a written release, from its JSON files and those of the holder's folder, by name."""
        raise NotImplementedError


def only_k_anonymity(
    masker: str, requirements: Iterable[Requirement], *, remedy: str = "use partition, top_down or mondrian"
) -> tuple[KAnonymity, ...]:
    """For maskers that count records and nothing else: the requirements, if none of them is of another kind."""
    asked = tuple(requirements)
    found = tuple(requirement for requirement in asked if isinstance(requirement, KAnonymity))
    others = [str(requirement) for requirement in asked if not isinstance(requirement, KAnonymity)]
    if others:
        raise RecipeError(
            "privacy", f"{masker} can promise k-anonymity and nothing else", given=", ".join(others), remedy=remedy
        )
    return found


def refuse_small(masked: Masked, requirements: Sequence[Requirement]) -> None:
    """For maskers that cannot go on until k is reached: refuse a masked table whose groups are too small."""
    for requirement in only_k_anonymity("this masker", requirements):
        if not requirement.holds(int(masked.sizes(requirement.on).min())):
            raise Infeasible(
                str(requirement),
                "the masked table must satisfy it",
                given="groups that are smaller",
                remedy="ask for a smaller k, or use a masker that searches, such as top_down",
            )


def within(name: str, given: object, least: float, most: float, *, whole: bool = False) -> None:
    """Refuse what is no number from `least` to `most`.

    >>> within("seconds", 5, 0, DAY)
    >>> within("seconds", "1e9", 0, DAY)
    Traceback (most recent call last):
        ...
    sfumato.errors.RecipeError: seconds: it is a number from 0 to 86,400. Given: '1e9'. To mend it: leave it out.
    """
    kinds = int if whole else int | float
    if not isinstance(given, kinds) or isinstance(given, bool) or not least <= given <= most:
        raise RecipeError(
            name,
            f"it is a {'whole ' if whole else ''}number from {least:,g} to {most:,.10g}",
            given="a larger one" if isinstance(given, int) and given > most else repr(given),
            remedy="leave it out",
        )
