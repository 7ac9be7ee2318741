"""Releases stay what they were: mask, table, claims and scores of many recipes, and whole folders of earlier code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from tests.golden.frozen.figures import differences, figures_of
from tests.golden.frozen.freeze import figures, frozen
from tests.golden.frozen.kept_folders import FOLDERS, KEPT
from tests.golden.frozen.recipes import CASES

MASKERS = {"partition", "top_down", "mondrian", "genetic", "microaggregate", "wf_c_means", "mdav", "linkage"} | {
    *("private_tree", "dp_heter", "translate", "scale", "rotate", "hybrid", "add_noise")
}
BY_MACHINE = ("top_down_density_noise",)
"""Clusters of a library whose ties fall otherwise on another processor: mask and table stay, scores do not."""
FORMAT = 2
"""Of the folders that are kept."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if case.quick else pytest.mark.slow) for name, case in CASES.items()]
)
def test_a_release_is_what_it_was(name: str) -> None:
    before, after = frozen()[name], figures(name)
    if name in BY_MACHINE:
        before, after = (
            {at: {**of, "scores": {}, "history": {}} for at, of in some.items()} for some in (before, after)
        )
    found = differences(before, after)
    assert not found, "\n".join([f"{name}: {len(found)} differences", *found[:40]])


def test_every_masker_and_both_formats_are_frozen() -> None:
    forms = [form["certificate"] for releases in frozen().values() for form in releases.values()]
    assert set(frozen()) == set(CASES)
    assert {form["mask"] for form in forms} == MASKERS
    assert {form["table"]["file"] for form in forms} == {"table.csv", "table.parquet"}


def _changed_cell(folder: Path) -> None:
    table = folder / "table.csv"
    header, first, *lines = table.read_text(encoding="utf-8").splitlines()
    swapped = first.replace("Female", "~").replace("Male", "Female").replace("~", "Male")
    table.write_text("\n".join([header, swapped, *lines]) + "\n", encoding="utf-8")


def _changed_json(path: Path, change: Any) -> None:
    form = json.loads(path.read_text(encoding="utf-8"))
    change(form)
    path.write_text(json.dumps(form), encoding="utf-8")


def _with_holder(place: Path) -> Path:
    folder = place / "release"
    shutil.copytree(FOLDERS / "mondrian_csv" / "release", folder)
    holder = place / "release.holder"
    holder.mkdir()
    scores = {"scores": {"agreement": {"value": 0.5, "publishable": False}}}
    (holder / "evaluation.json").write_text(json.dumps(scores), encoding="utf-8")
    (holder / "history.json").write_text(json.dumps({"rounds": [{"gain": 0.25}]}), encoding="utf-8")
    return folder


def test_the_comparison_tells_what_changed(tmp_path: Path) -> None:
    folder = _with_holder(tmp_path)
    before = figures_of(folder)
    assert differences(before, figures_of(folder)) == []
    _changed_cell(folder)
    _changed_json(folder / "certificate.json", lambda form: form["claims"][0].update(achieved=99))
    holder = tmp_path / "release.holder"
    _changed_json(holder / "evaluation.json", lambda form: form["scores"]["agreement"].update(value=0.5001))
    _changed_json(holder / "history.json", lambda form: form["rounds"].append({}))
    found = [line.partition(":")[0] for line in differences(before, figures_of(folder))]
    assert "claims > 0 > achieved" in found
    assert "scores > scores > agreement > value" in found
    assert {"table > columns > sex", "table > digest"} < set(found)
    assert not any(path.startswith(("mask", "table > columns > age")) for path in found)


def test_the_day_of_a_release_is_no_figure(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(FOLDERS / "private_tree_csv" / "release", folder)
    holder = tmp_path / "release.holder"
    holder.mkdir()
    for name in ("evaluation.json", "history.json"):
        (holder / name).write_text("{}", encoding="utf-8")
    before = figures_of(folder)

    def another_day(form: Any) -> None:
        form["created"] = "2031-01-01T00:00:00+00:00"
        form["deployment"]["basic"]["publication_date"] = "2031-01-01"

    _changed_json(folder / "certificate.json", another_day)
    assert differences(before, figures_of(folder)) == []


def test_a_changed_mask_is_told_by_its_part(tmp_path: Path) -> None:
    folder = _with_holder(tmp_path)
    before = figures_of(folder)
    name = next(path.name for path in folder.glob("*.json") if path.name not in ("certificate.json", "centres.json"))
    _changed_json(folder / name, lambda form: form.update(more=1))
    assert [line for line in differences(before, figures_of(folder)) if f"mask > {name}" in line]


def test_last_digits_of_scores_may_differ_and_nothing_else() -> None:
    assert differences({"a": 1 / 3, "b": 2}, {"a": 0.333333, "b": 2}) == []
    assert differences({"a": 0.5, "b": 2}, {"a": 0.50001, "b": 3}) == [
        "a: before 0.5, after 0.50001",
        "b: before 2, after 3",
    ]
    assert differences({"a": True}, {"a": 1, "c": [0]}) == ["a: before True, after 1", "c > 0: before nothing, after 0"]


def holds_or_is_told(verdict: sf.Verdict) -> bool:
    """Whether a folder holds, or is refused for its format alone: which it has, and what cannot be promised of it."""
    if verdict.holds:
        return True
    told = [check.detail for check in verdict.failed]
    return len(told) == 1 and f"format {FORMAT}" in told[0] and "promised" in told[0]


@pytest.mark.parametrize("name", KEPT)
def test_a_folder_of_before_holds_or_is_told_by_its_format(name: str) -> None:
    folder = FOLDERS / name / "release"
    raw = FOLDERS / name / f"people.{KEPT[name].read}"
    assert holds_or_is_told(sf.verify(folder))
    assert holds_or_is_told(sf.verify(folder, raw=raw))


def test_a_damaged_folder_of_before_is_not_excused_by_its_format(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(FOLDERS / "mondrian_csv" / "release", folder)
    _changed_cell(folder)
    assert not holds_or_is_told(sf.verify(folder))


@pytest.mark.parametrize("name", ["top_down", "partition", "mondrian"])
def test_a_release_of_format_3_with_dates_and_minus_signs_holds(name: str, tmp_path: Path) -> None:
    """Written before dots stood between ends, and before releases had a datapackage.json."""
    shutil.copytree(FOLDERS / "format_3" / name, tmp_path, dirs_exist_ok=True)
    folder, raw = tmp_path / "release", FOLDERS / "format_3" / "people.parquet"
    assert sf.verify(folder).holds, str(sf.verify(folder))
    assert sf.verify(folder, raw=raw).holds, str(sf.verify(folder, raw=raw))
    people = sf.load(folder, kind="arrow")
    assert people.weights.min() >= 12
    ends = people.intervals("balance")
    assert all(-1000 <= one["low"] < one["high"] <= 1000 for one in ends.to_pylist())
    form = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    (folder / "certificate.json").write_text(json.dumps(form | {"format": 4}, indent=1), encoding="utf-8")
    assert not sf.verify(folder).holds, "its texts are not those of a later format"
