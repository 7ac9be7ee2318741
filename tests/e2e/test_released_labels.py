"""Labels and score that go along: counted again by definition, attacked, forged and refused."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

import sfumato as sf
from sfumato.data.writing import write
from sfumato.errors import RecipeError, ReleaseError
from sfumato.maskers.masker import Masker
from sfumato.publishing import attack
from tests.corruptions import forge
from tests.releases import NUMBERS, ON, SCHEMA, people

pytestmark = pytest.mark.filterwarnings("ignore:masking that is blind", "ignore:labels")
ROWS = people(300).drop(["wage"])
CLUSTERS = sf.Clusters("kmeans", k=4, n_init=1, attributes=("age", "education", "hours"))
SHAPE = json.loads((Path(sf.__file__).parent / "privacy" / "verify" / "certificate.schema.json").read_text())
PLAIN = sf.Along(labels="plain", score=True)
QUASI = sf.Along(labels=True, score=True)
MASKS: dict[str, Masker] = {
    "top_down": sf.TopDown(),
    "partition": sf.Partition(),
    "microaggregate": sf.Microaggregate(),
}


def recipe(mask: Masker, along: sf.Along, k: int = 12) -> sf.Recipe:
    privacy = [sf.KAnonymity(ON, k), *([] if mask == sf.Microaggregate() else [sf.KAnonymity(("age",), 2 * k)])]
    return sf.Recipe(schema=SCHEMA, structure=CLUSTERS, privacy=privacy, mask=mask, release=along)


def released(folder: Path, asked: sf.Recipe) -> Path:
    return sf.publish(ROWS, asked, run=sf.Run(report=False)).write(folder)


def certificate(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "certificate.json").read_text(encoding="utf-8")))


def by_definition(folder: Path) -> dict[str, float]:
    """Every figure in plain Python: groups by a dict, the nearest centre by distances, 000's equations as printed."""
    form, loaded = certificate(folder), sf.load(folder)
    rows, points, centres = pq.read_table(folder / "table.parquet").to_pylist(), loaded.points(), loaded.centres
    assert centres is not None
    nearest = [int(((centres - point) ** 2).sum(axis=1).round(6).argmin()) for point in points]
    labels = [row["cluster"] for row in rows]
    sizes = [Counter(tuple(row[n] for n in (*claim["on"], "cluster")) for row in rows) for claim in form["claims"]]
    pairs = [(int(label), near) for label, near in zip(labels, nearest, strict=True) if label in "0123"]
    raw, masked, both = Counter(a for a, _ in pairs), Counter(b for _, b in pairs), Counter(pairs)
    best = 0.0
    for one, size in raw.items():
        recalls = {other: both[one, other] / size for other in masked}
        precisions = {other: both[one, other] / count for other, count in masked.items()}
        found = [2 * r * precisions[o] / (r + precisions[o]) for o, r in recalls.items() if r]
        best += size / len(pairs) * max(found)
    alike = sum((a == c) == (b == d) for a, b in pairs for c, d in pairs)
    return {
        "alike": min(min(found.values()) for found in sizes),
        "alone": max(sum(n == 1 for n in found.values()) for found in sizes),
        "shown": len(pairs),
        "agreement": sum(a == b for a, b in pairs) / len(pairs),
        "f_measure": best,
        "match_point": alike / len(pairs) ** 2,
    }


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("along", [PLAIN, QUASI], ids=["plain", "quasi"])
def test_every_figure_is_what_its_definition_says(tmp_path: Path, mask: str, along: sf.Along) -> None:
    folder = released(tmp_path / "out", recipe(MASKS[mask], along))
    form = certificate(folder)
    assert Draft202012Validator(SHAPE).is_valid(form)
    told = {**form["labels"], **form["score"]}
    for key, figure in by_definition(folder).items():
        assert math.isclose(told[key], figure, abs_tol=2e-6), key
    assert sf.verify(folder, raw=ROWS).holds
    if along is QUASI:
        assert told["alike"] >= 12
        assert all("cluster" in claim["on"] for claim in form["claims"])


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose labels do not follow from what is shown."""
    with pytest.warns(UserWarning, match="records are alone"):
        return released(tmp_path_factory.mktemp("plain") / "out", recipe(sf.Microaggregate(), PLAIN))


def test_a_recipient_has_them_by_the_numbers_of_the_centres(plain: Path) -> None:
    loaded = sf.load(plain)
    shown = loaded.to("arrow").table.column("cluster").to_pylist()
    assert loaded.labels is not None
    assert loaded.labels.tolist() == [int(label) for label in shown]
    for name in ("README.md", "certificate.md", "certificate.html"):
        assert "found each record" in (plain / name).read_text(encoding="utf-8")
    package = json.loads((plain / "datapackage.json").read_text(encoding="utf-8"))
    assert "holder found the record" in package["resources"][0]["schema"]["fields"][-1]["description"]


def test_somebody_who_knows_the_label_is_measured(plain: Path) -> None:
    rows = pq.read_table(plain / "table.parquet").to_pylist()
    found = {exposure.on: exposure for exposure in attack(ROWS, plain).risk}
    sizes = Counter(tuple(row[name] for name in (*ON, "cluster")) for row in rows)
    alone = sum(size == 1 for size in sizes.values())
    assert alone
    assert found[*ON, "cluster"].smallest == 1
    assert found[*ON, "cluster"].prosecutor.above[2] == pytest.approx(alone / len(rows))
    assert found[ON].smallest >= 12


def changed(folder: Path, to: Path, **changes: Mapping[str, object] | None) -> list[str]:
    """The checks that fail where these entries of the certificate are changed, and everything is made to fit."""
    import shutil

    shutil.copytree(folder, to)
    form = certificate(to)
    for key, change in changes.items():
        if change is None:
            del form[key]
        else:
            form[key] |= change
    (to / "certificate.json").write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    forge(to)
    return [check.name for check in sf.verify(to).failed]


LIES: dict[str, tuple[dict[str, dict[str, object] | None], str]] = {
    "more agreement": ({"labels": {"agreement": 1.0}}, "labels"),
    "nobody alone": ({"labels": {"alone": 0}}, "labels"),
    "larger groups": ({"labels": {"alike": 12}}, "labels"),
    "fewer clusters": ({"labels": {"clusters": 3}}, "labels"),
    "another column": ({"labels": {"column": "disease"}}, "labels"),
    "another sentence": ({"labels": {"sentence": "Labels are safe."}}, "certificate"),
    "no warning": ({"labels": {"warning": ""}}, "certificate"),
    "a better score": ({"score": {"f_measure": 1.0}}, "score"),
    "a better match": ({"score": {"match_point": 1.0}}, "score"),
    "more digits": ({"score": {"match_point": 0.1234567}}, "certificate"),
    "a score of nothing": ({"labels": None}, "certificate"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_labels_is_found(plain: Path, tmp_path: Path, lie: str) -> None:
    changes, by = LIES[lie]
    assert by in changed(plain, tmp_path / "out", **changes)


def test_a_label_that_is_changed_is_found(plain: Path, tmp_path: Path) -> None:
    import shutil

    folder = shutil.copytree(plain, tmp_path / "out")
    table = pq.read_table(folder / "table.parquet")
    labels = table.column("cluster").to_pylist()
    for at, label in ((0, "7"), (0, "3" if labels[0] != "3" else "2")):
        cells = [label if row == at else one for row, one in enumerate(labels)]
        write(table.set_column(table.num_columns - 1, "cluster", pa.array(cells)), folder / "table.parquet", order=None)
        forge(folder)
        assert {"labels", "score"} & {check.name for check in sf.verify(folder).failed}


def test_an_apply_shows_new_rows_where_it_can(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="labels"):
        release = sf.publish(ROWS, recipe(sf.TopDown(), PLAIN), run=sf.Run(report=False))
    assert release.apply(ROWS.slice(0, 3)).column_names == list(SCHEMA)
    release = sf.publish(ROWS, recipe(sf.TopDown(), QUASI), run=sf.Run(report=False))
    with pytest.raises(RecipeError, match="label of each record"):
        release.apply(ROWS.slice(0, 3))


def test_noise_is_a_label_of_its_own(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    ages = np.append(chance.normal([25, 75], 1, (100, 2)).ravel(), chance.uniform(18, 89, 20)).round(1)
    schema = sf.Schema(age=sf.Number(role="quasi", range=(17, 90)))
    asked = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("dbscan", options={"eps": 0.02}),
        privacy=[sf.KAnonymity(("age",), 5)],
        release=sf.Along(labels="plain"),
    )
    with pytest.warns(UserWarning, match="labels"):
        folder = sf.publish(pa.table({"age": ages}), asked, run=sf.Run(report=False)).write(tmp_path / "out")
    loaded = sf.load(folder)
    shown = np.array(loaded.to("arrow").table.column("cluster").to_pylist())
    assert loaded.labels is not None
    assert {*loaded.labels[shown == "noise"].tolist()} == {certificate(folder)["labels"]["clusters"] - 1}


def test_what_cannot_go_along_is_refused() -> None:
    asked = recipe(sf.TopDown(), PLAIN)
    with pytest.raises(RecipeError, match="those of clusters"):
        replace(asked, structure=None)
    with pytest.raises(RecipeError, match="nobody could count it again"):
        replace(asked, release=sf.Along(score=True))
    with pytest.raises(RecipeError, match="from the centres"):
        replace(asked, release=sf.Along(labels=True, score=True, starting_centres=False))
    with pytest.raises(RecipeError, match="earlier releases"):
        replace(asked, earlier=sf.Earlier(releases=("out",), people="same"))
    with pytest.raises(RecipeError, match="no label by which"):
        sf.Recipe(
            schema=SCHEMA,
            structure=CLUSTERS,
            privacy=[sf.KMap(ON, 5, population=ROWS)],
            mask=sf.TopDown(),
            release=QUASI,
        )
    with pytest.raises(RecipeError, match="account of the budget"):
        sf.Recipe(
            schema=NUMBERS,
            structure=sf.Clusters(k=2),
            mask=sf.PrivateTree(),
            budget=sf.Budget(epsilon=1),
            release=PLAIN,
        )
    with pytest.raises(RecipeError, match="true, false, or one of quasi, plain"):
        sf.Along(labels="known")  # type: ignore[arg-type]
    with pytest.raises(RecipeError, match="tell the key"):
        sf.Recipe(
            schema=NUMBERS,
            structure=sf.Clusters(k=2),
            mask=sf.Translate(),
            i_understand="no_guarantee",
            release=sf.Along(labels="plain"),
        )


def test_a_score_of_centres_that_stay_is_refused() -> None:
    bare = sf.Schema({**SCHEMA, "age": sf.Number(role="quasi")})
    asked = replace(recipe(sf.Microaggregate(), QUASI), schema=bare)
    with pytest.raises(ReleaseError, match="stay with the holder"):
        sf.publish(ROWS, asked, run=sf.Run(report=False))


def test_it_is_written_in_a_recipe() -> None:
    for along in (PLAIN, QUASI):
        asked = recipe(sf.TopDown(), along)
        assert sf.Recipe.from_yaml(asked.to_yaml()) == asked
    named = sf.Schema({**SCHEMA, "cluster": sf.Category(role="plain")})
    rows = ROWS.append_column("cluster", pa.array(["a", "b"] * 150))
    with pytest.warns(UserWarning, match="cluster_"):
        release = sf.publish(rows, replace(recipe(sf.TopDown(), PLAIN), schema=named), run=sf.Run(report=False))
    assert release.certificate["labels"]["column"] == "cluster_"


def test_the_reports_show_them(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="labels"):
        release = sf.publish(ROWS, recipe(sf.Microaggregate(), PLAIN))
    folder = release.write(tmp_path / "out")
    public = (folder / "report.html").read_text(encoding="utf-8")
    assert "The labels that go along" in public
    assert "nearest to centre 0" in public
    held = (tmp_path / "out.holder" / "report.html").read_text(encoding="utf-8")
    assert "age, education, country, cluster (nothing is claimed of these together)" in held
