"""l-diversity: every group has well-represented sensitive values (Machanavajjhala et al., 2006)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, isinf, log, nextafter
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.calls import constructed
from sfumato.counting import Measure
from sfumato.data.lookalikes import looks
from sfumato.data.schema import ItemSet
from sfumato.data.table import Table
from sfumato.errors import RecipeError, quoted
from sfumato.privacy.requirements.requirement import (
    ROUNDING,
    Sensitive,
    Usual,
    column,
    figure,
    learner,
    listed,
    plural,
    said,
    share,
    whole,
)

Kind = Literal["distinct", "entropy", "recursive", "items"]
KINDS = ("distinct", "entropy", "recursive", "items")


@constructed
@dataclass(frozen=True, init=False)
class LDiversity(Usual):
    """Every group has at least l well-represented values of the sensitive attribute.

    "distinct": l different values. "entropy": an entropy of at least log l. "recursive": with counts r1 >= r2 >= ...,
    r1 < c (r_l + r_(l+1) + ...), that is (c, l)-diversity. Definitions 4.1 and 4.2 of Machanavajjhala et al., who show
    that all three are monotone. A missing value is a value of its own.

    "items", of a set-valued attribute: of every item that somebody in the group has, at least l - 1 others in it lack
    it, so that with l = 2 nobody's item is certain; with a c, l is 2 and at most the share c of the group has it. A
    missing set is an item of its own. Of the parts of a group, one with the item has no more who lack it; and a group's
    share is the mean of its parts': both are monotone. That somebody lacks an item is not hidden.

    >>> LDiversity(on=["age"], sensitive="disease", l=3).kind
    'distinct'
    """

    name: ClassVar[str] = "l_diversity"
    main: ClassVar[str | None] = "l"

    on: tuple[str, ...]
    sensitive: str
    l: int  # noqa: E741 - the name that everybody knows it by
    kind: Kind
    c: float | None

    def __init__(
        self,
        on: Iterable[str],
        sensitive: str,
        l: int,  # noqa: E741
        kind: Kind = "distinct",
        c: float | None = None,
    ) -> None:
        names = listed("l-diversity", on)
        object.__setattr__(self, "on", names)
        object.__setattr__(self, "sensitive", column("l-diversity", sensitive, names))
        object.__setattr__(self, "l", whole("l-diversity", "l", l, least=2))
        object.__setattr__(self, "kind", _kind(kind))
        object.__setattr__(self, "c", _share_of_items(self.l, c) if kind == "items" else _constant(kind, c))

    @property
    def of_items(self) -> bool:
        """Whether it is about the items of sets."""
        return self.kind == "items"

    @property
    def _counts(self) -> bool:
        """Whether its measure is a whole number."""
        return self.kind == "distinct" or (self.kind == "items" and self.c is None)

    @property
    def threshold(self) -> float:
        """l values; the entropy of l equal shares; anything less than c times; or at most the share c."""
        if self.kind == "recursive":
            return nextafter(-float(self.c or 0), 0)
        if self.kind == "items" and self.c is not None:
            return -self.c
        return float(self.l) if self._counts else log(self.l) - ROUNDING

    def measure(self, sensitive: Sensitive) -> Measure:
        """Different values, entropy, or minus how many times the most frequent outnumbers the rare ones; of items the
        fewest who lack one that others have, and one more, or minus the largest share that has one."""
        if self.kind == "items":
            return _by_item(sensitive, shares=self.c is not None)
        if self.kind == "recursive":
            return lambda counts: -_outnumbered(counts, self.l)
        return _different if self.kind == "distinct" else _entropy

    def falls_short(self, level: float) -> str:
        """Different values, entropy as of how many equal shares, or too frequent a value or item."""
        if self.kind == "items":
            if self.c is not None:
                return f"an item of {self.sensitive} that the share {-level:.4g} have, and c is {self.c}"
            return f"an item of {self.sensitive} that all but {int(level) - 1} records have, and l is {self.l}"
        if self.kind == "distinct":
            return f"{plural(int(level), 'value', 'different values')} of {self.sensitive}, and l is {self.l}"
        if self.kind == "entropy":
            return f"values of {self.sensitive} with the entropy of {exp(level):.3f} equal shares, and l is {self.l}"
        if isinf(level):
            return f"fewer than {self.l} different values of {self.sensitive}"
        return (
            f"a value of {self.sensitive} {-level:.4g} times as frequent as all from the {self.l}. most frequent on, "
            f"and c is {self.c}"
        )

    def remedy(self, level: float) -> str:
        """A smaller l, or a larger c."""
        if self.kind == "items":
            if level in (-1, 1):  # all have it, or nobody lacks it
                return f"take the item that everybody has out of {self.sensitive}: it is no secret"
            return f"ask for l of at most {int(level)}" if self.c is None else f"ask for c of at least {-level:.4g}"
        if self.kind == "recursive":
            return "ask for a smaller l" if isinf(level) else f"ask for c above {-level:.4g}, or for a smaller l"
        most = int(level) if self.kind == "distinct" else int(exp(level) + ROUNDING)
        return f"ask for l of at most {most}" if most > 1 else "ask for kind: distinct, or leave it out"

    def achieved(self, worst: Sequence[float]) -> dict[str, float]:
        """The l of the least diverse group, or the c that it would just break."""
        if self.c is not None:
            return {"c": figure(-worst[0])}
        return {"l": int(worst[0]) if self._counts else figure(exp(worst[0]))}

    def also(self, people: Table) -> dict[str, Any]:
        """What stands between the items of a set in a text file."""
        attribute = people.schema[self.sensitive]
        return {"separator": attribute.separator} if isinstance(attribute, ItemSet) else {}

    def attacker(self) -> str:
        """Against whom."""
        if self.kind == "items":
            return learner(self.on, self.sensitive, "is certain of no item of it")
        return learner(self.on, self.sensitive, "it could be one of several")

    def sentence(self) -> str:
        """For people."""
        alike, of = f"records that look alike on {said(self.on)}", quoted(self.sensitive)
        if self.kind == "distinct":
            return f"{alike} have at least {self.l} different values of {of} (distinct)"
        if self.kind == "items":
            if self.c is not None:
                return f"of {alike} at most the share {self.c} have the same item of {of} (items)"
            look, do = ("record that looks", "does") if self.l == 2 else ("records that look", "do")
            who = f"at least {self.l - 1} {look} the same on {said(self.on)} {do} not have it"
            return f"whatever item of {of} a record has, {who} (items)"
        if self.kind == "entropy":
            return f"{alike} have values of {of} whose entropy is at least that of {self.l} equal shares"
        return (
            f"{alike} have values of {of} of which the most frequent is less than {self.c} times as frequent as all "
            f"from the {self.l}. most frequent on together (recursive)"
        )

    def __str__(self) -> str:
        kind = f"({self.c}, {self.l})" if self.kind == "recursive" else f"{self.kind} {self.l}"
        return f"{kind}-diversity of {self.sensitive} on {{{', '.join(self.on)}}}"


def _by_item(sensitive: Sensitive, *, shares: bool) -> Measure:
    """From counts of sets to what is measured of their items; items that look alike are one."""
    from scipy.sparse import csr_array

    keys = [{None} if held is None else {looks(item) for item in held} for held in sensitive.values]
    place = {key: at for at, key in enumerate(dict.fromkeys(key for some in keys for key in some))}
    cells = [(row, place[key]) for row, some in enumerate(keys) for key in some]
    at = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    holds = csr_array((np.ones(len(cells), dtype=np.int64), (at[0], at[1])), shape=(len(keys), max(len(place), 1)))

    def measured(counts: Ints) -> Floats:
        have, size = np.asarray(counts @ holds), counts.sum(axis=1)
        if shares:
            return np.asarray(-(have.max(axis=1) / size), dtype=np.float64)
        lack = np.where(have > 0, size[:, None] - have, size[:, None])
        return np.asarray(lack.min(axis=1) + 1, dtype=np.float64)

    return measured


def _different(counts: Ints) -> Floats:
    return np.asarray(np.count_nonzero(counts, axis=1), dtype=np.float64)


def _outnumbered(counts: Ints, l: int) -> Floats:  # noqa: E741
    """r1 / (r_l + r_(l+1) + ...); infinite where nothing is rare."""
    most = -np.sort(-counts, axis=1)
    tail = most[:, l - 1 :].sum(axis=1)
    none = np.full(len(counts), np.inf)
    return np.asarray(np.divide(most[:, 0], tail, out=none, where=tail > 0), dtype=np.float64)


def _entropy(counts: Ints) -> Floats:
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log(shares, where=counts > 0, out=np.zeros(shares.shape))
    return np.asarray(-(shares * logs).sum(axis=1), dtype=np.float64)


def _kind(kind: str) -> str:
    if kind not in KINDS:
        raise RecipeError("l-diversity", "kind is one of " + ", ".join(KINDS), given=repr(kind), remedy="say distinct")
    return kind


def _share_of_items(l: int, c: float | None) -> float | None:  # noqa: E741
    if c is not None and l > 2:
        raise RecipeError(
            "l-diversity",
            "items are bounded by l, how many lack each, or by a share c with l = 2",
            given=f"l = {l} and c = {c}",
            remedy=f"write {{l_diversity: 2, kind: items, c: {c}, ...}}, or leave c out",
        )
    return None if c is None else share("l-diversity", "c", c)


def _constant(kind: str, c: float | None) -> float | None:
    if (kind == "recursive") != (c is not None):
        raise RecipeError(
            "l-diversity",
            "recursive (c, l)-diversity has a c, the other kinds have none",
            given="no c" if c is None else f"c={c} with kind {kind}",
            remedy="give for example c=3 with kind: recursive",
        )
    if c is not None and (isinstance(c, bool) or not isinstance(c, int | float) or not 0 < c < 1e6):
        raise RecipeError("l-diversity", "c is a number above 0", given=repr(c), remedy="give for example c=3")
    return c
