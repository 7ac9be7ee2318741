"""Bins of dates: whatever the range, the unit and the number of bins, they cover it once, and verify knows them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import get_args

import numpy as np
import polars as pl
import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data import calendar
from sfumato.data.encoding import encode
from sfumato.data.schema import Calendar
from sfumato.maskers.histogram.dates import declared_units
from sfumato.maskers.histogram.domains import NumberDomain, declared
from sfumato.maskers.histogram.marginals import column_of, numbers_in
from sfumato.maskers.histogram.mask import domain_form
from sfumato.maskers.histogram.records import records_of
from sfumato.privacy.verify.private.dates import range_of, shown_dates, shown_intervals

UNITS = st.sampled_from(get_args(Calendar))
MOMENTS = st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1))


@given(moment=MOMENTS, unit=UNITS)
def test_a_unit_is_found_by_its_number(moment: datetime, unit: Calendar) -> None:
    at = np.array([calendar.parse(moment.isoformat())])
    number = calendar.unit_numbers(at, unit)
    start, after = calendar.unit_starts(number, unit), calendar.unit_starts(number + 1, unit)
    assert start[0] <= at[0] < after[0] == calendar.following(int(at[0]), unit)
    assert calendar.unit_numbers(start, unit) == number == calendar.unit_numbers(after - 1, unit)


@given(low=MOMENTS, days=st.integers(0, 60_000), unit=UNITS, bins=st.integers(2, 256), missing=st.booleans())
def test_bins_cover_the_range_and_rows_lie_where_verify_looks(
    low: datetime, days: int, unit: Calendar, bins: int, missing: bool
) -> None:
    ends = (low.date().isoformat(), (low + timedelta(days=days)).date().isoformat())
    assume(ends[0] < ends[1])
    attribute = sf.Number(role="quasi", calendar=unit, range=ends)
    units = declared_units(attribute)
    assume(units is not None and units[0] < units[1])
    found = declared(sf.Schema(a=attribute), bins=bins, may_miss=("a",) if missing else ())["a"]
    assert isinstance(found, NumberDomain)
    edges = found.edges
    assert (np.diff(edges) >= 1).all()
    assert (edges[0], edges[-1]) == (found.low, found.high + 1)
    assert len(edges) - 1 == min(bins, found.high + 1 - found.low)
    check_rows(found, attribute)


def check_rows(domain: NumberDomain, attribute: sf.Number) -> None:
    """Rows drawn from every bin are read into the same bin, and verify finds them, and every interval, in the range."""
    cells = np.arange(domain.size)
    rows = column_of(domain, [numbers_in(domain, cells, np.random.default_rng(0))])
    told = domain_form(domain, "values")
    range_of(told, "a")
    assert shown_dates(pl.Series("a", rows).drop_nulls(), told)
    wide = sf.Schema(a=sf.Number(role="quasi", calendar=attribute.calendar))
    again = records_of(encode(pa.table({"a": rows}), wide), {"a": domain})
    assert again.cells["a"].tolist() == cells.tolist()
    last = len(domain.edges) - 1
    labels = [domain.label(first, end) for first, end in ((0, last), (0, 1), (last - 1, last))]
    assert shown_intervals(pl.Series("a", labels), domain_form(domain, "generalized"))
