"""The claims that verify understands, each recounted by a group-by on the file that was read.

A claim is added by a line in CLAIMS: a function that takes the table and the claim as it stands in the
certificate, returns what it counted, and raises CheckError where the claim is false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form, field, names, whole
from sfumato.privacy.verify.reached import columns
from sfumato.privacy.verify.sensitive import (
    check_alpha_k,
    check_confidence_bound,
    check_l_diversity,
    check_lkc,
    check_t_closeness,
)
from sfumato.privacy.verify.verdict import CheckError
from sfumato.privacy.verify.wording import listed

if TYPE_CHECKING:
    import polars as pl

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
    import polars as pl

    gone = [name for name in on if name not in table.columns]
    if gone:
        raise CheckError(f"the table has no column {gone[0]!r}")
    if not table.height:
        raise CheckError("the table has no rows")
    sizes = table.lazy().group_by(on).agg(pl.len().alias(SIZE))
    return int(sizes.select(pl.col(SIZE).min()).collect().item())


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
