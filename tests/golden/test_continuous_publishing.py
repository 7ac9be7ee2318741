"""Fung, Wang, Fu and Pei, "Anonymity for continuous data publishing": their lawyers of France and of the UK, by hand.

R1 is five people, R2 the same five and five newcomers; both are 5-anonymous on birthplace and job.

    R1  Europe  Lawyer        Flu x 3, Diabetes x 2
    R2  UK      Professional  Flu x 3, Diabetes x 2
    R2  France  Professional  Flu x 2, Diabetes x 3
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from sfumato.errors import ReleaseError
from sfumato.privacy.several import View, anonymity, cracked

ON = ("birthplace", "job")
PLACES = {"Europe": (1, 1), "UK": (1, 0), "France": (0, 1)}  # who may be born in the UK, in France
JOBS = {"Lawyer": (1, 0), "Professional": (1, 1)}  # who may be a lawyer, an engineer
FLU, DIABETES = 0, 1


def release(groups: Mapping[tuple[str, str], tuple[int, int]]) -> View:
    """Groups with their records by disease."""
    rows = [
        (place, job, disease)
        for (place, job), counts in groups.items()
        for disease, count in enumerate(counts)
        for _ in range(count)
    ]
    return View(
        {
            "birthplace": np.array([list(PLACES).index(row[0]) for row in rows]),
            "job": np.array([list(JOBS).index(row[1]) for row in rows]),
        },
        {"birthplace": np.array(list(PLACES.values())) > 0, "job": np.array(list(JOBS.values())) > 0},
        np.array([row[2] for row in rows]),
    )


R1 = release({("Europe", "Lawyer"): (3, 2)})
R2 = release({("UK", "Professional"): (3, 2), ("France", "Professional"): (2, 3)})


def test_the_three_attacks_crack_one_record_each() -> None:
    """Each release alone has groups of 5. What is left:

    Forward, Alice of France in R1 and R2: Flu 3 - min(3, 2) = 1 cracked, Diabetes 2 - min(2, 3) = 0: 5 - 1 = 4.
      (With the UK: Flu 3 - min(3, 3) = 0, Diabetes 2 - min(2, 2) = 0: 5.)
    Cross, Alice's record in R2: Flu 2 - min(3, 2) = 0, Diabetes 3 - min(2, 3) = 1 cracked: 5 - 1 = 4.
    Backward, a newcomer of the UK: Flu G1 = 3, G2 = 3 + 2, so 3 - (5 - 3) = 1 cracked; Diabetes G1 = 2, G2 = 2 + 3,
      so max(0, 2 - (5 - 2)) = 0: 5 - 1 = 4. A newcomer of France: Flu 3 - (5 - 2) = 0, Diabetes 2 - (5 - 3) = 0: 5.
    """
    found = cracked(R1, R2, ON)
    assert (found.forward, found.cross, found.backward) == (4, 4, 4)
    assert found.anonymity == 4


def test_all_worlds_leave_the_same_here() -> None:
    """One group in R1: a pair of groups has no other group to compete with, so looking at pairs is exact."""
    assert anonymity([R1, R2], ON) == 4


def test_pairs_of_groups_are_not_enough_in_general() -> None:
    """R1 has all lawyers together, engineers apart; R2 has the lawyers of the UK apart, the rest together.

        R1  lawyers    6        R2  lawyers of the UK  5
            engineers  4            others             5

    Pairs: lawyers and lawyers of the UK min(6, 5) = 5, lawyers and others 5, engineers and others 4: so 4 are left.
    But nobody is new, and only lawyers can be the 5 in the UK: among the others there is 1 lawyer.
    """
    uk, france, engineer = np.eye(3, dtype=bool)
    nothing = np.zeros(10, dtype=np.int64)
    first = View({"kind": np.repeat([0, 1], [6, 4])}, {"kind": np.array([uk | france, engineer])}, nothing)
    later = View({"kind": np.repeat([0, 1], [5, 5])}, {"kind": np.array([uk, france | engineer])}, nothing)
    assert cracked(first, later, ["kind"]).anonymity == 4
    assert anonymity([first, later], ["kind"]) == 1


def test_releases_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ReleaseError, match="fewer records"):
        anonymity([R2, R1], ON)
    elsewhere = release({("UK", "Professional"): (2, 3), ("France", "Professional"): (2, 3)})
    with pytest.raises(ReleaseError, match="cannot all hold"):
        anonymity([release({("UK", "Lawyer"): (3, 2)}), elsewhere], ON)
