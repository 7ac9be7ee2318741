"""Publishing beside earlier releases, and verifying what is claimed of all of them together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.cli.summary import beside, recheck
from sfumato.data.grouping import group_sizes
from sfumato.privacy.several import anonymity
from sfumato.privacy.verify.folder import Folder
from sfumato.privacy.verify.raw.rows import read_raw
from sfumato.privacy.verify.several.joint_claims import check_several
from sfumato.privacy.verify.several.worlds import fewest
from sfumato.privacy.verify.verdict import CheckError
from sfumato.release.earlier import _side, views
from sfumato.release.reading import read_recoding

K = 4
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi"),
    sex=sf.Category(role="quasi"),
    town=sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree({"ANY": {"N": ["a", "b"], "S": ["c", "d", "e"]}})),
    disease=sf.Category(role="sensitive"),
)
ON = ("age", "sex", "town")


def people(seed: int, rows: int) -> pa.Table:
    drawn = np.random.default_rng(seed)
    columns = {
        "age": drawn.integers(20, 60, rows),
        "sex": drawn.choice(["f", "m", "x"], rows),
        "town": drawn.choice(list("abcde"), rows),
        "disease": drawn.choice(["flu", "cold"], rows),
    }
    return pa.table(columns)


def recipe(clusters: int = 2, earlier: Sequence[Path] = (), who: Literal["same", "growing"] = "same") -> sf.Recipe:
    beside = sf.Earlier(releases=tuple(str(folder) for folder in earlier), people=who) if earlier else None
    return sf.Recipe(
        schema=SCHEMA,
        structure=sf.Clusters("kmeans", k=clusters, seed=clusters),
        privacy=[sf.KAnonymity(ON, K)],
        mask=sf.TopDown(),
        earlier=beside,
    )


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> sf.Run:
    return sf.Run(report=False, ledger=sf.Ledger(tmp_path_factory.mktemp("ledger") / "ledger.jsonl"))


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory, quiet: sf.Run) -> list[Path]:
    """Three releases of a table that grows."""
    folder, table = tmp_path_factory.mktemp("growing"), people(5, 140)
    out: list[Path] = []
    for at, rows in enumerate((90, 100, 140)):
        run = replace(quiet, format="csv" if at == 1 else "parquet")
        made = sf.publish(table.slice(0, rows), recipe(2 + at, out, "growing"), run=run)
        out.append(made.write(folder / str(at)))
    return out


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory, quiet: sf.Run) -> list[Path]:
    """Two versions of one table."""
    folder, table = tmp_path_factory.mktemp("versions"), people(2, 200)
    first = sf.publish(table, recipe(2), run=quiet).write(folder / "2")
    return [first, sf.publish(table, recipe(3, [first]), run=quiet).write(folder / "3")]


def test_releases_of_a_growing_table_are_safe_together_and_verified(growing: list[Path]) -> None:
    for at in (1, 2):
        verdict = sf.verify(growing[at], others=growing[:at])
        assert verdict.holds, str(verdict)
        claim = json.loads((growing[at] / "certificate.json").read_text())["claims"][-1]
        assert claim["claim"] == "bcf_anonymity"
        assert claim["achieved"] >= K
        assert len(claim["with"]) == at
        assert "later releases contain the earlier people" in claim["sentence"]


def test_two_ways_of_counting_agree(growing: list[Path]) -> None:
    for chosen in ([0, 1], [0, 2], [1, 2], [0, 1, 2]):
        folders = [growing[at] for at in chosen]
        for on in (ON, ("age", "sex"), ("town",)):
            ours = anonymity(views([_side(folder, SCHEMA) for folder in folders]), on)
            assert ours == fewest([Folder(folder) for folder in folders], on)


def test_publishing_alone_would_not_be_safe(growing: list[Path], quiet: sf.Run, tmp_path: Path) -> None:
    run = replace(quiet, ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    alone = sf.publish(people(5, 140).slice(0, 100), recipe(3), run=run).write(tmp_path / "alone")
    assert fewest([Folder(growing[0]), Folder(alone)], ON) < K


def test_without_the_earlier_releases_the_claim_fails(growing: list[Path], versions: list[Path]) -> None:
    for folder in (growing[1], versions[1]):
        verdict = sf.verify(folder)
        assert [check.name.split(" on ")[0] for check in verdict.failed] in (["bcf_anonymity"], ["joint_k_anonymity"])
        assert "--with" in verdict.failed[0].detail
    assert "is not among those given" in sf.verify(growing[2], others=growing[:1]).failed[0].detail


def test_whoever_is_told_to_check_is_told_what_it_takes(growing: list[Path]) -> None:
    assert recheck(recipe(3, growing[:2], "growing"), Path("out")) == (
        f"sfumato verify out --with {growing[0]} --with {growing[1]}"
    )
    assert recheck(recipe(), Path("out")) == "sfumato verify out"
    alone, beside = ((folder / "README.md").read_text() for folder in growing[:2])
    assert "nothing but this folder" in alone
    assert "nothing but this folder" not in beside
    assert "--with FOLDER" in beside


def test_a_release_beside_earlier_ones_is_loaded_and_copied_with_them(growing: list[Path], tmp_path: Path) -> None:
    with pytest.raises(sf.ReleaseError, match="others="):
        sf.load(growing[1])
    assert len(sf.load(growing[1], others=growing[:1])) == 100
    copy, target = ["copy", str(growing[1])], tmp_path / "copy.csv"
    alone = CliRunner().invoke(app, [*copy, str(target)])
    assert alone.exit_code != 0
    assert "--with FOLDER" in str(alone.exception)
    assert "verify=False" not in str(alone.exception)
    told = beside(recipe(3, growing[:1], "growing")).split()
    for where in (str(target), f"sqlite:///{tmp_path}/copy.db?table=people"):
        assert CliRunner().invoke(app, [*copy, where, *told]).exit_code == 0, where


def test_the_certificate_for_people_names_the_earlier_ones(growing: list[Path]) -> None:
    earlier = hashlib.sha256((growing[0] / "certificate.json").read_bytes()).hexdigest()
    page = (growing[1] / "certificate.md").read_text()
    assert f"with the certificate {earlier}" in page
    assert '"sha256"' not in page


def test_versions_of_one_table_are_safe_even_joined(versions: list[Path]) -> None:
    table = people(2, 200)
    verdict = sf.verify(versions[1], others=versions[:1], raw=table)
    assert verdict.holds, str(verdict)
    raw = sf.read(table, SCHEMA)
    masked = [read_recoding(folder).apply(raw) for folder in versions]
    smallest = group_sizes([columns[name].keys for columns in masked for name in ON], raw.rows).min()
    claim = json.loads((versions[1] / "certificate.json").read_text())["claims"][-1]
    assert claim["achieved"] == smallest >= K
    unseen = sf.verify(versions[1], others=versions[:1])
    assert [check.name.split(" on ")[0] for check in unseen.failed] == ["joint_k_anonymity"]
    assert "--raw" in unseen.failed[0].detail, "what cannot be counted is not called true"


WRONG: list[dict[str, Any]] = [
    {"people": "others"},
    {"with": []},
    {"more": 1},
    {"with": [{"sha256": "0", "created": "2026"}]},
    {"k": 0},
]


@pytest.mark.parametrize("kind", ["growing", "same"])
def test_a_claim_that_says_more_is_not_believed(kind: str, versions: list[Path], growing: list[Path]) -> None:
    folders = growing[:2] if kind == "growing" else versions
    release, raw = Folder(folders[1]), read_raw(people(2, 200), missing=()) if kind == "same" else None
    claim = release.certificate.claims[-1]
    achieved = claim["achieved"]
    assert isinstance(achieved, int)
    for wrong in ({"k": achieved + 1}, {"achieved": achieved + 1}, *WRONG):
        with pytest.raises(CheckError):
            check_several(release, {**claim, **wrong}, folders[:1], raw)


def test_another_table_is_refused_with_a_remedy(versions: list[Path], growing: list[Path], quiet: sf.Run) -> None:
    for table in (people(2, 199), people(3, 200)):
        with pytest.raises(sf.ReleaseError, match="people: growing"):
            sf.publish(table, recipe(3, versions[:1]), run=quiet)
    other = replace(quiet, ledger=sf.Ledger(growing[0].parent / "other.jsonl"))
    with pytest.raises(sf.ReleaseError, match="must contain all people"):
        sf.publish(people(9, 40), recipe(2, growing[:1], "growing"), run=other)


def test_a_table_that_lost_people_or_changed_values_has_not_grown(growing: list[Path], quiet: sf.Run) -> None:
    """Which no groups need show: the ledger knows of rows that are not there any more."""
    table = people(5, 140)
    fewer = pa.concat_tables([table.slice(0, 30), table.slice(32)])
    changed = table.set_column(3, "disease", pa.array(["none", *table["disease"].to_pylist()[1:]]))
    for other in (fewer, changed):
        with pytest.raises(
            sf.ReleaseError, match=r"people left, or values changed, since .*0: about \d\.\d% of"
        ) as caught:
            sf.publish(other, recipe(2, growing[:1], "growing"), run=quiet)
        assert "budget" in caught.value.remedy
    told = replace(recipe(2, growing[:1], "growing"), people="them", i_understand=["several_releases"])
    with pytest.warns(UserWarning, match="people left, or values changed"):
        sf.publish(fewer, told, run=quiet)
    look = quiet.ledger.look
    assert look(table).gone(look(table.slice(0, 90))) == 0.0
    assert look(table.slice(45)).gone(look(table.slice(0, 90))) == pytest.approx(0.5, abs=0.05)
    assert look(fewer.append_column("more", fewer["disease"])).gone(look(table)) == 0.0, (
        "other columns: nothing is known"
    )


def test_only_releases_by_top_down_can_be_followed(tmp_path: Path, quiet: sf.Run) -> None:
    first = sf.publish(people(5, 140).slice(0, 90), replace(recipe(), mask=sf.Partition()), run=quiet).write(
        tmp_path / "first"
    )
    with pytest.raises(sf.ReleaseError) as caught:
        sf.publish(people(5, 140), recipe(2, [first], "growing"), run=quiet)
    assert "by top_down" in caught.value.rule
    assert caught.value.given == "one by partition"
    assert "budget" in caught.value.remedy


def test_a_column_masked_then_and_bare_now_is_refused(growing: list[Path], quiet: sf.Run) -> None:
    bare = sf.Schema({**SCHEMA, "sex": sf.Category(role="plain")})
    asked = replace(recipe(2, growing[:1], "growing"), schema=bare, privacy=[sf.KAnonymity(["age", "town"], K)])
    with pytest.raises(sf.ReleaseError, match="no other shows as it is"):
        sf.publish(people(5, 140), asked, run=quiet)


def test_who_knows_the_labels_behind_a_star_is_minded_too(quiet: sf.Run, tmp_path: Path) -> None:
    """Then p and q are shown, r and s are behind `*`; now r and s would be, p and q behind it. Whoever knows that there
    is nobody else knows that all four of then are r or s now, which leaves one newcomer among three s. Whoever does not
    may think them behind the new `*`."""
    schema = sf.Schema(a=sf.Category(role="quasi"), ill=sf.Category(role="sensitive"))
    then = ["p0", "p0", "p1", "p1", "q0", "q0", "q1", "q1", "r0", "r0", "s1", "s1"]
    now = [*then, *then[:8], "s1"]
    plain = sf.Recipe(schema=schema, structure=sf.Classes("ill"), privacy=[sf.KAnonymity(["a"], 4)], mask=sf.TopDown())
    two = replace(plain, privacy=[sf.KAnonymity(["a"], 2)], mask=sf.TopDown(score="infogain", max_steps=2))

    def published(rows: list[str], how: sf.Recipe, name: str) -> Path:
        table = pa.table({"a": [row[0] for row in rows], "ill": [row[1] for row in rows]})
        return sf.publish(table, how, run=quiet).write(tmp_path / name)

    def left(second: Path, **knows: Any) -> int:
        return anonymity(views([_side(first, schema), _side(second, schema)], **knows), ("a",))

    first = published(then, plain, "first")
    alone = published(now, two, "alone")
    assert left(alone) == 2
    assert left(alone, domains={"a": ("p", "q", "r", "s")}) == 1
    beside = published(now, replace(two, earlier=sf.Earlier(releases=(str(first),), people="growing")), "beside")
    assert left(beside, domains={"a": ("p", "q", "r", "s")}) >= 2
