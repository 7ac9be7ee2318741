"""The lines of README.md that turn a released table into points with pandas alone."""

from __future__ import annotations

from collections.abc import Collection

from sfumato.privacy.verify.fields import Form, field, forms
from sfumato.privacy.verify.letters import quoted
from sfumato.privacy.verify.texts.pages import escaped

READERS = {"table.csv": 'pd.read_csv("table.csv", dtype=str)', "table.parquet": 'pd.read_parquet("table.parquet")'}
ENDS = r"^\[?(.*?)(?:(?:\.\.|-(?!.*\.\.))(.*)[])].*)?$"
"""Both ends of an interval, parted by dots, or by a minus sign where no dots follow; of a number, the number alone."""
CENTRES = "centres.json"
CLASSES = "classes"
"""Where a certificate tells the column of the classes that were to survive."""
DATES = "For dates take `pd.to_datetime` in the place of `pd.to_numeric`.", "Dates are numbers of days."
"""Said of dates before format 5, and from then on."""
MOST = 40
"""Columns that are named; a table that has more is read by its recipient's own list."""
HEADING = "## Work with it in pandas alone\n"
WITH_SFUMATO = """With Sfumato, `sfumato.load(".")` gives numbers, intervals, groups, and points that are closer.
"""


def snippet(table: Form, files: Collection[str], *, classes: object = None, latest: bool = True) -> str:
    """The section: how a released table becomes points; nothing but pandas is needed.

    `classes`: the column that is to be learned from the others, which is none of the points. `latest`: from format 5
    on the lines turn dates into numbers of days, which was left to their reader before, and a set says `or missing`.

    >>> column = {"name": "age", "kind": "number", "masked": "extent", "role": "quasi"}
    >>> print(snippet({"file": "table.csv", "columns": [column]}, []).splitlines()[2])
        import pandas as pd
    """
    columns = [
        c
        for c in forms(table, "columns")
        if c.get("role") != "sensitive" and c.get("kind") != "item_set" and c.get("name") != classes
    ]
    if not columns or len(columns) > MOST:
        return ""
    read = READERS[field(table, "file", str)]
    sets = any(c.get("kind") == "item_set" for c in forms(table, "columns"))
    alone = _alone(read, columns, latest=latest)
    return (
        f"{HEADING}{alone if sets or CENTRES not in files else _spaced(read, latest=latest)}"
        f"{'' if classes is None else _to_be_learned(str(classes))}{WITH_SFUMATO}\n"
    )


def _spaced(read: str, *, latest: bool) -> str:
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


def _alone(read: str, columns: Collection[Form], *, latest: bool) -> str:
    """Without a space: numbers from 0 to 1 by what is shown, labels as shares of it."""
    numbers = _listed([field(c, "name", str) for c in columns if c.get("kind") == "number"])
    labels = _listed([field(c, "name", str) for c in columns if c.get("kind") != "number"])
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


def _to_be_learned(classes: str) -> str:
    kept = f"The masking was to keep the classes in {escaped(quoted(classes))}, which stand in no point: "
    return f"{kept}they are what is to be learned.\n"


def _listed(names: list[str]) -> str:
    return "[" + ", ".join(quoted(name) for name in names) + "]"
