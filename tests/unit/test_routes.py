"""Which group covers a raw row: by intervals, sets, stars and missing values, each text read once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.people import routes
from sfumato.people.routes import routed
from sfumato.structure.masked_positions import interval_ends

SHOWN: dict[str, list[str | None]] = {
    "age": ["[0-20)", "[20-40]", "*", None, "[50..*) or missing", "45"],
    "town": ["{Graz, Linz}", "Wien", "Wien", "Wien", "{Wien} or missing", "*"],
}


def asked(ages: list[Any], towns: list[Any], **more: Any) -> list[int]:
    columns = {"age": pa.array(ages), "town": pa.array(towns)}
    found: list[int] = routed(columns, SHOWN, numbers=["age"], suppressed=(), **more).tolist()
    return found


def test_a_row_goes_to_the_one_group_that_covers_it() -> None:
    assert asked([0, 20, 19], ["Graz", "Graz", "Linz"]) == [0, -1, 0], "20 is not below 20, and Graz is in no other"
    assert asked([45, 45], ["Linz", "Rom"]) == [5, 5]
    assert asked([60, 60, 50], ["Wien", None, None]) == [-1, 4, 4], "* and [50..*) both cover Wien at 60"
    assert asked([40, 41], ["Wien", "Wien"]) == [-1, 2]
    assert asked([None], [None]) == [4]


def test_a_label_that_ends_as_a_set_does_holds_nothing_missing() -> None:
    shown = {"town": ["Graz or missing", "{Linz} or missing", "{Rom} or missing"]}
    towns = pa.array(["Graz or missing", "Linz", "{Rom} or missing", None, "Graz", "Rom"])
    assert routed({"town": towns}, shown, numbers=(), suppressed=()).tolist() == [0, 1, 2, 1, -1, 2]


def test_every_shown_text_is_read_once_however_many_rows_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was read again for each raw value: twelve minutes for a table of twelve thousand rows."""
    calls, read = [], interval_ends
    monkeypatch.setattr(routes, "interval_ends", lambda *given: calls.append(given) or read(*given))  # type: ignore[func-returns-value]
    rows = np.arange(300) / 4
    assert len(asked(rows.tolist(), ["Rom"] * 300)) == 300
    assert len(calls) <= len(SHOWN["age"])
