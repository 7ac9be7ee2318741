"""The three criteria of the Article 29 Working Party's opinion 05/2014 on anonymisation techniques (WP216): singling
out, linkability and inference, each by an attack on the release, with what the attacker knows in words and with what
guessing without the release would reach.

They are measured wherever shown values can be set beside raw ones: recodings, regions, centres and generated rows, not
transformed numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sfumato.data.table import Table
from sfumato.evaluation.attacks.attacker_view import Case, Seen
from sfumato.evaluation.attacks.inference import can_infer, infer
from sfumato.evaluation.attacks.linkage import link_halves
from sfumato.evaluation.attacks.results import Measured
from sfumato.evaluation.attacks.singling_out import single_out

SET_VALUED = "a set of items, of which no one value is guessed; what groups give away of its items is measured instead"
"""Why a sensitive column of sets is not inferred."""


def measure_criteria(case: Case) -> Measured:
    """Every attack that applies, in the order of the opinion."""
    table, seen = case.table, case.seen
    left_out: dict[str, str] = {}
    if not seen.rows or not seen.columns:
        return Measured((), {"singling out, linkability, inference": "no released row with a number or a category"})
    results = [*single_out(case)]
    if len(case.known) >= 2:
        results.append(link_halves(case))
    else:
        left_out["linkability"] = "fewer than two quasi-identifying attributes to make two lists of"
    sensitive = table.schema.with_role("sensitive")
    able = [name for name in sensitive if can_infer(table, seen, name) and name not in case.known]
    results += [infer(case, name) for name in able] if case.known else []
    if not sensitive:
        left_out["inference"] = "no attribute has the role sensitive"
    for name in sorted({*sensitive} - {*able}):
        left_out[f"inference of {name}"] = "masked itself" if name in seen.columns else SET_VALUED
    if sets := [name for name in table.schema.kept if name not in seen.columns]:
        left_out[f"what {', '.join(sets)} would add"] = "set-valued attributes are not compared"
    return Measured(tuple(results), left_out)


def known_attributes(asked: Sequence[Sequence[str]], seen: Seen, table: Table) -> tuple[str, ...]:
    """What attackers are thought to know: all attributes that requirements are about, else all quasi-identifying."""
    names = dict.fromkeys(chain.from_iterable(asked)) or dict.fromkeys(table.schema.quasi)
    return tuple(name for name in names if name in seen.columns)
