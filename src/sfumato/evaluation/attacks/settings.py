"""How attacks are tried: how hard, and with what further tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How hard to try: how many known records at most, how many trials each, from which seed.

    `people`: how many are attacked by singling out, linkability and inference.
    """

    known: int = 20
    trials: int = 40
    seed: int = 0
    people: int = 1_000


@dataclass(frozen=True, eq=False)
class Others:
    """Further tables of people, as `publish` takes them, each a path or a data frame.

    `control`: people of the same kind who are not in the released table: what is guessed of them is no fault of the
    release. `population`: everybody among whom the people of the table would have to be found, themselves included.
    """

    control: object | None = None
    population: object | None = None
