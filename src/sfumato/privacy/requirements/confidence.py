"""How sure an attacker may be of a sensitive value: confidence bounds, (alpha, k)-anonymity and LKC-privacy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.calls import constructed
from sfumato.counting import Measure
from sfumato.errors import RecipeError, SchemaError, quoted
from sfumato.privacy.requirements.anonymity import KAnonymity
from sfumato.privacy.requirements.requirement import (
    Basic,
    Sensitive,
    Usual,
    at_least_two,
    column,
    figure,
    learner,
    listed,
    said,
    same,
    share,
    spoken,
    valued,
    whole,
)

MOST_SUBSETS = 500


@constructed
@dataclass(frozen=True, init=False)
class ConfidenceBound(Usual):
    """In every group at most the share h of the records has the sensitive value (any value, where none is named).

    Wang, Fung and Yu, "Template-based privacy preservation in classification problems", 2005: the confidence of
    on -> value is at most h. A group's share is the mean of its parts' shares, so of the parts of a group that breaks
    the bound one breaks it too.

    >>> ConfidenceBound(on=["age"], sensitive="disease", h=0.5, value="HIV").h
    0.5
    """

    name: ClassVar[str] = "confidence_bound"
    main: ClassVar[str | None] = "h"

    on: tuple[str, ...]
    sensitive: str
    h: float
    value: Any

    def __init__(self, on: Iterable[str], sensitive: str, h: float, value: Any = None) -> None:
        names = listed("confidence bound", on)
        object.__setattr__(self, "on", names)
        object.__setattr__(self, "sensitive", column("confidence bound", sensitive, names))
        object.__setattr__(self, "h", share("confidence bound", "h", h))
        object.__setattr__(self, "value", valued("confidence bound", value))

    @property
    def threshold(self) -> float:
        """-h: the more confident, the less private."""
        return -self.h

    def measure(self, sensitive: Sensitive) -> Measure:
        """Minus the share of the value, or of the most frequent one."""
        if self.value is None:
            return _most_frequent
        found = [at for at, value in enumerate(sensitive.values) if same(value, self.value)]
        if not found:
            raise SchemaError(
                self.sensitive,
                f"{self} names a value that somebody has",
                given="a value of nobody",
                remedy="check its spelling (1 and '1' are different), or leave `value` out to bound every value",
            )
        return lambda counts: -(counts[:, found].sum(axis=1) / counts.sum(axis=1))

    def falls_short(self, level: float) -> str:
        """The share."""
        value = f"{self.sensitive} = {self.value}" if self.value is not None else f"the same value of {self.sensitive}"
        return f"a share of {-level:.4g} with {value}, and the bound is {self.h}"

    def remedy(self, level: float) -> str:
        """No less than the share in the whole table."""
        return within_one("a bound", -level)

    def achieved(self, worst: Sequence[float]) -> dict[str, float]:
        """The highest share of any group."""
        return {"h": figure(-worst[0])}

    def attacker(self) -> str:
        """Against whom."""
        return learner(self.on, self.sensitive, f"is never surer than {self.h}")

    def sentence(self) -> str:
        """For people."""
        return f"of records that look alike on {said(self.on)} {bounded(self.sensitive, self.h, self.value)}"

    def __str__(self) -> str:
        value = "" if self.value is None else f" = {self.value}"
        return f"confidence of at most {self.h} in {self.sensitive}{value} on {{{', '.join(self.on)}}}"


@constructed
@dataclass(frozen=True, init=False)
class AlphaK(Usual):
    """(alpha, k)-anonymity: k-anonymity, and in every group at most the share alpha has the sensitive value.

    Wong, Li, Fu and Wang, 2006. Without a value it holds for every value of the attribute.

    >>> [str(part) for part in AlphaK(on=["age"], sensitive="disease", alpha=0.5, k=5).parts()]
    ['5-anonymity on {age}', 'confidence of at most 0.5 in disease on {age}']
    """

    name: ClassVar[str] = "alpha_k"

    on: tuple[str, ...]
    sensitive: str
    alpha: float
    k: int
    value: Any

    def __init__(self, on: Iterable[str], sensitive: str, alpha: float, k: int, value: Any = None) -> None:
        names = listed("(alpha, k)-anonymity", on)
        object.__setattr__(self, "on", names)
        object.__setattr__(self, "sensitive", column("(alpha, k)-anonymity", sensitive, names))
        object.__setattr__(self, "alpha", share("(alpha, k)-anonymity", "alpha", alpha))
        object.__setattr__(self, "k", at_least_two("(alpha, k)-anonymity", k))
        object.__setattr__(self, "value", valued("(alpha, k)-anonymity", value))

    def parts(self) -> tuple[Basic, ...]:
        """k-anonymity and a confidence bound."""
        return KAnonymity(self.on, self.k), ConfidenceBound(self.on, self.sensitive, self.alpha, self.value)

    def achieved(self, worst: Sequence[float]) -> dict[str, float]:
        """The highest share and the smallest group."""
        return {"alpha": figure(-worst[1]), "k": int(worst[0])}

    def attacker(self) -> str:
        """Against whom."""
        return learner(self.on, self.sensitive, f"is never surer than {self.alpha}")

    def sentence(self) -> str:
        """For people."""
        return f"{KAnonymity(self.on, self.k).sentence()}, of whom {bounded(self.sensitive, self.alpha, self.value)}"

    def __str__(self) -> str:
        return f"({self.alpha}, {self.k})-anonymity of {self.sensitive} on {{{', '.join(self.on)}}}"


@constructed
@dataclass(frozen=True, init=False)
class LKC(Usual):
    """LKC-privacy: whoever knows any l of the attributes finds at least k records, and is sure of no value beyond c.

    Mohammed, Fung, Hung and Lee, 2009. It is k-anonymity and a confidence bound on every l of the attributes; for
    fewer attributes both follow, since their groups are made of whole ones.

    >>> len(LKC(on=["age", "sex", "job"], sensitive="disease", l=2, k=5, c=0.5).parts())
    6
    """

    name: ClassVar[str] = "lkc"

    on: tuple[str, ...]
    sensitive: str
    l: int  # noqa: E741 - the name that everybody knows it by
    k: int
    c: float
    value: Any

    def __init__(self, on: Iterable[str], sensitive: str, l: int, k: int, c: float, value: Any = None) -> None:  # noqa: E741
        names = listed("LKC-privacy", on)
        object.__setattr__(self, "on", names)
        object.__setattr__(self, "sensitive", column("LKC-privacy", sensitive, names))
        object.__setattr__(self, "l", whole("LKC-privacy", "l", l, least=1))
        object.__setattr__(self, "k", at_least_two("LKC-privacy", k))
        object.__setattr__(self, "c", share("LKC-privacy", "c", c))
        object.__setattr__(self, "value", valued("LKC-privacy", value))
        if self.l > len(names):
            raise RecipeError(
                "LKC-privacy",
                "l is at most the number of attributes in `on`",
                given=f"l={l}",
                remedy=f"give l={len(names)} or less",
            )
        if comb(len(names), self.l) > MOST_SUBSETS:
            raise RecipeError(
                "LKC-privacy",
                f"at most {MOST_SUBSETS} combinations of l attributes are counted",
                given="more",
                remedy="lower l, or name fewer",
            )

    def parts(self) -> tuple[Basic, ...]:
        """k-anonymity and a confidence bound on every l of the attributes."""
        some = list(combinations(self.on, self.l))
        return (
            *(KAnonymity(on, self.k) for on in some),
            *(ConfidenceBound(on, self.sensitive, self.c, self.value) for on in some),
        )

    def achieved(self, worst: Sequence[float]) -> dict[str, float]:
        """The smallest group and the highest share of any combination."""
        half = len(worst) // 2
        return {"k": int(min(worst[:half])), "c": figure(-min(worst[half:]))}

    def attacker(self) -> str:
        """Against whom."""
        return (
            f"knows any {self.l} of {said(self.on)} of a person in the table: finds at least {self.k} records, and is "
            f"never surer of {quoted(self.sensitive)} than {self.c}"
        )

    def sentence(self) -> str:
        """For people."""
        return (
            f"whoever knows any {self.l} of {said(self.on)} finds at least {self.k} records, of whom "
            f"{bounded(self.sensitive, self.c, self.value)}"
        )

    def __str__(self) -> str:
        return f"LKC-privacy ({self.l}, {self.k}, {self.c}) of {self.sensitive} on {{{', '.join(self.on)}}}"


def bounded(sensitive: str, most: float, value: Any) -> str:
    """The bound in words."""
    if value is None:
        return f"at most the share {most} have the same value of {quoted(sensitive)}"
    return f"at most the share {most} have {quoted(sensitive)} = {spoken(value)}"


def within_one(what: str, least: float) -> str:
    """A remedy that can be asked for: 1 is kept by every table, and is no bound."""
    bound = ceil(least * 1000) / 1000
    return f"ask for {what} of at least {bound}" if bound < 1 else "leave it out: nearly every record has the value"


def _most_frequent(counts: Ints) -> Floats:
    return np.asarray(-(counts.max(axis=1) / counts.sum(axis=1)), dtype=np.float64)
