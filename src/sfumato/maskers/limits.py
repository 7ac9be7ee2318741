"""Limits of what a masker's settings may ask for: a recipe may come from somebody else."""

from __future__ import annotations

from sfumato.errors import RecipeError

DAY = 86_400.0
"""Seconds: no search may be asked to last longer."""
SEED = 2**31 - 1
LARGE = 1e15
"""No distance, factor or spread is larger: beyond it numbers lose their last digits."""


def within(name: str, given: object, least: float, most: float, *, whole: bool = False) -> None:
    """Refuse what is no number from `least` to `most`.

    >>> within("seconds", 5, 0, DAY)
    >>> within("seconds", "1e9", 0, DAY)
    Traceback (most recent call last):
        ...
    sfumato.errors.RecipeError: seconds: it is a number from 0 to 86,400. Given: '1e9'. To mend it: leave it out.
    """
    kinds = int if whole else int | float
    if not isinstance(given, kinds) or isinstance(given, bool) or not least <= given <= most:
        raise RecipeError(name, f"it is a {'whole ' if whole else ''}number from {least:,g} to {most:,.10g}",
                          given="a larger one" if isinstance(given, int) and given > most else repr(given),
                          remedy="leave it out")  # fmt: skip
