"""Forgeries of partition.json, and of what a partitioned table shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.corruptions import read_rows, write_rows
from tests.forgeries import forgery
from tests.forgeries.explanations import RAW, Form, change, first, put, reversed_keys
from tests.releases import LABELS

FILE, TREE = "partition.json", "taxonomies/education.json"


def _column(folder: Path, name: str, how: Callable[[Form], object]) -> None:
    change(folder, FILE, lambda form: how(form["attributes"][name]))


def _entries(folder: Path, name: str, how: Callable[[list[Any]], object]) -> None:
    _column(folder, name, lambda axis: how(axis["shown"]))


def _inner(entries: list[Any]) -> list[Any]:
    """The first interval with two ends."""
    found: list[Any] = next(entry for entry in entries if None not in entry)
    return found


def _shown(folder: Path, name: str, text: str | None, instead: Callable[[str | None], str | None]) -> None:
    """Change what the rows show; of a text, or of every one."""
    rows = read_rows(folder)
    for row in rows:
        if text is None or row[name] == text:
            row[name] = instead(row[name])
    write_rows(folder, rows, list(rows[0]))


@forgery("an interval that no row shows", of="partition")
def nobodys_interval(folder: Path) -> None:
    _entries(folder, "age", lambda shown: shown.insert(len(shown) - 1, [80.5, 83.5]))


@forgery("raw values as further entries", of="partition")
def further_entries(folder: Path) -> None:
    _entries(folder, "country", lambda shown: shown.extend([["Ada, 36, PhD"], ["zz"]]))


@forgery("raw rows as an entry", of="partition")
def raw_entry(folder: Path) -> None:
    _entries(folder, "age", lambda shown: shown.append(RAW))


@forgery("an entry that is missing", of="partition")
def lost_entry(folder: Path) -> None:
    _entries(folder, "age", lambda shown: shown.pop())


@forgery("an entry that stands twice", of="partition")
def entry_twice(folder: Path) -> None:
    _entries(folder, "country", lambda shown: shown.insert(0, shown[0]))


@forgery("entries in another order", of="partition")
def entry_order(folder: Path) -> None:
    _entries(folder, "age", lambda shown: shown.reverse())


@forgery("an interval whose ends are reversed", of="partition")
def reversed_ends(folder: Path) -> None:
    _entries(folder, "age", lambda shown: _inner(shown).reverse())


@forgery("an interval outside the range", of="partition")
def outside(folder: Path) -> None:
    _entries(folder, "age", lambda shown: _inner(shown).__setitem__(1, 90.5))


@forgery("an interval outside the range, as it is shown", of="partition")
def outside_shown(folder: Path) -> None:
    def other(axis: Form) -> None:
        axis["shown"][-1] = [axis["shown"][-1][0], 136]

    _column(folder, "age", other)
    rows = read_rows(folder)
    last = max(row["age"] for row in rows)
    _shown(folder, "age", last, lambda text: str(text).replace("-90]", "-136)"))


@forgery("an end of an interval with digits that say something", of="partition")
def digits(folder: Path) -> None:
    _entries(folder, "age", lambda shown: _inner(shown).__setitem__(0, _inner(shown)[0] + 0.0036))


@forgery("a whole end of an interval with a point", of="partition")
def point(folder: Path) -> None:
    def other(shown: list[Any]) -> None:
        entry = next(one for one in shown if any(isinstance(end, int) for end in one))
        entry[:] = [float(end) if isinstance(end, int) else end for end in entry]

    _entries(folder, "age", other)


@forgery("a range of a column of extents with a point", of="partition")
def range_point(folder: Path) -> None:
    _column(folder, "age", lambda axis: axis.update(range=[17.0, 90]))


@forgery("another range than the intervals show", of="partition")
def other_range(folder: Path) -> None:
    _column(folder, "age", lambda axis: axis.update(range=[16, 90]))


@forgery("a range to which no interval reaches", of="partition")
def idle_range(folder: Path) -> None:
    """Every interval that reaches to an end of the range is shown to end before it: the range may be anything."""

    def other(axis: Form) -> None:
        axis["shown"] = [[17 if low is None else low, 90 if high is None else high] for low, high in axis["shown"]]
        axis["shown"].sort(key=lambda entry: f"[{entry[0]}-{entry[1]})")
        axis["range"] = [3.6, 1990.53]

    _column(folder, "age", other)
    _shown(folder, "age", None, lambda text: str(text).replace("-90]", "-90)"))


@forgery("labels of an entry in another order", of="partition")
def labels_reversed(folder: Path) -> None:
    _entries(folder, "education", lambda shown: next(one for one in shown if len(one) > 1).reverse())


@forgery("a number as a label", of="partition")
def number_as_label(folder: Path) -> None:
    _entries(folder, "education", lambda shown: shown[0].append(36))


@forgery("an entry that is no list", of="partition")
def no_list(folder: Path) -> None:
    _entries(folder, "education", lambda shown: shown.__setitem__(0, shown[0][0]))


@forgery("an entry without labels", of="partition")
def no_labels(folder: Path) -> None:
    _entries(folder, "country", lambda shown: shown.append([None]))


@forgery("a star as an entry of labels", of="partition")
def star(folder: Path) -> None:
    _entries(folder, "country", lambda shown: shown.insert(0, ["*"]))


@forgery("anything as an entry of numbers", of="partition")
def anything(folder: Path) -> None:
    _entries(folder, "age", lambda shown: shown.append([None, None, None]))


@forgery("a text that is not told", of="partition")
def not_told(folder: Path) -> None:
    rows = read_rows(folder)
    _shown(folder, "age", rows[0]["age"], lambda text: "[36-37)")


@forgery("missing ones among those that show an interval, where it is not told", of="partition")
def missing_shown(folder: Path) -> None:
    rows = read_rows(folder)
    _shown(folder, "age", rows[0]["age"], lambda text: f"{text} or missing")


@forgery("raw rows beside the extents", of="partition")
def beside_extents(folder: Path) -> None:
    change(folder, FILE, lambda form: form.update(people=[RAW]))


@forgery("raw rows beside the columns of extents", of="partition")
def beside_columns(folder: Path) -> None:
    change(folder, FILE, lambda form: form["attributes"].update(disease={"kind": "labels", "shown": [["flu"]]}))


@forgery("raw rows inside a column of extents", of="partition")
def inside_extents(folder: Path) -> None:
    change(folder, FILE, lambda form: first(form["attributes"]).update(people=[RAW]))


@forgery("raw rows inside a column of sets of labels", of="partition")
def inside_sets(folder: Path) -> None:
    _column(folder, "country", lambda axis: axis.update(people=[RAW]))


@forgery("a calendar of numbers", of="partition")
def calendar_of_numbers(folder: Path) -> None:
    _column(
        folder, "age", lambda axis: put(axis, {"kind": "number", "range": axis["range"], "calendar": "year"} | axis)
    )


@forgery("columns of extents in another order", of="partition")
def column_order(folder: Path) -> None:
    change(folder, FILE, lambda form: form.update(attributes=reversed_keys(form["attributes"])))


@forgery("the keys of a column of extents in another order", of="partition")
def axis_order(folder: Path) -> None:
    _column(folder, "country", lambda axis: put(axis, reversed_keys(axis)))


@forgery("a column of extents of another kind", of="partition")
def other_kind(folder: Path) -> None:
    _column(folder, "country", lambda axis: axis.update(kind="number"))


# Labels of a taxonomy.


def _tree(folder: Path, how: Callable[[list[Any]], object]) -> None:
    """Change what stands below the root."""
    change(folder, TREE, lambda tree: how(tree["below"]))


def _university(below: list[Any]) -> Form:
    found: Form = next(part for part in below if isinstance(part, dict) and part["label"] == "University")
    return found


@forgery("a raw row as a label of a taxonomy of extents", of=LABELS)
def raw_label(folder: Path) -> None:
    _tree(folder, lambda below: below.append("Zoe, 36, PhD"))


@forgery("a label of a taxonomy of extents below one that is shown, which nobody tells of", of=LABELS)
def label_below(folder: Path) -> None:
    _tree(folder, lambda below: _university(below)["below"].append("Zoe, 36, PhD"))


@forgery("a name where a taxonomy of extents has none", of=LABELS)
def label_named(folder: Path) -> None:
    _tree(folder, lambda below: _university(below)["below"][1].update(label="Graduate"))


@forgery("a name of the root of a taxonomy of extents", of=LABELS)
def root_named(folder: Path) -> None:
    change(folder, TREE, lambda tree: tree.update(label="ANY"))


@forgery("a shown label as the root of a taxonomy of extents", of=LABELS)
def shown_root(folder: Path) -> None:
    def other(tree: Form) -> None:
        university = _university(tree["below"])
        tree["below"] = [*university["below"], *(part for part in tree["below"] if part is not university)]
        tree["label"] = "University"

    change(folder, TREE, other)


@forgery("a label that is shown, and that a taxonomy of extents does not have", of=LABELS)
def label_lost(folder: Path) -> None:
    _tree(folder, lambda below: _university(below)["below"].pop(0))


@forgery("a label that a taxonomy of extents has twice", of=LABELS)
def label_twice(folder: Path) -> None:
    _tree(folder, lambda below: below.append("PhD"))


@forgery("labels of a taxonomy of extents in another order", of=LABELS)
def tree_order(folder: Path) -> None:
    _tree(folder, lambda below: below.reverse())


@forgery("a label without a name above a single one in a taxonomy of extents", of=LABELS)
def idle_join(folder: Path) -> None:
    def other(below: list[Any]) -> None:
        below[0] = {"label": None, "below": [below[0]]}

    _tree(folder, other)


@forgery("raw rows inside a taxonomy of extents", of=LABELS)
def inside_tree(folder: Path) -> None:
    change(folder, TREE, lambda tree: tree.update(people=[RAW]))


@forgery("a taxonomy of extents that is missing", of=LABELS)
def tree_gone(folder: Path) -> None:
    (folder / TREE).unlink()


@forgery("a taxonomy of a column of extents that shows none of it", of=LABELS)
def further_tree(folder: Path) -> None:
    (folder / "taxonomies" / "country.json").write_text(
        '{\n "label": null,\n "below": [\n  "Chile",\n  "Mexico"\n ]\n}\n', encoding="utf-8"
    )


@forgery("a column of extents with a taxonomy that says it has none", of=LABELS)
def other_labels(folder: Path) -> None:
    _column(folder, "education", lambda axis: axis.update(kind="labels"))


@forgery("two labels as an entry of a column with a taxonomy", of=LABELS)
def two_labels(folder: Path) -> None:
    _entries(folder, "education", lambda shown: shown.append(["University", "Zoe"]))


@forgery("a missing value in an entry of a column with a taxonomy", of=LABELS)
def missing_label(folder: Path) -> None:
    _entries(folder, "education", lambda shown: shown[-1].append(None))


@forgery("a star as an entry of a column with a taxonomy", of=LABELS)
def star_of_tree(folder: Path) -> None:
    _entries(folder, "education", lambda shown: shown.insert(0, ["*"]))


@forgery("raw rows inside a column with a taxonomy", of=LABELS)
def inside_column(folder: Path) -> None:
    _column(folder, "education", lambda axis: axis.update(people=[RAW]))


@forgery("a label of a taxonomy of extents that is shown, and not told", of=LABELS)
def label_not_told(folder: Path) -> None:
    _shown(folder, "education", "University", lambda text: "Graduate")


@forgery("groups that show labels of a taxonomy, and are said to have nothing in common", of=LABELS)
def said_apart(folder: Path) -> None:
    change(folder, FILE, lambda form: form.pop("apart"))


@forgery("shares of labels that do not stand below the shown one", of=LABELS)
def shares_elsewhere(folder: Path) -> None:
    def other(form: Form) -> None:
        told = next(entry for entry in form["columns"]["education"] if entry and "University" in entry)
        share = next(iter(told.values()))
        put(told, {"10th": share, "University": round(1 - share, 4)})

    change(folder, "codebook.json", other)
