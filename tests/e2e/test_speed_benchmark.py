"""The benchmark of whole processes runs, on small tables; how fast they are is not asked."""

from __future__ import annotations

import pytest
from benchmarks import speed


@pytest.mark.slow
def test_the_quick_form_prints_a_line_for_each_process(capsys: pytest.CaptureFixture[str]) -> None:
    speed.main(["--quick", "--only", "start", "census"])
    told = capsys.readouterr().out
    assert "| sfumato --help |" in told
    assert "| 3,000 x 9, clusters, no reports |" in told


def test_larger_tables_are_drawn_from_adult_and_stay_within_its_ranges() -> None:
    table = speed.people(3_000, speed.NINE)
    assert table.num_rows == 3_000
    for name, (low, high) in speed.MOVED.items():
        numbers = table[name].to_numpy()
        assert low <= numbers.min()
        assert numbers.max() <= high
