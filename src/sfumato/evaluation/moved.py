"""Numbers that stand elsewhere: how far they were moved (Sec of 004), and how many known people undo it for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.arrays import Floats
from sfumato.data.table import Table
from sfumato.evaluation.attacks.settings import Effort
from sfumato.evaluation.scores import Score
from sfumato.maskers.masker import Outcome

if TYPE_CHECKING:
    from sfumato.evaluation.attacks.inversion import Both

QUICK = Effort(known=12, trials=20)
"""As hard as a publish tries; `sfumato attack` tries harder."""
SEC = "security"
KNOWN = "known_records"


def moved_scores(table: Table, outcome: Outcome) -> Sequence[Score]:
    """Of a table whose rows were moved; nothing of any other.

    Sec is told because 004 measures by it, and how many records undo the mask beside it, because Sec is no risk.
    """
    if outcome.masked.of_records or not outcome.masked.row_by_row:
        return ()
    from sfumato.evaluation.attacks.inversion import Both
    from sfumato.evaluation.attacks.suite import LEAST_ROWS

    mask: Any = outcome.mask
    both = Both.of(table, outcome.masked, mask.names)
    if both.rows < LEAST_ROWS:
        return ()
    return [*_sec(both), *_known_records(table, mask, both)]


def security(raw: Floats, masked: Floats) -> float:
    """Sec = Var(X - Y) / Var(X) of one attribute (004 section 5.3); 0 where all have one value.

    It is no measure of risk: 0 for a translation and about 2 for a rotation by 90 degrees, both undone at once.

    >>> security(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    0.0
    """
    spread = float(np.var(raw))
    return float(np.var(raw - masked)) / spread if spread else 0.0


def _sec(both: Both) -> list[Score]:
    found = [security(both.raw[:, at], both.masked[:, at]) for at in range(both.dims)]
    meaning = "Sec of 004, Var(X - Y) / Var(X): 0 for a translation by any distance; no measure of risk"
    single = [
        Score(f"{SEC}.{name}", value, publishable=False, meaning=f"{meaning}; of {name}")
        for name, value in zip(both.names, found, strict=True)
    ]
    return [
        Score(SEC, float(np.mean(found)), publishable=False, meaning=f"{meaning}; the mean over attributes"),
        *single,
    ]


def _known_records(table: Table, mask: Any, both: Both) -> list[Score]:
    """The least number with which one of the attacks gets everybody's record, or that of 95 in 100."""
    from sfumato.evaluation.attacks.inversion import attack_with_known
    from sfumato.evaluation.attacks.suite import scenes_of

    most = min(QUICK.known, both.rows - 1)
    found = [
        enough
        for scene in scenes_of(both, mask, table)
        for result in attack_with_known(scene, methods=("robust",), most=most, trials=QUICK.trials, seed=QUICK.seed)
        if (enough := result.details["needed"] or result.details["mostly"]) is not None
    ]
    meaning = f"how many known people undo the mask for everybody else (at most {most} were tried)"
    return [Score(KNOWN, float(min(found)), publishable=False, meaning=meaning)] if found else []
