"""Claims about a sensitive column, each recounted from its definition. Nothing of the search takes part."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from sfumato.privacy.verify.distances import ordered, read_tree
from sfumato.privacy.verify.fields import Form, field, number, one_of, share, whole
from sfumato.privacy.verify.reached import ROUNDING, as_told, columns
from sfumato.privacy.verify.spread import Spread, spread_of
from sfumato.privacy.verify.values import cells_of, ranks
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

KINDS = ("distinct", "entropy", "recursive")
DISTANCES = ("equal", "ordered", "hierarchical")
MOST_COMBINATIONS = 500  # of l columns that are counted for LKC-privacy


def check_l_diversity(table: pl.DataFrame, claim: Form) -> str:
    """Every group has l well-represented sensitive values (Machanavajjhala et al., 2006, definitions 4.1 and 4.2)."""
    kind = one_of(claim, "kind", KINDS)
    spread = _spread(table, claim, {"l", "kind", *(("c",) if kind == "recursive" else ())})
    l = whole(claim, "l")  # noqa: E741 - the name that everybody knows it by
    if l < 2:
        raise CheckError("'l' is at least 2")
    if kind == "recursive":
        return _recursive(spread, claim, l)
    if kind == "distinct":
        reached: float = spread.fewest_values()
        holds = reached >= l
    else:
        entropy = spread.least_entropy()
        reached, holds = math.exp(entropy), entropy >= math.log(l) - ROUNDING
    if not holds:
        raise CheckError(f"a group has values of {spread.sensitive} that are less than {l}-diverse ({kind})")
    return as_told(claim, {"l": reached})


def _recursive(spread: Spread, claim: Form, l: int) -> str:  # noqa: E741
    """With counts r1 >= r2 >= ...: r1 < c (r_l + r_(l+1) + ...), exactly."""
    c = number(claim, "c")
    if not 0 < c < 1e6:
        raise CheckError("'c' is a number above 0")
    pairs = spread.frequent(l)
    if any(not pair.most < Fraction(str(c)) * pair.rest for pair in pairs):
        raise CheckError(f"a group has values of {spread.sensitive} that are not ({c}, {l})-diverse")
    return as_told(claim, {"c": max(pair.most / pair.rest for pair in pairs)})


def check_confidence_bound(table: pl.DataFrame, claim: Form) -> str:
    """In every group at most the share h has the value, or any one value (Wang, Fung and Yu, 2005)."""
    spread = _spread(table, claim, {"h", "value"})
    return as_told(claim, {"h": _bounded(spread, claim, share(claim, "h"))})


def check_alpha_k(table: pl.DataFrame, claim: Form) -> str:
    """k records in every group, and at most the share alpha of them has the value (Wong et al., 2006)."""
    spread = _spread(table, claim, {"alpha", "k", "value"})
    alpha = _bounded(spread, claim, share(claim, "alpha"))
    return as_told(claim, {"alpha": alpha, "k": _at_least(spread, claim)})


def check_lkc(table: pl.DataFrame, claim: Form) -> str:
    """Both for whoever knows any l of the columns (Mohammed et al., 2009); knowing fewer of them finds more records."""
    spread = _spread(table, claim, {"l", "k", "c", "value"})
    l = whole(claim, "l")  # noqa: E741
    if not 1 <= l <= len(spread.on) or math.comb(len(spread.on), l) > MOST_COMBINATIONS:
        raise CheckError(f"'l' is at most the number of columns, with at most {MOST_COMBINATIONS} combinations")
    known = [spread.knowing(some) for some in combinations(spread.on, l)]
    k = min(_at_least(part, claim) for part in known)
    return as_told(claim, {"k": k, "c": max(_bounded(part, claim, share(claim, "c")) for part in known)})


def check_t_closeness(table: pl.DataFrame, claim: Form) -> str:
    """No group's distribution is further than t from the table's (Li, Li and Venkatasubramanian, 2007)."""
    distance = one_of(claim, "distance", DISTANCES)
    of_this = {"ordered": {"order"}, "hierarchical": {"tree"}, "equal": set[str]()}[distance]
    spread = _spread(table, claim, {"t", "distance", *of_this}, exact=distance == "hierarchical")
    t, furthest = share(claim, "t"), _furthest(spread, claim, distance)
    if furthest > t + ROUNDING:
        raise CheckError(f"a group's values of {spread.sensitive} are further than {t} from the table's")
    return as_told(claim, {"t": furthest})


def _furthest(spread: Spread, claim: Form, distance: str) -> float:
    if distance == "ordered":
        order: list[object] | None = field(claim, "order", list) if "order" in claim else None
        return spread.furthest_by(ranks(spread.values, order), ordered)
    if distance == "hierarchical":
        tree = read_tree(claim.get("tree"), spread.values)
        return spread.furthest_by(range(len(spread.values)), tree.distance)
    return spread.furthest()


def _spread(table: pl.DataFrame, claim: Form, settings: set[str], *, exact: bool = False) -> Spread:
    return spread_of(table, columns(claim, {"sensitive", *settings}), field(claim, "sensitive", str), exact=exact)


def _bounded(spread: Spread, claim: Form, most: float) -> float:
    """The largest share of the claim's value, or of any one value; it is at most this."""
    named = "value" in claim
    found = spread.largest_share(cells_of(claim["value"], spread.values) if named else None)
    if found > most:
        what = "the named value" if named else "one value"
        raise CheckError(f"in a group, more than the share {most} has {what} of {spread.sensitive}")
    return found


def _at_least(spread: Spread, claim: Form) -> int:
    k, smallest = whole(claim, "k"), spread.smallest()
    if k < 2 or smallest < k:
        raise CheckError(f"a group has fewer than {k} records" if k > 1 else "'k' is at least 2")
    return smallest
