"""People alone with their values: counted from codes as from cells, with few combinations and with too many."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.alone import share_alone_coded
from sfumato.data.drafting.profile import share_alone


@pytest.mark.parametrize(("radix", "columns"), [(3, 2), (7, 4), (5000, 9)])
def test_it_is_what_the_draft_counts(radix: int, columns: int) -> None:
    chance = np.random.default_rng(radix)
    codes = [chance.integers(0, radix, 400) for _ in range(columns)]
    codes = [np.concatenate([one, one[:150]]) for one in codes]  # some have a double
    table = pa.table({f"c{at}": one for at, one in enumerate(codes)})
    assert share_alone_coded(codes) == share_alone(table, table.column_names)


def test_nobody_is_alone_with_nothing() -> None:
    assert share_alone_coded([]) == 0.0
