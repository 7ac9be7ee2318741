"""Numbers with a given tree of intervals: cut, released, verified, applied; grown trees told, edited and used again."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data import datasets
from sfumato.data.encoding import encode
from sfumato.data.taxonomy.intervals import Intervals
from sfumato.engines import LocalEngine
from sfumato.errors import RecipeError, SchemaError, TaxonomyError
from sfumato.maskers.masker import Labels
from sfumato.maskers.topdown.fit import fit
from sfumato.release.reading import read_recoding

YAML = """\
"[17-90]":
  "[17-40)":
    "[17-30)": ["[17-25)", "[25-30)"]
    "[30-40)": ["[30-35)", "[35-40)"]
  "[40-90]":
    "[40-60)": ["[40-45)", "[45-50)", "[50-60)"]
    "[60-90]": ["[60-70)", "[70-90]"]
"""
NESTED = {"[17-90]": ["[17-40)", "[40-90]"]}


def arx() -> str:
    """As ARX exports a hierarchy of intervals: one row for each value, then ever wider ones."""

    def around(value: int, width: int) -> str:
        low = 15 + (value - 15) // width * width
        return f"[{low}, {low + width}["

    return "".join(f"{age};{around(age, 5)};{around(age, 20)};*\n" for age in range(17, 91))


RECIPE = """
sfumato: 1
attributes:
  age: {{kind: number, role: quasi, taxonomy: {tree}}}
  sex: {{kind: category, role: quasi}}
  hours_per_week: {{kind: number, role: quasi, range: [1, 99]}}
  income: {{kind: category, role: sensitive}}
structure: {{classes: income}}
privacy: [{{k_anonymity: {k}, on: [age, sex, hours_per_week]}}]
mask: {{top_down: {{{more}}}}}
release: {{codebook: true}}
"""


def adult(rows: int = 1500) -> pa.Table:
    return datasets.load("adult").table.select(["age", "sex", "hours_per_week", "income"]).slice(0, rows)


def ends_within(labels: set[Any], tree: sf.Taxonomy) -> bool:
    """Whether intervals end where some interval of a tree does."""
    known = {end for span in Intervals.of(tree).spans for end in span}
    return {float(end) for label in labels for end in label[1:-1].split("-")} <= known


@pytest.mark.parametrize("form", ["yaml", "csv"])
def test_adults_ages_are_cut_along_a_given_tree(form: str, tmp_path: Path) -> None:
    (tmp_path / f"age.{form}").write_text(YAML if form == "yaml" else arx())
    (tmp_path / "recipe.yaml").write_text(RECIPE.format(tree=f"age.{form}", k=10, more=""))
    recipe = sf.Recipe.from_yaml(tmp_path / "recipe.yaml")
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe
    release = sf.publish(adult(), recipe)
    release.write(tmp_path / "out")
    assert sf.verify(tmp_path / "out", raw=adult(), strict=False).holds
    tree = sf.Taxonomy.from_file(tmp_path / f"age.{form}")
    shown: set[Any] = set(pa.table(release.table)["age"].unique().to_pylist())
    assert len(shown) > 2
    assert ends_within(shown, tree)
    told = json.loads((tmp_path / "out/taxonomies/age.json").read_text())
    assert told["label"] == ("[17-90]" if form == "yaml" else "[15-95]")
    young = pa.table({"age": [18, 19], "sex": ["Male", "Female"], "hours_per_week": [1, 98], "income": ["<=50K"] * 2})
    applied = read_recoding(tmp_path / "out").apply(encode(young, recipe.schema), unseen="refuse")
    assert set(applied["age"].decode().to_pylist()) <= shown  # numbers that were never seen have a place


def test_every_number_has_one_place_and_brute_force_agrees() -> None:
    """Whatever tree is drawn: shown intervals are the tree's, hold the number, and k holds in the recounted groups."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        tree = sf.Taxonomy.from_tree({_label(0, 64, 64): _drawn(random, 0, 64)})
        table = pa.table({"age": random.integers(0, 64, 60), "sex": random.choice(["f", "m"], 60)})
        if seed % 3 == 0:
            table = table.set_column(
                0, "age", pa.array([n if n in range(4, 64) else None for n in table["age"].to_pylist()])
            )
        schema = sf.Schema(age=sf.Number(role="quasi", taxonomy=tree), sex=sf.Category(role="quasi"))
        needs = [sf.KAnonymity(on=["age", "sex"], k=int(random.integers(2, 9)))]
        coded = encode(table, schema)
        labels = Labels((coded.column("sex").codes == 0).astype(np.uint8), 2)
        fitted = fit(coded, labels, needs, settings=sf.TopDown(), engine=LocalEngine())
        masked = pa.table({name: column.decode() for name, column in fitted.masked(coded).items()})
        groups = pl.DataFrame(masked).group_by(["age", "sex"]).len()["len"]
        assert min(groups.to_list()) >= needs[0].k
        assert maximal(table, masked, tree, needs[0].k)
        pairs: list[tuple[Any, Any]] = list(zip(table["age"].to_pylist(), masked["age"].to_pylist(), strict=True))
        for raw, shown in pairs:
            if raw is not None and shown != "*":
                low, high = map(float, shown[1:-1].split("-"))
                assert low <= raw <= high


def maximal(raw: pa.Table, masked: pa.Table, tree: sf.Taxonomy, k: int) -> bool:
    """Whether no shown interval that has others below it could be replaced by them: recounted by hand."""
    spans = Intervals.of(tree)
    rows: list[tuple[Any, Any, Any]] = list(
        zip(raw["age"].to_pylist(), masked["age"].to_pylist(), masked["sex"].to_pylist(), strict=True)
    )
    for node, (low, high) in enumerate(spans.spans):
        label = _label(low, high, spans.ends[1])
        children = [spans.spans[child] for child in spans.children(node)]
        held = [(number, sex) for number, shown, sex in rows if shown == label and number is not None]
        if not children or not held:
            continue
        sizes: dict[tuple[int, str], int] = {}
        for number, sex in held:
            at = max(at for at, (begin, _) in enumerate(children) if begin <= number)
            sizes[at, sex] = sizes.get((at, sex), 0) + 1
        if min(sizes.values()) >= k:
            return False
    return True


def _label(low: float, high: float, last: float) -> str:
    return f"[{int(low)}-{int(high)}{']' if high == last else ')'}"


def _drawn(random: np.random.Generator, low: int, high: int) -> Any:
    if high - low < 8 or random.random() < 0.1:
        return None
    inner = sorted(random.choice(range(low + 1, high), size=int(random.integers(1, 4)), replace=False).tolist())
    ends = [low, *inner, high]
    return {_label(a, b, 64): _drawn(random, a, b) for a, b in pairwise(ends)}


def test_a_grown_tree_is_told_drawn_edited_and_used_again(tmp_path: Path) -> None:
    (tmp_path / "age.yaml").write_text(YAML)
    (tmp_path / "recipe.yaml").write_text(RECIPE.format(tree="age.yaml", k=40, more="trees: true, last: [age]"))
    recipe = sf.Recipe.from_yaml(tmp_path / "recipe.yaml")
    release = sf.publish(adult(), recipe)
    release.write(tmp_path / "out")
    assert sf.verify(tmp_path / "out", raw=adult()).holds
    told = sf.Taxonomy.from_file(tmp_path / "out/taxonomies/hours_per_week.json")
    assert told.root == "[1-99]"
    assert set(told.leaves) == set(pa.table(release.table)["hours_per_week"].unique().to_pylist())
    assert "● " in str(release.mask)
    done = CliRunner().invoke(
        app, ["taxonomy", "grown", str(tmp_path / "out"), "hours_per_week", "-o", str(tmp_path / "hours.yaml")]
    )
    assert done.exit_code == 0, done.output
    again = recipe.to_yaml().replace("range: [1, 99]", "taxonomy: hours.yaml")
    (tmp_path / "again.yaml").write_text(again)
    second = sf.publish(adult(), sf.Recipe.from_yaml(tmp_path / "again.yaml"))
    assert sf.Taxonomy.from_file(tmp_path / "hours.yaml") == told
    assert ends_within(set(pa.table(second.table)["hours_per_week"].unique().to_pylist()), told)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: {**tree, "label": "[17-91]"},
        lambda tree: {**tree, "below": tree["below"][:-1]},
        lambda tree: {**tree, "below": [*tree["below"][::-1]]},
        lambda tree: {"label": tree["label"], "below": [{"label": "[17-90]", "below": tree["below"]}]},
    ],
)
def test_verify_refuses_a_tree_whose_ends_are_no_breaks(change: object, tmp_path: Path) -> None:
    from sfumato.privacy.verify.explained.trees import nodes
    from sfumato.privacy.verify.intervals import nested
    from sfumato.privacy.verify.verdict import CheckError

    rule = {"kind": "discretize", "range": [17, 90], "breaks": [30, 40], "tree": True}
    tree = {"label": "[17-90]", "below": [{"label": "[17-40)", "below": ["[17-30)", "[30-40)"]}, "[40-90]"]}
    nested(rule, nodes(tree))
    with pytest.raises(CheckError):
        nested(rule, nodes(change(tree)))  # type: ignore[operator]


def test_what_is_no_tree_of_intervals_is_refused() -> None:
    for wrong in (
        {"*": ["[17-30)", "[31-90]"]},  # a gap
        {"*": ["[17-31)", "[30-90]"]},
        {"*": ["young", "old"]},
        {"[17-40)": ["[10-30)", "[30-40)"]},
        {"*": ["17"]},
    ):
        with pytest.raises(TaxonomyError):
            sf.Number(role="quasi", taxonomy=sf.Taxonomy.from_tree(wrong))
    tree = sf.Taxonomy.from_tree(NESTED)
    with pytest.raises(SchemaError, match="goes with a quasi-identifying number"):
        sf.Number(role="plain", taxonomy=tree)
    with pytest.raises(TaxonomyError, match="inside the declared range"):
        sf.Number(role="quasi", taxonomy=tree, range=(20, 90))
    schema = sf.Schema(age=sf.Number(role="quasi", taxonomy=tree))
    with pytest.raises(RecipeError, match="cut by top-down refinement"):
        sf.Recipe(schema=schema, privacy=[sf.KAnonymity(on=["age"], k=2)], mask=sf.Partition())


def test_wishes_for_detail_are_kept_along_the_tree() -> None:
    tree = sf.Taxonomy.from_tree({"[0-40]": {"[0-20)": ["[0-10)", "[10-20)"], "[20-40]": ["[20-30)", "[30-40]"]}})
    schema = sf.Schema(age=sf.Number(role="quasi", taxonomy=tree))
    table = pa.table({"age": [value % 41 for value in range(200)]})
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(on=["age"], k=30)], detail={"age": 20})
    shown: set[Any] = set(pa.table(sf.publish(table, recipe).table)["age"].to_pylist())
    assert all(float(text[1:-1].split("-")[1]) - float(text[1:-1].split("-")[0]) <= 20 for text in shown)
