"""Forgeries of what explains the table: JSON files that say more than the table shows, or say it otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.forgeries import forgery

Form = dict[str, Any]
RAW = ["Ada", 36, "PhD", "Peru", "rash"]
"""A raw row that somebody would like to take along."""


def change(folder: Path, file: str, how: Callable[[Form], object]) -> None:
    """Change a JSON file and write it in the form that it should have."""
    path = folder / file
    form = json.loads(path.read_text(encoding="utf-8"))
    how(form)
    path.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def rewrite(folder: Path, file: str, how: Callable[[str], str]) -> None:
    """Change the text of a JSON file, not what it says."""
    path = folder / file
    path.write_text(how(path.read_text(encoding="utf-8")), encoding="utf-8")


def first(form: Form) -> Any:
    """The first value of a mapping."""
    return next(iter(form.values()))


def reversed_keys(form: Form) -> Form:
    return dict(reversed(form.items()))


def put(form: Form, content: Form) -> None:
    form.clear()
    form.update(content)


# The same content in another spelling: each space, escape or digit is a bit.


@forgery("JSON with spaces that say nothing")
def spaces(folder: Path) -> None:
    rewrite(folder, "recoding.json", lambda text: text.replace('": ', '":  ', 1))


@forgery("JSON on one line")
def compact(folder: Path) -> None:
    rewrite(folder, "codebook.json", lambda text: json.dumps(json.loads(text)))


@forgery("JSON with blank lines at its end")
def blank_lines(folder: Path) -> None:
    rewrite(folder, "centres.json", lambda text: text + "\n\n")


@forgery("JSON with carriage returns")
def carriage_returns(folder: Path) -> None:
    rewrite(folder, "recoding.json", lambda text: text.replace("\n", "\r\n"))


@forgery("JSON with letters as escapes")
def escapes(folder: Path) -> None:
    rewrite(folder, "taxonomies/education.json", lambda text: text.replace("Masters", "\\u004dasters"))


@forgery("JSON with a number in another spelling")
def spelling(folder: Path) -> None:
    rewrite(folder, "codebook.json", lambda text: re.sub(r'"mean": (\d)(\d)\.(\d+)', r'"mean": \1.\2\3e1', text))


@forgery("JSON with a number that ends in zeros")
def zeros(folder: Path) -> None:
    rewrite(folder, "centres.json", lambda text: text.replace("0.0", "0.00", 1))


@forgery("JSON with a zero that has a sign")
def signed_zero(folder: Path) -> None:
    rewrite(folder, "centres.json", lambda text: text.replace(" 0.0", " -0.0", 1))


@forgery("JSON with a byte order mark")
def byte_order_mark(folder: Path) -> None:
    rewrite(folder, "recoding.json", lambda text: "\ufeff" + text)


@forgery("JSON with a key that stands twice")
def twice(folder: Path) -> None:
    rewrite(folder, "recoding.json", lambda text: text.replace("{", '{\n "attributes": {},', 1))


@forgery("JSON nested very deep")
def deep(folder: Path) -> None:
    (folder / "codebook.json").write_text("[" * 3000 + "]" * 3000, encoding="utf-8")


@forgery("JSON with a number of 5,001 digits")
def long_number(folder: Path) -> None:
    rewrite(folder, "centres.json", lambda text: text.replace("0.0", "1" * 5001, 1))


@forgery("JSON with half a character")
def surrogate(folder: Path) -> None:
    rewrite(folder, "codebook.json", lambda text: text.replace('"mean"', '"\\ud800"', 1))


# recoding.json and the trees.


@forgery("raw rows beside the rules")
def beside_rules(folder: Path) -> None:
    change(folder, "recoding.json", lambda form: form.update(people=[RAW]))


@forgery("raw rows inside a rule")
def inside_rule(folder: Path) -> None:
    change(folder, "recoding.json", lambda form: first(form["attributes"]).update(people=[RAW]))


@forgery("a lifted flag that says no")
def not_lifted(folder: Path) -> None:
    change(folder, "recoding.json", lambda form: form.update(lifted=False))


@forgery("rules in another order")
def rule_order(folder: Path) -> None:
    change(folder, "recoding.json", lambda form: form.update(attributes=reversed_keys(form["attributes"])))


@forgery("the keys of a rule in another order")
def key_order(folder: Path) -> None:
    change(
        folder, "recoding.json", lambda form: put(first(form["attributes"]), reversed_keys(first(form["attributes"])))
    )


@forgery("the labels of a cut in another order")
def cut_order(folder: Path) -> None:
    change(folder, "recoding.json", lambda form: form["attributes"]["education"]["cut"].reverse())


@forgery("disclosed labels in another order")
def disclosed_order(folder: Path) -> None:
    change(folder, "recoding.json", lambda form: form["attributes"]["country"]["disclosed"].reverse())


@forgery("a disclosed label that nobody shows")
def disclosed_by_nobody(folder: Path) -> None:
    def more(form: Form) -> None:
        labels = form["attributes"]["country"]["disclosed"]
        labels[:] = [*sorted([*(label for label in labels if label is not None), "Ada, 36, PhD"]), None]

    change(folder, "recoding.json", more)


@forgery("breaks between intervals that nobody shows", of="shares")
def breaks_of_nobody(folder: Path) -> None:
    change(folder, "recoding.json", lambda form: form["attributes"]["age"]["breaks"].extend([88.36, 89.36]))


@forgery("a break with a point")
def break_with_point(folder: Path) -> None:
    change(folder, "recoding.json", lambda form: form["attributes"]["age"].update(range=[17.0, 90]))


@forgery("a label of a cut that nobody shows")
def cut_of_nobody(folder: Path) -> None:
    def more(form: Form) -> None:
        cut = form["attributes"]["education"]["cut"]
        cut[:] = sorted([*cut, "Ada"])

    change(folder, "recoding.json", more)
    change(folder, "taxonomies/education.json", lambda tree: tree["below"].append("Ada"))


def _taxonomy(folder: Path, how: Callable[[Form], object]) -> None:
    change(folder, "taxonomies/education.json", how)


def _joint(tree: Form) -> Form:
    """A label above the cut, which joins others and has no name."""
    found: Form = next(part for part in tree["below"] if isinstance(part, dict))
    return found


@forgery("leaves below the cut", of="genetic")
def below_the_cut(folder: Path) -> None:
    def more(tree: Form) -> None:
        below = _joint(tree)["below"]
        below[0] = {"label": below[0], "below": ["Ada, 36, PhD", "Bob, 41, 9th"]}

    _taxonomy(folder, more)


@forgery("a branch of a tree where nobody is")
def branch_of_nobody(folder: Path) -> None:
    _taxonomy(folder, lambda tree: tree["below"].append({"label": "Ada", "below": ["36", "a PhD"]}))


@forgery("a branch without a name where nobody is")
def nameless_branch(folder: Path) -> None:
    _taxonomy(folder, lambda tree: tree["below"].append({"label": None, "below": ["z Ada", "z Bob"]}))


@forgery("a chain of labels above the cut")
def chain(folder: Path) -> None:
    _taxonomy(
        folder, lambda tree: tree.update(below=[{"label": "Ada", "below": [{"label": "36", "below": tree["below"]}]}])
    )


@forgery("a chain of labels without a name")
def nameless_chain(folder: Path) -> None:
    _taxonomy(folder, lambda tree: tree.update(below=[{"label": None, "below": tree["below"]}]))


@forgery("the labels of a tree in another order")
def tree_order(folder: Path) -> None:
    _taxonomy(folder, lambda tree: tree["below"].reverse())


@forgery("labels below one without a name in another order")
def joint_order(folder: Path) -> None:
    _taxonomy(folder, lambda tree: _joint(tree)["below"].reverse())


@forgery("leaves of a tree as mappings")
def tree_form(folder: Path) -> None:
    def other(tree: Form) -> None:
        below = _joint(tree)["below"]
        below[0] = {"label": below[0], "below": []}

    _taxonomy(folder, other)


@forgery("a label of a tree with a note")
def tree_note(folder: Path) -> None:
    _taxonomy(folder, lambda tree: _joint(tree).update(note="Ada, 36, PhD"))


@forgery("a label that is a whole table")
def long_label(folder: Path) -> None:
    _taxonomy(folder, lambda tree: _joint(tree).update(label="Ada, 36, PhD; " * 500))


@forgery("a name for a label above the cut")
def name_above_the_cut(folder: Path) -> None:
    _taxonomy(folder, lambda tree: _joint(tree).update(label="Ada: PhD"))


@forgery("the true name of a label above the cut")
def true_name(folder: Path) -> None:
    _taxonomy(folder, lambda tree: _joint(tree).update(label="Secondary"))


@forgery("a name for a root that nobody shows")
def name_of_root(folder: Path) -> None:
    _taxonomy(folder, lambda tree: tree.update(label="Ada, 36, PhD"))


@forgery("another name for a root that lifted records could show", of="genetic")
def name_of_top(folder: Path) -> None:
    _taxonomy(folder, lambda tree: tree.update(label="Ada, 36, PhD"))


@forgery("an empty name for a label above the cut")
def empty_name(folder: Path) -> None:
    _taxonomy(folder, lambda tree: _joint(tree).update(label=""))


@forgery("a label below the cut under another name", of="shares")
def leaf_renamed(folder: Path) -> None:
    rewrite(folder, "taxonomies/education.json", lambda text: text.replace('"PhD"', '"Pia: PhD"'))


# codebook.json.


@forgery("a codebook that tells of a stranger")
def stranger(folder: Path) -> None:
    change(folder, "codebook.json", lambda form: form.update(disease={"flu": {"Ada": 1.0}}))


@forgery("a codebook that tells of a value nobody shows")
def value_of_nobody(folder: Path) -> None:
    change(folder, "codebook.json", lambda form: form["age"].update({"[36-37)": {"mean": 36.0}}))


@forgery("raw rows beside a mean")
def beside_mean(folder: Path) -> None:
    change(folder, "codebook.json", lambda form: first(form["age"]).update(people=RAW))


@forgery("a mean with digits that say something")
def digits_of_mean(folder: Path) -> None:
    change(folder, "codebook.json", lambda form: first(form["age"]).update(mean=first(form["age"])["mean"] + 0.00036))


@forgery("a mean outside its interval")
def outside(folder: Path) -> None:
    change(folder, "codebook.json", lambda form: first(form["age"]).update(mean=136.0))


@forgery("the columns of a codebook in another order")
def codebook_order(folder: Path) -> None:
    change(folder, "codebook.json", lambda form: put(form, reversed_keys(form)))


@forgery("a column of a codebook that is gone", of="microaggregate")
def codebook_column(folder: Path) -> None:
    change(folder, "codebook.json", lambda form: form.pop("country"))


def _shares(folder: Path, how: Callable[[Form], object]) -> None:
    change(folder, "codebook.json", lambda form: how(form["education"]["University"]))


@forgery("a share of fewer records than k", of="microaggregate")
def small_share(folder: Path) -> None:
    def other(spread: Form) -> None:
        name = next(iter(spread))
        put(spread, {"Ada": 0.01, **spread, name: round(spread[name] - 0.01, 4)})

    _shares(folder, other)


@forgery("shares that do not add up", of="microaggregate")
def shares_that_do_not_add_up(folder: Path) -> None:
    _shares(folder, lambda spread: spread.update({next(iter(spread)): 0.3601}))


@forgery("a share with more digits", of="microaggregate")
def digits_of_share(folder: Path) -> None:
    def other(spread: Form) -> None:
        name = next(iter(spread))
        spread[name] = round(spread[name] + 0.0000036, 7)

    _shares(folder, other)


@forgery("shares in another order", of="microaggregate")
def share_order(folder: Path) -> None:
    _shares(folder, lambda spread: put(spread, reversed_keys(spread)))


@forgery("a label that stands for itself with a share")
def itself(folder: Path) -> None:
    def other(form: Form) -> None:
        form["education"]["9th"] = {"9th": 1.0}

    change(folder, "codebook.json", other)


def _told(folder: Path, name: str, how: Callable[[Form], object]) -> None:
    """What the certificate tells of a column."""

    def other(form: Form) -> None:
        how(next(column for column in form["table"]["columns"] if column["name"] == name))

    change(folder, "certificate.json", other)


def _renamed(spread: Form, old: str, new: str) -> Form:
    return {new if label == old else label: share for label, share in spread.items()}


def _rename(folder: Path, name: str, shown: str, old: str, new: str) -> None:
    """Another name in one entry of the codebook, which keeps the order of its labels."""
    change(folder, "codebook.json", lambda form: put(form[name][shown], _renamed(form[name][shown], old, new)))


@forgery("a label behind a star under another name", of="genetic")
def renamed_behind_a_star(folder: Path) -> None:
    _rename(folder, "country", "*", "Peru", "Peru: Ada, 36")


@forgery("a label of a class under another name", of="microaggregate")
def renamed_in_a_class(folder: Path) -> None:
    _rename(folder, "education", "Graduate", "PhD", "PhD: Ada, 36")


@forgery("a label below that of a region under another name", of="values")
def renamed_in_a_region(folder: Path) -> None:
    _rename(folder, "education", "University", "PhD", "PhD: Ada, 36")


@forgery("a label that the certificate lists and the codebook does not tell of", of="genetic")
def listed_not_told(folder: Path) -> None:
    _told(folder, "country", lambda column: column["told"].insert(0, "Ada, 36, PhD"))


@forgery("a list of told labels in another order", of="genetic")
def told_order(folder: Path) -> None:
    _told(folder, "country", lambda column: column["told"].reverse())


@forgery("a list of told labels of a column that is not masked", of="genetic")
def told_of_unmasked(folder: Path) -> None:
    _told(folder, "disease", lambda column: column.update(told=["Ada, 36, PhD"]))


@forgery("a list of told labels of a column with a tree")
def told_beside_a_tree(folder: Path) -> None:
    _told(folder, "education", lambda column: column.update(told=["Ada, 36, PhD"]))


@forgery("a list of told labels where the codebook is gone", of="genetic")
def told_without_a_codebook(folder: Path) -> None:
    (folder / "codebook.json").unlink()


@forgery("a told label that is a whole table", of="genetic")
def told_at_length(folder: Path) -> None:
    long = "Peru: " + "Ada, 36, PhD; " * 500
    _rename(folder, "country", "*", "Peru", long)
    _told(folder, "country", lambda column: column.update(told=sorted([*column["told"][:-1], long])))


@forgery("a label in braces that is part of another", of="values")
def part_of_a_label(folder: Path) -> None:
    def other(form: Form) -> None:
        shown = next(label for label in form["country"] if label.startswith("{"))
        put(form["country"][shown], _renamed(form["country"][shown], *_first_two(form["country"][shown])))

    change(folder, "codebook.json", other)


def _first_two(spread: Form) -> tuple[str, str]:
    name = next(label for label in spread if not label.startswith("("))
    return name, name[:3]


# centres.json.


@forgery("raw rows beside the centres")
def beside_centres(folder: Path) -> None:
    change(folder, "centres.json", lambda form: form.update(people=[RAW]))


@forgery("raw rows inside a place")
def inside_place(folder: Path) -> None:
    change(folder, "centres.json", lambda form: form["attributes"]["education"].update(people=[RAW]))


@forgery("a place of a label that nobody shows")
def place_of_nobody(folder: Path) -> None:
    def other(form: Form) -> None:
        labels = form["attributes"]["country"]["labels"]
        put(labels, dict(sorted({**labels, "Ada": first(labels)}.items())))

    change(folder, "centres.json", other)


@forgery("a coordinate with digits that say something")
def digits_of_place(folder: Path) -> None:
    def other(form: Form) -> None:
        place = first(form["attributes"]["country"]["labels"])
        place[0] = round(place[0] + 0.0000036, 7)

    change(folder, "centres.json", other)


@forgery("a centre with digits that say something")
def digits_of_centre(folder: Path) -> None:
    def other(form: Form) -> None:
        form["centres"][0][0] = round(form["centres"][0][0] + 0.000036, 6)

    change(folder, "centres.json", other)


@forgery("a further centre at a raw record")
def further_centre(folder: Path) -> None:
    change(folder, "centres.json", lambda form: form["centres"].append([0.36 for _ in form["centres"][0]]))


@forgery("a coordinate in which no value stands")
def empty_coordinate(folder: Path) -> None:
    def other(form: Form) -> None:
        country = form["attributes"]["country"]
        for place in (*country["labels"].values(), country["missing"]):
            place.append(0.0)
        before = sum(
            len(first(part["labels"]))
            for name, part in form["attributes"].items()
            if name in ("age", "education", "country")
        )
        for centre in form["centres"]:
            centre.insert(before - 1, 0.0)

    change(folder, "centres.json", other)


@forgery("coordinates in another order")
def coordinate_order(folder: Path) -> None:
    def other(form: Form) -> None:
        country = form["attributes"]["country"]
        for place in (*country["labels"].values(), country["missing"]):
            place[0], place[1] = place[1], place[0]
        at = sum(len(first(form["attributes"][name]["labels"])) for name in ("age", "education"))
        for centre in form["centres"]:
            centre[at], centre[at + 1] = centre[at + 1], centre[at]

    change(folder, "centres.json", other)


@forgery("a scale whose mean is a person's")
def mean_of_scale(folder: Path) -> None:
    change(folder, "centres.json", lambda form: form["attributes"]["hours"].update(mean=36.0))


@forgery("places in another order of columns")
def place_order(folder: Path) -> None:
    change(folder, "centres.json", lambda form: form.update(attributes=reversed_keys(form["attributes"])))


# regions.json.


def _leaf(form: Form) -> Form:
    found: Form = next(node for node in form["nodes"] if "shown" in node and node["shown"]["age"] != "[17-90]")
    return found


def _cut(form: Form, kind: str) -> Form:
    found: Form = next(node for node in form["nodes"] if node.get("cut") == kind)
    return found


@forgery("raw rows as empty regions", of="mondrian")
def empty_regions(folder: Path) -> None:
    def other(form: Form) -> None:
        nodes = form["nodes"]
        shown = nodes[-1]["shown"]
        low, high = re.findall(r"[\d.]+", shown["age"])
        at = int(float(low)) + 1
        cut = {"attribute": "age", "cut": "below", "at": at, "below": [len(nodes), len(nodes) + 1]}
        halves = [
            {"shown": shown | {"age": f"[{low}-{at})"}},
            {"shown": shown | {"age": f"[{at}-{high}{shown['age'][-1]}"}},
        ]
        form["nodes"] = [*nodes[:-1], cut, *halves]

    change(folder, "regions.json", other)


@forgery("labels of a region reversed against its cuts", of="mondrian")
def reversed_labels(folder: Path) -> None:
    def other(form: Form) -> None:
        cut = next(
            node
            for node in form["nodes"]
            if node.get("cut") == "below" and all("shown" in form["nodes"][child] for child in node["below"])
        )
        one, two = (form["nodes"][child] for child in cut["below"])
        one["shown"], two["shown"] = two["shown"], one["shown"]

    change(folder, "regions.json", other)


@forgery("a region that shows what is no interval and no label", of="mondrian")
def no_interval(folder: Path) -> None:
    change(folder, "regions.json", lambda form: _leaf(form)["shown"].update(age="Ada, 36, PhD"))


@forgery("raw rows in a part of a cut", of="mondrian")
def raw_part(folder: Path) -> None:
    change(folder, "regions.json", lambda form: _cut(form, "labels")["labels"][0].append("Ada, 36, PhD"))


@forgery("a cut into one part with a label of nobody", of="mondrian")
def one_part(folder: Path) -> None:
    def other(form: Form) -> None:
        for node in form["nodes"]:
            if "below" in node:
                node["below"] = [None if child is None else child + 1 for child in node["below"]]
        form["nodes"].insert(0, {"attribute": "education", "cut": "labels", "labels": [["Ada"]], "below": [1]})

    change(folder, "regions.json", other)


@forgery("nodes in another order", of="mondrian")
def node_order(folder: Path) -> None:
    def other(form: Form) -> None:
        form["nodes"].append(form["nodes"].pop(1))
        size = len(form["nodes"])
        for node in form["nodes"]:
            if "below" in node:
                node["below"] = [None if c is None else size - 1 if c == 1 else c - (c > 1) for c in node["below"]]

    change(folder, "regions.json", other)


@forgery("raw rows beside a region", of="mondrian")
def beside_region(folder: Path) -> None:
    change(folder, "regions.json", lambda form: _leaf(form).update(people=RAW))


@forgery("a node that is not below any other", of="mondrian")
def stray_node(folder: Path) -> None:
    change(folder, "regions.json", lambda form: form["nodes"].append({"shown": dict(_leaf(form)["shown"])}))


@forgery("a name for the root of a taxonomy that no region shows", of="mondrian")
def root_of_regions(folder: Path) -> None:
    change(folder, "regions.json", lambda form: form["attributes"]["education"].update(root="Ada, 36, PhD"))


@forgery("a name for a label that is cut and that no region shows", of="mondrian")
def cut_by_a_name(folder: Path) -> None:
    def other(form: Form) -> None:
        for node in form["nodes"]:
            if "below" in node:
                node["below"] = [None if child is None else child + 2 for child in node["below"]]
        above = [{"attribute": "education", "cut": "labels", "labels": [["Ada"]], "below": [1]}]
        above += [{"attribute": "education", "cut": "labels", "labels": [[]], "below": [2]}]
        form["nodes"] = above + form["nodes"]

    change(folder, "regions.json", other)


@forgery("a label of a cut renamed where it is cut", of="mondrian")
def cut_renamed(folder: Path) -> None:
    change(folder, "regions.json", lambda form: _cut(form, "labels")["labels"][0].__setitem__(0, "Ada: PhD"))


@forgery("a label of a cut without its name", of="mondrian")
def cut_without_name(folder: Path) -> None:
    change(folder, "regions.json", lambda form: _cut(form, "labels")["labels"][0].clear())


# centroids.json.


@forgery("raw rows beside the sizes", of="microaggregate")
def beside_sizes(folder: Path) -> None:
    change(folder, "centroids.json", lambda form: form.update(people=[RAW]))


@forgery("raw rows inside a column of centres", of="mdav")
def inside_centres(folder: Path) -> None:
    change(folder, "centroids.json", lambda form: form["attributes"]["age"].update(people=[RAW]))


@forgery("classes in another order", of="mdav")
def class_order(folder: Path) -> None:
    def other(form: Form) -> None:
        form["sizes"].reverse()
        for part in form["attributes"].values():
            part["centres"].reverse()

    change(folder, "centroids.json", other)


@forgery("a class told in two", of="microaggregate")
def class_in_two(folder: Path) -> None:
    def other(form: Form) -> None:
        form["sizes"][0] -= 1
        form["sizes"].insert(0, 1)
        for part in form["attributes"].values():
            part["centres"].insert(0, part["centres"][0])

    change(folder, "centroids.json", other)


@forgery("whole centres with a point", of="wf_c_means")
def centres_with_point(folder: Path) -> None:
    def other(form: Form) -> None:
        form["attributes"]["age"]["centres"] = [float(centre) for centre in form["attributes"]["age"]["centres"]]

    change(folder, "centroids.json", other)


@forgery("columns of centres in another order", of="linkage")
def centre_columns(folder: Path) -> None:
    change(folder, "centroids.json", lambda form: form.update(attributes=reversed_keys(form["attributes"])))


# private_tree.json and dp_heter.json.


@forgery("raw rows beside the shares", of="private_tree")
def beside_shares(folder: Path) -> None:
    change(folder, "private_tree.json", lambda form: form.update(people=[RAW]))


@forgery("raw rows in a domain", of="private_tree")
def inside_domain(folder: Path) -> None:
    change(folder, "private_tree.json", lambda form: form["domains"]["age"].update(people=[RAW]))


@forgery("a label of a domain that nobody shows", of="private_tree")
def label_of_nobody(folder: Path) -> None:
    def other(form: Form) -> None:
        form["domains"]["disease"]["labels"].insert(0, "Ada, 36, PhD")
        for part in form["shares"]["disease"]:
            part.insert(0, 0.0)

    change(folder, "private_tree.json", other)


@forgery("shares with digits that say something", of="private_tree")
def digits_of_shares(folder: Path) -> None:
    def other(form: Form) -> None:
        part = form["shares"]["age"][0]
        part[0] = round(part[0] / 2 + 0.0000036, 7)

    change(folder, "private_tree.json", other)


@forgery("shares that add up to more than all", of="private_tree")
def too_much(folder: Path) -> None:
    def other(form: Form) -> None:
        for part, count in zip(form["shares"]["age"], form["rows"], strict=True):
            part[:] = [0.36 if count else 0.0 for _ in part]

    change(folder, "private_tree.json", other)


@forgery("raw rows beside a split", of="private_tree")
def beside_split(folder: Path) -> None:
    change(folder, "private_tree.json", lambda form: form["splits"][0].update(people=RAW))


@forgery("raw rows as parts without rows", of="dp_heter")
def parts_of_nobody(folder: Path) -> None:
    def other(form: Form) -> None:
        form["rows"].append(0)
        for places in form["parts"].values():
            places.append(places[0])

    change(folder, "dp_heter.json", other)


@forgery("a known value that no part has", of="dp_heter")
def unknown_value(folder: Path) -> None:
    change(folder, "dp_heter.json", lambda form: form["known"]["disease"].append("zzz: Ada, 36, PhD"))


@forgery("parts in another order", of="dp_heter")
def part_order(folder: Path) -> None:
    def other(form: Form) -> None:
        form["rows"].reverse()
        for places in form["parts"].values():
            places.reverse()

    change(folder, "dp_heter.json", other)


@forgery("rows of a part moved to another", of="dp_heter")
def moved_rows(folder: Path) -> None:
    def other(form: Form) -> None:
        form["rows"][0] += 1
        form["rows"][-1] -= 1

    change(folder, "dp_heter.json", other)


# The tree and the order in a claim of the certificate.


def _tree(folder: Path, how: Callable[[Form], Form]) -> None:
    def other(form: Form) -> None:
        claim = next(claim for claim in form["claims"] if "tree" in claim)
        claim["tree"] = how(claim["tree"])

    change(folder, "certificate.json", other)


@forgery("a tree of a claim with a branch where nobody is", of="hierarchical")
def claim_branch(folder: Path) -> None:
    _tree(folder, lambda tree: {**tree, "below": [{"height": 1, "below": ["36", "Ada"]}, *tree["below"]]})


@forgery("a tree of a claim with a label above all others", of="hierarchical")
def claim_chain(folder: Path) -> None:
    _tree(folder, lambda tree: {"height": tree["height"] + 1, "below": [tree]})


@forgery("a tree of a claim whose root stands higher than it should", of="hierarchical")
def claim_height(folder: Path) -> None:
    _tree(folder, lambda tree: {**tree, "height": tree["height"] + 36})


@forgery("an order of a claim with a raw row in it", of="ordered")
def claim_order(folder: Path) -> None:
    change(folder, "certificate.json", lambda form: form["claims"][0]["order"].append("Ada, 36, PhD"))
