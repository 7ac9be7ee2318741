"""l-diversity: every group has well-represented sensitive values (Machanavajjhala et al., 2006)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, isinf, log, nextafter
from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.calls import constructed
from sfumato.counting import Measure
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
    whole,
)

Kind = Literal["distinct", "entropy", "recursive"]
KINDS = ("distinct", "entropy", "recursive")


@constructed
@dataclass(frozen=True, init=False)
class LDiversity(Usual):
    """Every group has at least l well-represented values of the sensitive attribute.

    "distinct": l different values. "entropy": an entropy of at least log l. "recursive": with counts r1 >= r2 >= ...,
    r1 < c (r_l + r_(l+1) + ...), that is (c, l)-diversity. Definitions 4.1 and 4.2 of Machanavajjhala et al., who show
    that all three are monotone. A missing value is a value of its own.

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
        object.__setattr__(self, "c", _constant(kind, c))

    @property
    def threshold(self) -> float:
        """l values; the entropy of l equal shares; or anything less than c times."""
        if self.kind == "recursive":
            return nextafter(-float(self.c or 0), 0)
        return float(self.l) if self.kind == "distinct" else log(self.l) - ROUNDING

    def measure(self, sensitive: Sensitive) -> Measure:
        """Different values, entropy, or minus how many times the most frequent outnumbers the rare ones."""
        del sensitive
        if self.kind == "recursive":
            return lambda counts: -_outnumbered(counts, self.l)
        return _different if self.kind == "distinct" else _entropy

    def falls_short(self, level: float) -> str:
        """Different values, entropy as of how many equal shares, or too frequent a value."""
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
        if self.kind == "recursive":
            return "ask for a smaller l" if isinf(level) else f"ask for c above {-level:.4g}, or for a smaller l"
        most = int(level) if self.kind == "distinct" else int(exp(level) + ROUNDING)
        return f"ask for l of at most {most}" if most > 1 else "ask for kind: distinct, or leave it out"

    def achieved(self, worst: Sequence[float]) -> dict[str, float]:
        """The l of the least diverse group, or the c that it would just break."""
        if self.kind == "recursive":
            return {"c": figure(-worst[0])}
        return {"l": int(worst[0]) if self.kind == "distinct" else figure(exp(worst[0]))}

    def attacker(self) -> str:
        """Against whom."""
        return learner(self.on, self.sensitive, "it could be one of several")

    def sentence(self) -> str:
        """For people."""
        alike, of = f"records that look alike on {said(self.on)}", quoted(self.sensitive)
        if self.kind == "distinct":
            return f"{alike} have at least {self.l} different values of {of} (distinct)"
        if self.kind == "entropy":
            return f"{alike} have values of {of} whose entropy is at least that of {self.l} equal shares"
        return (
            f"{alike} have values of {of} of which the most frequent is less than {self.c} times as frequent as all "
            f"from the {self.l}. most frequent on together (recursive)"
        )

    def __str__(self) -> str:
        kind = f"({self.c}, {self.l})" if self.kind == "recursive" else f"{self.kind} {self.l}"
        return f"{kind}-diversity of {self.sensitive} on {{{', '.join(self.on)}}}"


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
