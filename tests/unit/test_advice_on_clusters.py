"""Where clusters are not kept, a sentence says so and what helps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.schema import Role
from sfumato.evaluation.advice import advice_on_clusters


def scores(**figures: float) -> dict[str, object]:
    names = {name.replace("__", "."): {"value": value} for name, value in figures.items()}
    return {"scores": names, "settings": {"options_masked": {"eps": 0.12}}}


def test_blind_masking_that_keeps_more_is_told() -> None:
    lost = scores(f_measure__start=0.1, distortion__f_measure__start=0.31)
    assert "fewer clusters" in (advice_on_clusters(sf.Clusters("kmeans", k=300), lost) or "")
    kept = scores(f_measure__start=0.31, distortion__f_measure__start=0.31)
    assert advice_on_clusters(sf.Clusters("kmeans", k=300), kept) is None
    assert advice_on_clusters(None, lost) is None


def test_clusters_by_density_that_are_lost_are_told_with_the_options() -> None:
    lost = scores(f_measure__cold__mean=0.24, f_measure__ceiling__mean=1.0)
    told = advice_on_clusters(sf.Clusters("dbscan"), lost) or ""
    assert "eps: 0.12" in told
    assert "clusters(by_density='dbscan')" in told
    assert advice_on_clusters(sf.Clusters("kmeans", k=3), lost) is None


def test_clusters_that_the_raw_table_does_not_have_are_told() -> None:
    unclear = scores(f_measure__cold__mean=0.7, f_measure__ceiling__mean=0.71)
    told = advice_on_clusters(sf.Clusters("kmeans", k=4), unclear) or ""
    assert told.startswith("the table has no clear 4 clusters: ")
    assert "(F-measure 0.71)" in told
    assert "k: auto tries 2 to 10" in told
    assert "k: auto" not in (advice_on_clusters(sf.Clusters("kmeans", k="auto"), unclear) or "")


def test_dbscan_is_found_again_with_the_gap_of_the_masked_table() -> None:
    drawn = np.random.default_rng(0)
    at = drawn.integers(0, 3, 600)
    where = np.array([[10, 10], [50, 20], [30, 60]])[at] + drawn.normal(0, 2, (600, 2))
    table = pa.table({"x": where[:, 0].round(1), "y": where[:, 1].round(1)})
    number = sf.Number(role="quasi", range=(-20, 100))
    recipe = sf.Recipe(
        schema=sf.Schema(x=number, y=number),
        structure=sf.Clusters("dbscan"),
        privacy=[sf.KAnonymity(on=["x", "y"], k=5)],
    )
    with pytest.warns() as seen:
        found = sf.publish(table, recipe, run=sf.Run(report=False)).scores
    assert found["settings"]["eps"] > 0
    assert found["scores"]["f_measure.cold.mean"]["value"] > 0.8, [str(one.message) for one in seen]


def two_groups(role: Role) -> sf.Release:
    """Clusters that `place` alone tells; `role`: how it goes out."""
    drawn = np.random.default_rng(0)
    table = pa.table(
        {"age": drawn.integers(20, 80, 300), "place": drawn.permutation(["north"] * 150 + ["south"] * 150)}
    )
    schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), place=sf.Category(role=role))
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=2),
        privacy=[sf.KAnonymity(on=schema.quasi, k=5)],
    )
    return sf.publish(table, recipe)


def test_clusters_that_no_masking_can_hurt_are_told_with_their_columns() -> None:
    with pytest.warns(UserWarning, match=r'"place" goes out as it is, and the clusters are found from it alone'):
        release = two_groups("plain")
    assert release.scores["scores"]["f_measure.floor.top"]["value"] == 1.0
    assert release.scores["found_unmasked"] == ["place"]
    assert "Let the clusters be those of what is masked" in (release.report or "")
    short = release.papers["report_short.html"]
    for page in (short, release.report or ""):
        assert "Verified, but the clusters are found from &quot;place&quot; alone" in page
        assert "clusters are found again" not in page.partition("</p>")[0]
    assert "F-measure" not in short
    assert "the clusters are found from" in repr(release)


def test_clusters_of_what_is_masked_are_told_nothing(recwarn: pytest.WarningsRecorder) -> None:
    release = two_groups("quasi")
    assert "found_unmasked" not in release.scores
    assert not [one for one in recwarn if "found from" in str(one.message)]


def test_of_the_table_of_the_demo_nothing_is_told(recwarn: pytest.WarningsRecorder) -> None:
    adult = sf.datasets.load("adult", complete=True)
    some = adult.table.slice(0, 2000)
    recipe = sf.Recipe(
        schema=adult.schema,
        structure=sf.Clusters("kmeans", k=6),
        privacy=[sf.KAnonymity(on=adult.schema.quasi, k=20)],
    )
    release = sf.publish(some, recipe, run=sf.Run(report=False))
    assert "found_unmasked" not in release.scores
    assert not [one for one in recwarn if "found from" in str(one.message)]
