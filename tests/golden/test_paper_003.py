"""Worked examples of 003: entropies and utilities of Examples 2 and 3, from its Table 1."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.maskers.histogram.domains import declared
from sfumato.maskers.histogram.records import records_of
from sfumato.maskers.histogram.specialization import State, Value, entropy, gain

PATIENTS = pa.table(
    {
        "age": [21, 44, 72, 25, 19, 36, 32, 45, 63, 28],
        "sex": ["M", "M", "F", "M", "F", "F", "M", "F", "M", "F"],
        "codes": [
            ["21"],
            ["11", "12"],
            ["12"],
            ["11"],
            ["11", "21"],
            ["21", "22"],
            ["12", "21", "22"],
            ["22"],
            ["12", "21"],
            ["11", "21", "22"],
        ],
    }
)
CLASSES = np.array([0, 0, 1, 0, 0, 1, 1, 1, 1, 1])
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(19, 75), integer=True),
    sex=sf.Category(role="quasi", values=("M", "F")),
    codes=sf.ItemSet(role="quasi", taxonomy=sf.Taxonomy.from_tree({"**": {"1*": ["11", "12"], "2*": ["21", "22"]}})),
)


def utility(name: str, shown: str) -> float:
    """Equation 4, with the children that the masker makes."""
    domains = declared(SCHEMA, bins=57, may_miss=())
    state = State(records_of(encode(PATIENTS, SCHEMA), domains), list(domains))
    children = state.children(Value(name, shown))
    return gain([np.bincount(CLASSES[children == child], minlength=2) for child in np.unique(children)])


def split_at(age: int) -> float:
    ages = np.array(PATIENTS["age"].to_pylist())
    return gain([np.bincount(CLASSES[half], minlength=2) for half in (ages < age, ages >= age)])


def test_entropies_of_example_2() -> None:
    assert entropy([4, 6]) == pytest.approx(0.9709, abs=1e-4)
    assert entropy([3, 2]) == pytest.approx(0.9709, abs=1e-4)
    assert entropy([1, 4]) == pytest.approx(0.7219, abs=1e-4)


def test_utilities_of_example_2() -> None:
    assert utility("sex", "*") == pytest.approx(0.1245, abs=1e-4)
    assert split_at(45) == pytest.approx(0.2812, abs=1e-4)


def test_a_set_is_specialized_into_combinations_of_children() -> None:
    """PAPERS.md, 003-14: the groups of ** are {1*}, {2*} and {1*, 2*}."""
    assert utility("codes", "**") == pytest.approx(0.0954, abs=1e-4)


def test_utility_of_example_3() -> None:
    assert entropy([3, 6]) == pytest.approx(0.9182, abs=1e-4)
    assert split_at(21) == pytest.approx(0.1445, abs=1e-4)
