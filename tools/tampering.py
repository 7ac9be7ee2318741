"""Damages releases at random and counts what verify says: the table of docs/verify.md.

python -m tools.tampering 120    # corruptions of each of fourteen releases
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.corruptions import FAMILIES
from tests.outcomes import KINDS, outcome_of


def main(count: int) -> None:
    """One line for each family of damage, with and without a forger."""
    found = [outcome_of(kind, seed) for kind in KINDS for seed in range(count)]
    tally = Counter((one.family, one.forged, one.holds, one.harmless) for one in found)
    print("| damage | hashes | corruptions | caught | change nothing that is claimed | missed |")
    print("|---|---|---|---|---|---|")
    for family in FAMILIES:
        for forged in (False, True):
            caught, harmless, missed = (
                tally[family, forged, *end] for end in ((False, False), (True, True), (True, False))
            )
            total, fit = caught + harmless + missed, "made to fit" if forged else "as they were"
            print(f"| {family} | {fit} | {total} | {caught} | {harmless} | {missed} |")
    for one in found:
        if one.holds and not one.harmless:
            print(one)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 25)
