"""The lines of README.md that turn a released table into points with pandas alone.

They place rows as `load` does: by what codebook.json tells of each group, in the space of centres.json where there is
one. `earlier_lines` has those of formats 4 and 5.
"""

from __future__ import annotations

from collections.abc import Collection

from sfumato.privacy.verify.fields import Form, field, forms
from sfumato.privacy.verify.letters import listed, quoted
from sfumato.privacy.verify.texts import earlier_lines
from sfumato.privacy.verify.texts.earlier_lines import CENTRES, ENDS, names_of
from sfumato.privacy.verify.texts.pages import escaped

READERS = {"table.csv": 'pd.read_csv("table.csv", dtype=str)', "table.parquet": 'pd.read_parquet("table.parquet")'}
CODEBOOK = "codebook.json"
CLASSES = "classes"
"""Where a certificate tells the column of the classes that were to survive."""
MOST = 40
"""Columns that are named; a table that has more is read by its recipient's own list."""
HEADING = "## Work with it in pandas alone\n"
WITH_SFUMATO = (
    """With Sfumato, `sfumato.load(".")` gives numbers, intervals, groups, and points that are closer.
""",
    """With Sfumato, `sfumato.load(".")` gives these points, and numbers, intervals and groups.
""",
)
"""Said up to format 5, and from then on."""


LOADED = 'sfumato.load(".")'
ALSO_GIVEN = {
    "k_map": 'population="PEOPLE"',
    "bcf_anonymity": 'others=["FOLDER"]',
    "joint_k_anonymity": 'others=["FOLDER"]',
}
"""What `load` is given beside the folder where a claim is about more than it holds, from format 7 on."""


def loaded(lines: str, claims: Collection[str]) -> str:
    """The section with the call of `load` that works: a claim about several releases is checked with the others.

    >>> loaded(LOADED, ["bcf_anonymity"])
    'sfumato.load(".", others=["FOLDER"])'
    """
    given = list(dict.fromkeys(also for claim, also in ALSO_GIVEN.items() if claim in claims))
    return lines.replace(LOADED, ", ".join([LOADED[:-1], *given]) + ")")


def snippet(
    table: Form, files: Collection[str], *, classes: object = None, dated: bool = True, told: bool = True
) -> str:
    """The section: how a released table becomes points; nothing but pandas is needed.

    `classes`: the column that is to be learned from the others, which is none of the points. `dated`: from format 5 on
    the lines turn dates into numbers of days, which was left to their reader before, and a set says `or missing`.
    `told`: from format 6 on they ask the codebook.

    >>> column = {"name": "age", "kind": "number", "masked": "extent", "role": "quasi"}
    >>> print(snippet({"file": "table.csv", "columns": [column]}, []).splitlines()[2])
        import csv, json, re, numpy as np, pandas as pd
    """
    columns = [
        c
        for c in forms(table, "columns")
        if c.get("role") != "sensitive" and c.get("kind") != "item_set" and c.get("name") != classes
    ]
    if not columns or len(columns) > MOST:
        return ""
    sets = any(c.get("kind") == "item_set" for c in forms(table, "columns"))
    spaced = CENTRES in files and not sets
    read = READERS[field(table, "file", str)]
    if told:
        lines = _head(table, files) + (_spaced(table) if spaced else _alone(columns))
    elif spaced:
        lines = earlier_lines.spaced(read, latest=dated)
    else:
        lines = earlier_lines.alone(read, columns, latest=dated)
    return f"{HEADING}{lines}{'' if classes is None else _to_be_learned(str(classes))}{WITH_SFUMATO[told]}\n"


def _head(table: Form, files: Collection[str]) -> str:
    """The table, what is told of its groups, and which of them each row is in."""
    book = f'json.load(open("{CODEBOOK}"))' if CODEBOOK in files else "{}"
    return f"""
    import csv, json, re, numpy as np, pandas as pd
    table, book = {READERS[field(table, "file", str)]}.astype("string"), {book}
{_RESTORED[1:] if table.get("spreadsheet_safe") else ""}\
    told, book = (book["columns"], {{}}) if isinstance(book.get("groups"), int) else ({{}}, book)
    group = table.groupby([*told], dropna=False).ngroup() if told else pd.Series(0, table.index)

    def different(c):  # what rows show, with the number of their group: each once, and which of these a row has
        which = pd.factorize(group if told.get(c) else table[c], use_na_sentinel=False)[0]
        first = ~pd.Series(which).duplicated()
        return which, [*zip(table[c].fillna("(missing)")[first], group[first])]

    def spread(shown, shares, known=()):  # the labels that a text stands for, each with its share
        found = None if shown in known else re.fullmatch(r"(?s){{(.*)}}( or missing)?", shown)
        every = next(csv.reader([found[1]], skipinitialspace=True)) if found else [shown]
        every += ["(missing)"] if found and found[2] else []
        shares = shares or {{shown: 1}}
        others, rest = [one for one in every if one not in shares] or every, shares.get(shown, 0)
        left = {{one: rest / len(others) for one in others if rest}}
        return {{one: share for one, share in shares.items() if one != shown}} | left
"""


_RESTORED = r"""
    bare = lambda texts: texts.str.replace(r"^'(?='*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])", "", regex=True)
    table = table.apply(bare).set_axis(bare(table.columns), axis=1)
"""
"""Without the apostrophes that keep spreadsheets from running a text."""


def _spaced(table: Form) -> str:
    """In the space that the release tells."""
    truth = ', "true": a["labels"].get("True"), "false": a["labels"].get("False")'
    return f"""
    def place(c, a, shown, at):  # a label by its shares, a number at its mean, else in the middle of its interval
        tells = told[c][at] if told.get(c) else None
        if "labels" in a:
            where = {{"(missing)": a["missing"]{truth if table.get("file") == "table.csv" else ""}, **a["labels"]}}
            return sum(share * np.array(where[one]) for one, share in spread(shown, tells, where).items())
        if shown == "(missing)":
            return [np.nan]  # a missing number stands at the mean of all others
        value = (lambda end: pd.Timestamp(end).timestamp()) if isinstance(a["low"], str) else float
        low, high = value(a["low"]), value(a["high"])
        first, last = (tells, None) if tells is not None else re.match(r"{ENDS}", shown).groups()
        ends = low if first == "*" else value(first), high if (last or first) == "*" else value(last or first)
        return [((ends[0] + ends[1]) / 2 - low) / ((high - low) or 1) * a["factor"]]

    def places(c, a):
        which, rows = different(c)
        return pd.DataFrame([place(c, a, *row) for row in rows]).loc[which].set_axis(table.index)

    space = json.load(open("{CENTRES}"))
    points = pd.concat([places(c, a) for c, a in space["attributes"].items()], axis=1, ignore_index=True)
    points = points.fillna(points.mean()).to_numpy(float)

`points` has a row for each row of the table: what k-means and most models want. scikit-learn's
`KMeans(len(space["centres"]), init=space["centres"], n_init=1).fit_predict(points)` finds the clusters.
"""


def _alone(columns: Collection[Form]) -> str:
    """Without a space: numbers from 0 to 1 by what is shown, labels as shares of it."""
    numbers, labels = (f"[{listed(names_of(columns, numbers=one))}]" for one in (True, False))
    return f"""
    def tells(c, shown, at):
        return told[c][at] if told.get(c) else book.get(c, {{}}).get(shown)

    def number(c):  # the mean that is told, else the middle of the interval
        which, rows = different(c)
        means = [one.get("mean") if isinstance(one, dict) else one for one in (tells(c, *row) for row in rows)]
        shown = pd.Series([row[0] for row in rows], dtype="string").replace("(missing)", pd.NA)
        ends = shown.str.extract(r"{ENDS}").assign(mean=pd.Series(means, dtype="object").astype("string"))
        ends[1] = ends[1].fillna(ends[0])
        if ends.stack().str.match(r"\\d{{4}}-\\d").any():
            days = ends.apply(pd.to_datetime, errors="coerce", format="ISO8601")
            ends = days.apply(lambda end: (end - pd.Timestamp(0)) / pd.Timedelta(days=1))
        ends = ends.apply(pd.to_numeric, errors="coerce").astype(float)
        low, high = ends.min().min(), ends.max().max()
        middle = ends["mean"].fillna((ends[0].fillna(low) + ends[1].fillna(high)) / 2).mask(shown.isna())
        found = ((middle - low) / ((high - low) or 1)).loc[which].set_axis(table.index)
        return found.fillna(found.mean()).rename(c)

    def label(c):  # the share of each label; what stands for anything is spread as all others are
        which, rows = different(c)
        shares = pd.DataFrame([spread(row[0], tells(c, *row)) for row in rows]).fillna(0)
        found = shares.drop(columns="*", errors="ignore").loc[which].set_axis(table.index)
        found[found.sum(axis=1) == 0] = found[found.sum(axis=1) > 0].mean().to_numpy()
        return found.add_prefix(f"{{c}}=") * 0.5**0.5

    points = pd.concat([*map(number, {numbers}), *map(label, {labels})], axis=1)

`points` has a row for each row of the table, numbers from 0 to 1, and two different labels are as far apart as the ends
of a number: what k-means and most models want. Dates are numbers of days.
"""


def _to_be_learned(classes: str) -> str:
    kept = f"The masking was to keep the classes in {escaped(quoted(classes))}, which stand in no point: "
    return f"{kept}they are what is to be learned.\n"
