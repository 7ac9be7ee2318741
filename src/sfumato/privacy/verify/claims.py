"""The claims that verify understands, each recounted by a group-by on the file that was read.

A claim is added by a line in CLAIMS: a function that takes the table and the claim as it stands in the
certificate, returns what it counted, and raises CheckError where the claim is false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form, field, names, whole
from sfumato.privacy.verify.letters import listed
from sfumato.privacy.verify.tallies import tallied
from sfumato.privacy.verify.terms import columns
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl
import math
from fractions import Fraction
from itertools import combinations

from sfumato.privacy.verify.fields import number, one_of, share
from sfumato.privacy.verify.items import items_of
from sfumato.privacy.verify.spread import Spread, ordered, read_tree, spread_of
from sfumato.privacy.verify.terms import KINDS, ROUNDING, as_told
from sfumato.privacy.verify.values import cells_of, ranks

DISTANCES = ("equal", "ordered", "hierarchical")
MOST_COMBINATIONS = 500  # of l columns that are counted for LKC-privacy


def check_l_diversity(table: pl.DataFrame, claim: Form) -> str:
    """Every group has l well-represented sensitive values (Machanavajjhala et al., 2006, definitions 4.1 and 4.2)."""
    kind = one_of(claim, "kind", KINDS)
    l = whole(claim, "l")  # noqa: E741 - the name that everybody knows it by
    if l < 2:
        raise CheckError("'l' is at least 2")
    if kind == "items":
        return _items(table, claim, l)
    spread = _spread(table, claim, {"l", "kind", *(("c",) if kind == "recursive" else ())})
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


def _items(table: pl.DataFrame, claim: Form, l: int) -> str:  # noqa: E741
    """Of each item that is in a group at least l - 1 of its records lack it, or at most the share c of them has it."""
    on = columns(claim, {"sensitive", "l", "kind", "c", "separator"})
    found = items_of(table, on, field(claim, "sensitive", str), field(claim, "separator", str))
    if "c" not in claim:
        if found.fewest_lack + 1 < l:
            raise CheckError(f"a group has an item of {claim['sensitive']} that fewer than {l - 1} of its records lack")
        return as_told(claim, {"l": found.fewest_lack + 1})
    if l != 2 or found.largest_share > share(claim, "c"):
        raise CheckError(f"in a group, more than the share {claim['c']} has one item of {claim['sensitive']}")
    return as_told(claim, {"c": found.largest_share})


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


SIZE = "\0records"  # no column has this name


def check_k_anonymity(table: pl.DataFrame, claim: Form) -> str:
    """Every combination of shown values on these columns is shared by at least k records.

    A missing value is a value: the records that miss it form groups as all others do.
    """
    on, k = columns(claim, {"k", "by"}), whole(claim, "k")
    if k < 2:
        raise CheckError("'k' is at least 2: one record protects nobody")
    smallest = smallest_group(table, on)
    if smallest < k:
        raise CheckError(f"a group has fewer than {k} records")
    if "achieved" in claim and whole(claim, "achieved") != smallest:
        raise CheckError(f"the smallest group has {smallest} records; the certificate says otherwise")
    return f"the smallest group has {smallest} records, {k} are claimed"


def smallest_group(table: pl.DataFrame, on: Sequence[str]) -> int:
    """How many records the smallest group has."""
    gone = [name for name in on if name not in table.columns]
    if gone:
        raise CheckError(f"the table has no column {gone[0]!r}")
    if not table.height:
        raise CheckError("the table has no rows")
    return int(tallied(table, on, SIZE)[SIZE].to_numpy().min())


def without_population(table: pl.DataFrame, claim: Form) -> str:
    """A release shows its own records only: how many other people look like them is in another table."""
    del table, claim
    raise CheckError("this claim needs the population's table: give it with --population FILE (in Python population=)")


SEVERAL = ("bcf_anonymity", "joint_k_anonymity")


def without_others(table: pl.DataFrame, claim: Form) -> str:
    """A release shows itself only."""
    del table, claim
    raise CheckError("this claim is about several releases: give the others with --with FOLDER (in Python others=)")


CLAIMS: dict[str, Callable[[pl.DataFrame, Form], str]] = {
    "k_anonymity": check_k_anonymity,
    "l_diversity": check_l_diversity,
    "confidence_bound": check_confidence_bound,
    "alpha_k": check_alpha_k,
    "t_closeness": check_t_closeness,
    "lkc": check_lkc,
    "k_map": without_population,
    **dict.fromkeys(SEVERAL, without_others),
}


def recount(table: pl.DataFrame, claim: Form) -> str:
    """Recount one claim."""
    check = CLAIMS.get(field(claim, "claim", str))
    if check is None:
        raise CheckError(f"this claim is not understood; known are: {', '.join(CLAIMS)}")
    return check(table, claim)


def follows(covered: Form, others: Sequence[Form]) -> str:
    """A covered claim names the claim it follows from: k-anonymity on more columns, with no smaller k."""
    if covered.get("claim") != "k_anonymity":
        raise CheckError("of other claims than k_anonymity none is said to follow from another")
    by, on, k = names(covered, "by"), names(covered, "on"), whole(covered, "k")
    above = [o for o in others if o.get("claim") == covered.get("claim") and set(names(o, "on")) == set(by)]
    if not any(set(on) < set(by) and whole(other, "k") >= k for other in above):
        raise CheckError("it does not follow from the claim it names")
    return f"follows from the claim on {listed(by)}"


def title(claim: Form) -> str:
    """How a claim is called in a verdict; it never fails."""
    on = claim.get("on")
    columns = listed(str(name) for name in on) if isinstance(on, list) else "?"
    return f"{claim.get('claim')} on {columns}"
