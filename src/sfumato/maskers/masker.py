"""What every masker is: settings that know how to fit, and a mask that tells what was learned.

To add a masker: a folder beside this file with a frozen dataclass of settings that satisfies `Masker`, and
one line in `registry.py`. Recipes, the command line and publish find it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.counting import Engine, Positions
from sfumato.data.groups import group_sizes
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import Infeasible, RecipeError
from sfumato.privacy.mechanisms import Mechanisms
from sfumato.privacy.requirements import Covered, KAnonymity, Requirement

Columns = Mapping[str, "pa.Array[Any]"]
Objective = Callable[[Columns], float]
Fixed = Mapping[frozenset[str], NDArray[np.int64]]
"""For the attributes of a requirement: (rows,) the group of each row in the earlier releases, from 0 without gaps."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The structure that must survive: each row's class, 0..n-1.

    `most`: how many classes there can be by declarations alone; None where the records decide. What is public follows
    from `most`, never from `n`, which is counted in the records.
    """

    classes: Positions
    n: int
    most: int | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """What a masker is given: the table, the structure that must survive, what must hold, and who counts.

    `objective` tells how well masked columns keep the structure, from 0 to 1, for maskers that try several ways.
    `mechanisms` is the only way to private data for maskers that spend a privacy budget. `fixed`: what earlier
    releases of the same rows show, with which every requirement must hold together (top-down refinement alone does).
    """

    table: Table
    labels: Labels
    requirements: Sequence[Requirement]
    engine: Engine
    asked_to_stop: Callable[[], bool] = field(default=lambda: False)
    objective: Objective | None = None
    mechanisms: Mechanisms | None = None
    fixed: Fixed | None = None


class Mask(Protocol):
    """What was learned: frozen, in labels, plain JSON."""

    def files(self) -> Mapping[str, Any]:
        """What goes into the release, JSON by file name.

        A masker may add one file of its registry's name, such as `round_to_tens.json`, once verify knows it: a masker
        is entered in `sfumato.privacy.verify.maskers`, with its words and its file, and what is not there is refused.
        """

    def apply(self, table: Table, *, unseen: str = "refuse") -> Mapping[str, pa.Array[Any]]:
        """The masked columns of any table of the same schema; unseen values are "refuse"d or "suppress"ed."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a masker gives back.

    `columns`: the masked columns of the task's table, by name: numbers stay Arrow numbers, labels and intervals are
    dictionary-encoded text, missing is null. `masked`: what was done to each of them, in one word; "generalize",
    "suppress" and "discretize" promise a recoding.json.
    `covered`: requirements that follow from others. `lifted` (rows,): records shown at the top everywhere.
    `history`: JSON for the holder's eyes. `holder`: files for the holder's folder, JSON by file name, such as
    the key of a transformation. `guarantee`: "k_anonymity", "differential_privacy", or "none" where nothing may be
    claimed. `generated`: the columns are all of the released table, with rows of their own: nothing raw may join them.
    """

    mask: Mask
    columns: Mapping[str, pa.Array[Any]]
    masked: Mapping[str, str]
    covered: Sequence[Covered] = ()
    lifted: NDArray[np.bool_] | None = None
    history: Mapping[str, Any] = field(default_factory=dict)
    holder: Mapping[str, Any] = field(default_factory=dict)
    guarantee: str = "k_anonymity"
    generated: bool = False


class Masker(Protocol):
    """Settings of one masker: a frozen dataclass, so that recipes can be read and written.

    `guarantee`: "k_anonymity", or "none" for a masker of which nothing may be claimed; the recipe must then say
    `i_understand: no_guarantee`. A masker whose noise follows the number of labels also has `check_labels(most)`, which
    refuses a recipe whose structure does not declare it.
    """

    guarantee: ClassVar[str]

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Refuse a recipe that this masker cannot make sound."""

    def mask(self, task: Task) -> Outcome:
        """Learn a mask and apply it."""

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Mask:
        """The mask of a written release, from its JSON files and those of the holder's folder, by name."""


def only_k_anonymity(
    masker: str, requirements: Iterable[Requirement], *, remedy: str = "use top_down or mondrian"
) -> tuple[KAnonymity, ...]:
    """For maskers that count records and nothing else: the requirements, if none of them is of another kind."""
    asked = tuple(requirements)
    found = tuple(requirement for requirement in asked if isinstance(requirement, KAnonymity))
    others = [str(requirement) for requirement in asked if not isinstance(requirement, KAnonymity)]
    if others:
        raise RecipeError("privacy", f"{masker} can promise k-anonymity and nothing else", given=", ".join(others),
                          remedy=remedy)  # fmt: skip
    return found


def refuse_small(columns: Columns, requirements: Sequence[Requirement], rows: int) -> None:
    """For maskers that cannot go on until k is reached: refuse masked columns whose groups are too small."""
    for requirement in only_k_anonymity("this masker", requirements):
        sizes = group_sizes([codes_of(columns[name]) for name in requirement.on], rows)
        if not requirement.holds(int(sizes.min())):
            raise Infeasible(str(requirement), "the masked table must satisfy it", given="groups that are smaller",
                             remedy="ask for a smaller k, or use a masker that searches, such as top_down")  # fmt: skip


def codes_of(column: pa.Array[Any]) -> NDArray[np.int64]:
    """(rows,): a number for each row of a masked column, equal exactly where it shows the same; missing included."""
    encoded: Any = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    found = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    return np.asarray(found, dtype=np.int64)
