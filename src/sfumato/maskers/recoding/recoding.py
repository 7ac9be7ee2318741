"""Recoding: the final cut with its trees. Frozen, in labels, plain JSON, applicable to any table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Schema
from sfumato.data.table import AnyColumn, Column, Table, narrow
from sfumato.data.taxonomy.bare_form import from_form
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError, ReleaseError, TableError
from sfumato.maskers.masker import WHOLE, Mask
from sfumato.maskers.recoding.rules import SUPPRESSED, Discretize, Generalize, Rule, Suppress
from sfumato.maskers.recoding.set_rules import GeneralizeSets


def tree_file(name: str) -> str:
    """Where a release keeps an attribute's taxonomy; what a file name cannot hold is written as in an address.

    >>> tree_file("education"), tree_file("km/h")
    ('taxonomies/education.json', 'taxonomies/km%2Fh.json')
    """
    return f"taxonomies/{quote(name, safe=' ')}.json"


@dataclass(frozen=True)
class Recoding(Mask):
    """What top-down refinement learned: for each attribute, what is shown.

    `lifted` says whether some records were lifted to the top of every attribute (suppress=...).
    """

    attributes: Mapping[str, Rule]
    lifted: bool = False

    def files(self) -> dict[str, Any]:
        """recoding.json, and the taxonomies it cuts."""
        trees = {name: rule.tree_form() for name, rule in self.attributes.items()}
        return {
            "recoding.json": self.to_json(),
            **{tree_file(name): form for name, form in trees.items() if form is not None},
        }

    def released(self, masked: Masked, needed: Mapping[str, Collection[str]]) -> Recoding:
        """What the table shows, what is needed besides, and nothing of the rest.

        A tree whose labels nobody shows, a disclosed label that nobody has, a break between two intervals that are
        empty: each tells something of the raw table, or could.
        """
        rules = {
            name: rule.released(rule.shown_in(masked, name), needed.get(name, ())) for name, rule in self.rules.items()
        }
        return replace(self, attributes=rules)

    def kept_back(self) -> dict[str, Any]:
        """The whole of it."""
        return {f"{WHOLE}/{name}": form for name, form in self.files().items()}

    def declared(self, schema: Schema, *, release: str) -> Recoding:
        """Its cuts over the declared trees, where a release tells of them what it shows."""
        rules: dict[str, Rule] = {}
        for name, rule in self.attributes.items():
            attribute = schema.get(name)
            found = rule.over(attribute.taxonomy if isinstance(attribute, Category) else None)
            if found is None:
                raise ReleaseError(
                    release,
                    f"the labels of {name} are placed by the whole tree",
                    given="a release without its holder's folder, and no such tree in the recipe",
                    remedy="put NAME.holder beside it, or declare the taxonomy of that release",
                )
            rules[name] = found
        return replace(self, attributes=rules)

    @property
    def rules(self) -> Mapping[str, Rule]:
        """Of each attribute what all its values become."""
        return self.attributes

    @property
    def exact(self) -> frozenset[str]:
        """The columns in which every raw value has one shown value, and the recipient knows which: all of them."""
        return frozenset(self.attributes)

    def only(self, names: Collection[str]) -> Recoding:
        """The same for some columns alone."""
        return Recoding({name: self.attributes[name] for name in names})

    def apply(self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None) -> Masked:
        """What each row shows. Unseen labels are refused, or shown as the top value; so are numbers that no interval
        holds, or shown as `*`."""
        columns: dict[str, AnyColumn] = {
            name: rule.masked(name, table.columns[name], unseen=unseen, lifted=lifted)
            if isinstance(rule, GeneralizeSets)
            else _masked(name, rule, table.column(name), unseen=unseen, lifted=lifted)
            for name, rule in self.attributes.items()
        }
        treated = {name: rule.kind for name, rule in self.attributes.items()}
        return Masked(columns, table.rows, treated, lifted=lifted)

    def to_json(self) -> dict[str, Any]:
        """The content of recoding.json."""
        form: dict[str, Any] = {"attributes": {name: rule.to_json() for name, rule in self.attributes.items()}}
        if self.lifted:
            form["lifted"] = True
        return form

    @classmethod
    def read(cls, files: Mapping[str, Any]) -> Recoding:
        """From the JSON files of a release, by name."""
        form = files["recoding.json"]
        with_tree = (Generalize.kind, GeneralizeSets.kind)
        generalized = [name for name, part in form["attributes"].items() if part["kind"] in with_tree]
        trees = {name: from_form(files[tree_file(name)]) for name in generalized if tree_file(name) in files}
        found = cls.from_json(form, trees)
        rules = {
            name: rule.under(files.get(tree_file(name)) if form["attributes"][name].get("tree") else None)
            for name, rule in found.attributes.items()
        }
        return replace(found, attributes=rules)

    @classmethod
    def from_json(cls, form: Mapping[str, Any], taxonomies: Mapping[str, Taxonomy]) -> Recoding:
        """Read recoding.json, with the taxonomies that lie beside it."""
        rules = {name: _rule(name, part, taxonomies) for name, part in form["attributes"].items()}
        return cls(rules, bool(form.get("lifted", False)))

    def __str__(self) -> str:
        return "\n".join(f"{name}\n{rule.drawn()}" for name, rule in self.attributes.items())


def _rule(name: str, form: Mapping[str, Any], taxonomies: Mapping[str, Taxonomy]) -> Rule:
    kind = form.get("kind")
    if kind in (Generalize.kind, GeneralizeSets.kind):
        if name not in taxonomies:
            raise RecipeError(
                name,
                "a generalized attribute comes with its taxonomy",
                given="none",
                remedy="restore the release's taxonomies/ folder",
            )
        cut = Generalize(taxonomies[name], tuple(form["cut"]))
        return cut if kind == Generalize.kind else GeneralizeSets(cut, form["apart"], form["separator"])
    if kind == "suppress":
        return Suppress(tuple(form["disclosed"]), bool(form.get("complete", False)))
    if kind == "discretize":
        unit = form.get("calendar")
        breaks = tuple(calendar.parse(b) if unit else b for b in form["breaks"])
        ends = tuple(form["range"]) if form["range"] else None
        return Discretize(ends, breaks, form.get("missing", "none"), unit)
    raise RecipeError(
        name,
        "a recoding generalizes, suppresses or discretizes",
        given=repr(kind),
        remedy="restore recoding.json from the release",
    )


def _masked(name: str, rule: Rule, column: Column, *, unseen: str, lifted: NDArray[np.bool_] | None) -> Column:
    """What each row shows; the values are those that occur, in the order of the rule."""
    places = rule.places(column.values)
    used = column.counts > 0
    if unseen == "refuse" and bool((used & (places < 0)).any()):
        raise TableError(
            name,
            "every value has a place in the recoding",
            given="values that were not there when the recoding was learned",
            remedy="say unseen='suppress' to show them as the top value, or as *",
        )
    unplaced = SUPPRESSED if rule.numeric else rule.top  # no interval holds a number outside the declared range
    shown = (*rule.values, unplaced)
    top = shown.index(rule.top)
    places = np.where(places < 0, shown.index(unplaced), places)
    occurs = set(places[used].tolist()) | ({top} if lifted is not None and lifted.any() else set())
    kept = [place for place, label in enumerate(shown) if place in occurs and label is not None]
    index = np.full(len(shown), len(kept), dtype=np.int64)  # past the last one: missing
    index[kept] = np.arange(len(kept))
    codes = narrow(index, len(kept))[places][column.codes]
    if lifted is not None:
        codes = np.where(lifted, index[top].astype(codes.dtype), codes)
    return Column(codes, pa.array([shown[place] for place in kept], type=pa.string()))


def cuts_in(form: Mapping[str, Any]) -> dict[str, set[str]]:
    """Of each column with a taxonomy the labels that a release shows, by its recoding.json."""
    rules = {name: rule for name, rule in form["attributes"].items() if rule["kind"] == Generalize.kind}
    return {name: {label for label in rule["cut"] if label is not None} for name, rule in rules.items()}
