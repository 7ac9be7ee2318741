"""Regions and centres: the table shows what their files list, whatever a forger makes fit besides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.privacy.verify import verify
from tests.corruptions import forge, read_rows, write_rows
from tests.releases import release_of

Form = dict[str, Any]


def failed(folder: Path) -> set[str]:
    return {check.name for check in verify(folder).failed}


def edit(folder: Path, file: str, change: Callable[[Form], object]) -> None:
    path = folder / file
    form = json.loads(path.read_text(encoding="utf-8"))
    change(form)
    path.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    forge(folder)


def leaf(form: Form) -> Form:
    return next(node for node in form["nodes"] if "shown" in node and node["shown"]["age"] != "[17-90]")


def branch(form: Form, kind: str = "") -> Form:
    return next(node for node in form["nodes"] if "below" in node and node["cut"].startswith(kind))


REGIONS: dict[str, Callable[[Form], object]] = {
    "no leaf": lambda form: form.update(nodes=[]),
    "another tree": lambda form: branch(form).update(below=[0, 0]),
    "no numbers below": lambda form: branch(form).update(below=["1", "2"]),
    "an unknown cut": lambda form: branch(form).update(cut="somehow"),
    "a cut along a stranger": lambda form: branch(form).update(attribute="hours"),
    "raw values beside a leaf": lambda form: leaf(form).update(people=[17, 23]),
    "raw values beside a cut": lambda form: branch(form).update(people=[17, 23]),
    "raw values beside all": lambda form: form.update(people=[17, 23]),
    "raw values beside an axis": lambda form: form["attributes"]["age"].update(people=[17, 23]),
    "a leaf of fewer columns": lambda form: leaf(form)["shown"].pop("age"),
    "a leaf of numbers": lambda form: leaf(form)["shown"].update(age=3),
    "a leaf of another interval": lambda form: leaf(form)["shown"].update(age="[17-89]"),
    "a leaf in another order": lambda form: leaf(form).update(shown=dict(reversed(leaf(form)["shown"].items()))),
    "other columns": lambda form: form["attributes"].pop("age"),
    "columns in another order": lambda form: form.update(attributes=dict(reversed(form["attributes"].items()))),
    "a cut elsewhere": lambda form: branch(form, "below").update(at=18),
    "a cut outside": lambda form: branch(form, "below").update(at=91),
    "a cut with a point": lambda form: branch(form, "below").update(at=float(branch(form, "below")["at"])),
    "an empty part of a number": lambda form: branch(form, "below").update(
        below=[branch(form, "below")["below"][0], None]
    ),
    "parts in another order": lambda form: branch(form, "labels").update(
        labels=branch(form, "labels")["labels"][::-1], below=branch(form, "labels")["below"][::-1]
    ),
    "missing values where there are none": lambda form: form["attributes"]["age"].update(missing=True),
    "another range": lambda form: form["attributes"]["age"].update(range=[17, 91]),
}


@pytest.mark.parametrize("name", REGIONS)
def test_changed_regions_fail(name: str, tmp_path: Path) -> None:
    folder = release_of("mondrian", tmp_path / "out")
    assert failed(folder) == set()
    edit(folder, "regions.json", REGIONS[name])
    assert "regions and centres" in failed(folder)


def test_a_region_of_nobody_is_found(tmp_path: Path) -> None:
    """Raw rows told as empty regions: the table shows every region, and no cut has an empty one."""

    def split(form: Form) -> None:
        form["nodes"].append({"shown": leaf(form)["shown"] | {"age": "[17-18)"}})
        last = max(at for at, node in enumerate(form["nodes"]) if "below" in node)
        form["nodes"][last]["below"].append(len(form["nodes"]) - 1)

    folder = release_of("mondrian", tmp_path / "out")
    edit(folder, "regions.json", split)
    assert "regions and centres" in failed(folder)


def test_a_combination_of_two_regions_is_no_region(tmp_path: Path) -> None:
    folder = release_of("mondrian", tmp_path / "out")
    rows = read_rows(folder)
    regions = {(row["age"], row["education"], row["country"]) for row in rows}
    strange = next(
        (a, b, c)
        for a, _, _ in sorted(regions, key=str)
        for _, b, c in sorted(regions, key=str)
        if (a, b, c) not in regions and not _listed(folder, (a, b, c))
    )
    for row in rows[:20]:
        row["age"], row["education"], row["country"] = strange
    write_rows(folder, rows, list(rows[0]))
    forge(folder)
    assert "regions and centres" in failed(folder)


def _listed(folder: Path, shown: tuple[Any, ...]) -> bool:
    nodes = json.loads((folder / "regions.json").read_text(encoding="utf-8"))["nodes"]
    leaves = [node["shown"] for node in nodes if "shown" in node]
    return any((leaf["age"], leaf["education"], leaf["country"]) == shown for leaf in leaves)


CENTRES: dict[str, Callable[[Form], object]] = {
    "another size": lambda form: form["sizes"].__setitem__(0, form["sizes"][0] + 1),
    "a size moved": lambda form: form["sizes"].__setitem__(slice(0, 2), [form["sizes"][0] - 1, form["sizes"][1] + 1]),
    "a class of nobody": lambda form: [
        form["sizes"].append(0),
        *(part["centres"].append(part["centres"][0]) for part in form["attributes"].values()),
    ],
    "a size less": lambda form: form["sizes"].pop(),
    "another centre": lambda form: form["attributes"]["age"]["centres"].__setitem__(0, 18),
    "a centre that is no number": lambda form: form["attributes"]["age"]["centres"].__setitem__(0, "old"),
    "another kind": lambda form: form["attributes"]["age"].update(kind="vague"),
    "a calendar": lambda form: form["attributes"]["age"].update(calendar="year"),
    "other columns": lambda form: form["attributes"].pop("age"),
    "raw values beside": lambda form: form.update(people=[17, 23]),
    "another rule for missing numbers": lambda form: form.update(missing="guess"),
}


@pytest.mark.parametrize("name", CENTRES)
def test_changed_centres_fail(name: str, tmp_path: Path) -> None:
    folder = release_of("microaggregate", tmp_path / "out")
    assert failed(folder) == set()
    edit(folder, "centroids.json", CENTRES[name])
    assert "regions and centres" in failed(folder)


def test_a_record_that_moves_to_another_centre_is_found(tmp_path: Path) -> None:
    folder = release_of("microaggregate", tmp_path / "out")
    rows = read_rows(folder)
    one = rows[0]
    other = next(row for row in rows if row["age"] != one["age"])
    one.update({name: other[name] for name in ("age", "education", "country")})
    write_rows(folder, rows, list(one))
    forge(folder)
    assert "regions and centres" in failed(folder)


def test_the_file_goes_with_the_columns(tmp_path: Path) -> None:
    folder = release_of("mondrian", tmp_path / "out")
    (folder / "regions.json").unlink()
    forge(folder)
    assert "regions and centres" in failed(folder)
    other = release_of("k_anonymity", tmp_path / "other")
    (other / "regions.json").write_text('{"attributes": ["age"], "top": {}, "nodes": []}', encoding="utf-8")
    forge(other)
    assert "regions and centres" in failed(other)
