"""The lines of README.md as formats 4 and 5 have them: what is placed by the texts of the table alone."""

from __future__ import annotations

from collections.abc import Collection

from sfumato.privacy.verify.fields import Form, field
from sfumato.privacy.verify.letters import listed

ENDS = r"^\[?(.*?)(?:(?:\.\.|-(?!.*\.\.))(.*)[])].*)?$"
"""Both ends of an interval, parted by dots, or by a minus sign where no dots follow; of a number, the number alone."""
CENTRES = "centres.json"
DATES = "For dates take `pd.to_datetime` in the place of `pd.to_numeric`.", "Dates are numbers of days."
"""Said of dates before format 5, and in it."""


def spaced(read: str, *, latest: bool) -> str:
    """In the space that the release tells: intervals at their middles, sets in the middle of their labels."""
    known = '[t] if t in a["labels"] else t'
    split = '.replace("} or missing", ", ").strip("{}").split(", ")' if latest else '.strip("{}").split(", ")'
    return f"""
    import json, pandas as pd
    table, space = {read}.astype("string"), json.load(open("{CENTRES}"))

    def number(shown, a):
        read = pd.to_datetime if isinstance(a["low"], str) else pd.to_numeric
        ends = shown.str.extract(r"{ENDS}").apply(read, errors="coerce")
        return ((ends - read(a["low"])) / (read(a["high"]) - read(a["low"]))).mean(axis=1).to_frame() * a["factor"]

    def label(shown, a):
        places = pd.DataFrame({{"": a["missing"], **a["labels"]}}).T
        each = shown.fillna("").map(lambda t: {known}{split}).explode()
        return places.reindex(each).set_axis(each.index).groupby(level=0).mean()

    parts = [(label if "labels" in a else number)(table[c], a) for c, a in space["attributes"].items()]
    points = pd.concat(parts, axis=1).pipe(lambda found: found.fillna(found.mean())).to_numpy(float)

`points` has a row for each row of the table: what k-means and most models want. scikit-learn's
`KMeans(len(space["centres"]), init=space["centres"], n_init=1).fit_predict(points)` finds the clusters.
"""


def alone(read: str, columns: Collection[Form], *, latest: bool) -> str:
    """Without a space: numbers from 0 to 1 by what is shown, labels as shares of it."""
    numbers = f"[{listed(names_of(columns, numbers=True))}]"
    labels = f"[{listed(names_of(columns, numbers=False))}]"
    return f"""
    import pandas as pd
    table = {read}.astype("string")
{(_middles_of_dates if latest else _middles)(numbers)}\
    scaled = ((middles - middles.min()) / (middles.max() - middles.min())).fillna(0.5)
{(_sets if latest else _braces)(labels)}\
    shares = [part.div(part.sum(axis=1).clip(1), axis=0) * 0.5**0.5 for part in shares]
    points = pd.concat([scaled, *shares], axis=1).astype(float)

`points` has a row for each row of the table, numbers from 0 to 1, and two different labels are as far apart as the ends
of a number: what k-means and most models want. {DATES[latest]}
"""


def _middles_of_dates(numbers: str) -> str:
    return f"""
    def middle(shown):
        ends = shown.str.extract(r"{ENDS}")
        if ends.stack().str.match(r"\\d{{4}}-\\d").any():
            days = ends.apply(pd.to_datetime, errors="coerce", format="ISO8601")
            ends = days.apply(lambda end: (end - pd.Timestamp(0)) / pd.Timedelta(days=1))
        return ends.apply(pd.to_numeric, errors="coerce").mean(axis=1)

    middles = pd.DataFrame({{c: middle(table[c]) for c in {numbers}}}, table.index)
"""


def _sets(labels: str) -> str:
    """Missing values among others count for nothing."""
    return f"""\
    labels = [table[c].fillna("").str.replace("}} or missing", "").str.strip("{{}}") for c in {labels}]
    shares = [part.str.get_dummies(", ") for part in labels]
"""


def _braces(labels: str) -> str:
    """As formats before 5 have it."""
    return f"""\
    shares = [table[c].fillna("").str.strip("{{}}").str.get_dummies(", ") for c in {labels}]
"""


def _middles(numbers: str) -> str:
    """As formats before 5 have it."""
    return f"""\
    ends = {{c: table[c].str.extract(r"{ENDS}") for c in {numbers}}}
    middles = pd.DataFrame({{c: ends[c].apply(pd.to_numeric, errors="coerce").mean(axis=1) for c in ends}}, table.index)
"""


def names_of(columns: Collection[Form], *, numbers: bool) -> list[str]:
    """The names of the columns of numbers, or of all others."""
    return [field(c, "name", str) for c in columns if (c.get("kind") == "number") == numbers]
