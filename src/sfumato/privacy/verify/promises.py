"""What a certificate says in words besides its claims: made by fixed rules from its settings, and from nothing else.

Whoever publishes writes what these functions give, and verify demands the same letters: there is no place for words of
one's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from sfumato.privacy.verify.differential import GUARANTEE, NOT_PRIVATE, UNIT
from sfumato.privacy.verify.wording import listed

NOTHING = "none"
GROUNDS = "Recounted from the written file by code that shares nothing with the masker (sfumato verify)."
GROUNDS_OF_NOISE = (
    "Differential privacy is a property of how the table was made and cannot be recounted from it. verify checks that "
    "the recorded uses of the data add up to epsilon exactly, that every value lies in its declared domain and that "
    "the file holds nothing else; that the recorded uses are all there were rests on the program that made it."
)
NOTHING_CLAIMED = (
    "Nothing is claimed of this table: its numbers were transformed in a way that can be undone by whoever knows a few "
    "of its records. It is not anonymised."
)
NO_GUARANTEE = (
    "No k, l or epsilon holds. The transformation hides values from a glance and from nobody who tries; use it only "
    "under contract with a partner you trust."
)
OTHERS = (
    "Nothing is claimed against somebody who knows other attributes of a person than those listed, or who knows the "
    "records of others in the table."
)
SHARED = "A value of {} that all records of a group share is not hidden by the size of the group."
SEVERAL = "It does not hold across several releases of the same people."
OTHER_RELEASES = "It does not hold across other releases of the same people than those that are named."
BEYOND_EPSILON = (
    "What is true of people in general may be learned from the table, and with it something about a person whose "
    "record was not used at all.",
    "A person with several records is protected for each record; of all of them together epsilon grows in proportion.",
    "Other releases of the same people cost their own epsilon, which adds up.",
    "Choosing this release after comparing others with the raw data is not covered by epsilon.",
)


def grounds(guarantee: str) -> str:
    """Why to believe what is claimed."""
    return GROUNDS_OF_NOISE if guarantee == GUARANTEE else GROUNDS


def not_claimed(guarantee: str, *, bare: Sequence[str], beside: bool) -> tuple[str, ...]:
    """What nobody may conclude. `bare`: sensitive columns that no claim bounds; `beside`: earlier releases are named.

    >>> not_claimed("k_anonymity", bare=["disease"], beside=False)[1]
    'A value of "disease" that all records of a group share is not hidden by the size of the group.'
    """
    if guarantee == GUARANTEE:
        return BEYOND_EPSILON
    if guarantee == NOTHING:
        return (NO_GUARANTEE,)
    return (OTHERS, *([SHARED.format(listed(bare))] if bare else []), OTHER_RELEASES if beside else SEVERAL)


def private_statement(epsilon: Fraction, *, private: bool) -> str:
    """What differential privacy promises, in a paragraph a lawyer can read; noise that repeats is named first."""
    text = (
        f"The rows of this table are not records of people: they were generated from counts to which random noise "
        f"was added, and from nothing else. The way they were made is differentially private with epsilon = "
        f"{epsilon}; the unit of privacy is {UNIT}. Whatever anybody could conclude about a person from this "
        f"table, or do to a person because of it, would have been almost as likely had that person's record not "
        f"been used: its probability differs by a factor of at most {odds(float(epsilon))}. That holds whatever else "
        f"is known about the person, now or later, and whatever is done with the table."
    )
    if private:
        return text
    return f"{NOT_PRIVATE}: the noise repeats from a seed, so nothing is promised. Otherwise it would read: {text}"


def odds(epsilon: float) -> str:
    """e to the epsilon with three digits, rounded up.

    >>> odds(1.0), odds(0.1)
    ('2.72', '1.11')
    """
    if epsilon > 50:
        return "more than anybody would call a limit"
    factor = math.exp(epsilon)
    unit = 10.0 ** (math.floor(math.log10(factor)) - 2)
    return f"{math.ceil(factor / unit) * unit:.3g}"
