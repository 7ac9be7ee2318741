"""The one form of a JSON file, written fast twice over, is what the standard library writes slowly."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.data.safe_files import written
from sfumato.privacy.verify.fields import _pieces

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | NUMBERS | st.text(max_size=5)
FORMS = st.recursive(PLAIN, lambda part: st.lists(part) | st.dictionaries(st.text(max_size=3), part), max_leaves=30)


@given(st.dictionaries(st.text(max_size=3), FORMS))
@example({"many": list(range(11_000)), "pairs": [[1, 2]] * 200})
def test_it_is_what_json_writes_with_an_indent_of_one(form: dict[str, object]) -> None:
    wanted = json.dumps(form, indent=1, ensure_ascii=False)
    assert written(form) == wanted
    assert "".join(_pieces(form, "\n")) == wanted


def test_a_list_that_stands_in_several_places_is_indented_by_where_it_stands() -> None:
    shared = [1, "two", None]
    form = {"a": shared, "b": {"c": [shared, [shared]], "d": shared}}
    assert written(form) == json.dumps(form, indent=1)
