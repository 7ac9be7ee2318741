"""Whatever is changed in a release, and however: it no longer holds, and verify never falls over."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import ReleaseError
from sfumato.privacy.verify import CLAIMS, verify
from sfumato.privacy.verify.files.regular_files import SIGNATURE
from sfumato.privacy.verify.folder import Folder
from sfumato.privacy.verify.signature import check_signature, read_public_key
from sfumato.privacy.verify.verdict import run
from tests.corruptions import forge, read_rows, still_true, write_rows
from tests.outcomes import KINDS, PAGES, outcome_of, still_beside
from tests.releases import BESIDE, IN_POPULATION, SIGNED, given_with, release_of, untouched

if TYPE_CHECKING:
    from tests.conftest import Blueprint

MASKED = ["age", "education", "country", "born"]
ON = ["age", "education"]
ROWS = st.integers(0, 239)
FILES = ["table.parquet", "recoding.json", "taxonomies/education.json", "README.md", "certificate.json"]


ORIGINALS: dict[bool, tempfile.TemporaryDirectory[str]] = {}
"""The release with its holder's folder, as CSV or not: written once, and copied for every example."""


@contextmanager
def written(blueprint: Blueprint, *, csv: bool = False) -> Iterator[Path]:
    if csv not in ORIGINALS:
        ORIGINALS[csv] = tempfile.TemporaryDirectory()
        original = Path(ORIGINALS[csv].name) / "out"
        _ = blueprint.write_csv(original) if csv else blueprint.write(original)
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(ORIGINALS[csv].name, place, dirs_exist_ok=True)
        yield Path(place) / "out"


def rows_of(blueprint: Blueprint) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = blueprint.table().to_pylist()
    return rows


def put(blueprint: Blueprint, folder: Path, rows: list[dict[str, Any]]) -> None:
    """What a forger does: a clean file, and a certificate that fits it as far as hashes and rows go."""
    blueprint.replace(folder, blueprint.encoded(pa.Table.from_pylist(rows)))


@pytest.mark.parametrize("csv", [False, True])
def test_untampered_it_holds(csv: bool, blueprint: Blueprint) -> None:
    with written(blueprint, csv=csv) as folder:
        assert verify(folder).holds
        assert verify(folder, raw=blueprint.raw_table()).holds


@settings(max_examples=20, deadline=None)
@given(row=ROWS, column=st.sampled_from(MASKED), donor=ROWS)
def test_one_cell_that_another_record_shows(blueprint: Blueprint, row: int, column: str, donor: int) -> None:
    rows = rows_of(blueprint)
    if rows[row][column] == rows[donor][column]:
        return
    rows[row][column] = rows[donor][column]
    with written(blueprint) as folder:
        put(blueprint, folder, rows)
        assert not verify(folder, raw=blueprint.raw_table()).holds


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(row=ROWS, column=st.sampled_from(["age", "education", "country"]))
def test_one_raw_value_restored(blueprint: Blueprint, row: int, column: str) -> None:
    raw, shown = [dict(person) for person in blueprint.raw], [dict(record) for record in blueprint.shown]
    value = raw[row][column]
    if value is None or str(value) == shown[row][column]:
        return
    shown[row][column] = str(value)
    with written(blueprint) as folder:
        put(blueprint, folder, shown)
        assert "shown values" in {check.name for check in verify(folder).failed}


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(pick=st.integers(0, 10**6))
def test_a_group_loses_one_record_or_one_record_moves(blueprint: Blueprint, pick: int) -> None:
    rows = rows_of(blueprint)
    sizes = Counter(tuple(row[name] for name in ON) for row in rows)
    smallest = min(sizes, key=lambda group: sizes[group])
    members = [at for at, row in enumerate(rows) if tuple(row[name] for name in ON) == smallest]
    victim = members[pick % len(members)]
    fewer = rows[:victim] + rows[victim + 1 :]
    largest = max(sizes, key=lambda group: sizes[group])
    moved = [dict(row) for row in rows]
    moved[victim].update(zip(ON, largest, strict=True))
    for changed in (fewer, moved):
        with written(blueprint) as folder:
            put(blueprint, folder, changed)
            assert 'k_anonymity on "age", "education"' in {check.name for check in verify(folder).failed}


@settings(max_examples=30, deadline=None)
@given(file=st.sampled_from(FILES[:-1]), at=st.integers(0, 10**6), byte=st.integers(1, 255))
def test_any_changed_byte_fails(blueprint: Blueprint, file: str, at: int, byte: int) -> None:
    with written(blueprint) as folder:
        content = bytearray((folder / file).read_bytes())
        content[at % len(content)] ^= byte
        (folder / file).write_bytes(content)
        assert "hashes" in {check.name for check in verify(folder).failed}


@settings(max_examples=40, deadline=None)
@given(
    file=st.sampled_from(FILES),
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=9),
    end=st.none() | st.integers(0, 10**6),
)
def test_no_damage_makes_verify_fall_over(
    blueprint: Blueprint, file: str, changes: list[tuple[int, int]], end: int | None
) -> None:
    with written(blueprint) as folder:
        content = bytearray((folder / file).read_bytes())
        for at, byte in changes:
            content[at % len(content)] = byte
        (folder / file).write_bytes(content if end is None else content[: end % len(content)])
        if file != "certificate.json":
            blueprint.rehash(folder)
        assert len(verify(folder, raw=blueprint.raw_table()).checks) > 10


def test_another_taxonomy_fails(blueprint: Blueprint) -> None:
    with written(blueprint) as folder:
        swapped = {"below": ["Bachelors", {"label": None, "below": ["Graduate", "Secondary"]}, "PhD"]}
        blueprint.edit(folder, "taxonomies/education.json", lambda tree: tree.update(swapped), rehash=False)
        assert not verify(folder).holds
        blueprint.rehash(folder)
        assert not verify(folder, raw=blueprint.raw_table()).holds


def test_another_column_fails(blueprint: Blueprint) -> None:
    with written(blueprint) as folder:
        rows = [{**row, "name": "x"} for row in rows_of(blueprint)]
        put(blueprint, folder, rows)
        assert "columns" in {check.name for check in verify(folder).failed}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [range(9), pytest.param(range(9, 18), marks=pytest.mark.slow)], ids=["few", "more"])
def test_random_corruptions_are_caught_or_change_nothing_that_is_claimed(seeds: range, kind: str) -> None:
    found = [outcome_of(kind, seed) for seed in seeds]
    assert [one for one in found if one.holds and not one.harmless] == []
    assert sum(not one.holds for one in found) >= 3, "most damage is caught"


@pytest.mark.parametrize("kind", KINDS)
def test_undamaged_they_hold(kind: str) -> None:
    verdict = verify(untouched(kind), **given_with(kind))
    assert verdict.holds, str(verdict)


@pytest.mark.parametrize("kind", [BESIDE, IN_POPULATION])
def test_who_is_not_given_what_it_takes_does_not_believe(kind: str) -> None:
    assert not verify(untouched(kind)).holds


@pytest.mark.parametrize("file", [*FILES, *PAGES, SIGNATURE])
def test_no_file_of_a_signed_release_can_go_or_change(file: str, tmp_path: Path) -> None:
    folder = release_of(SIGNED, tmp_path / "out")
    content = bytearray((folder / file).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / file).write_bytes(content)
    assert not verify(folder, **given_with(SIGNED)).holds
    (folder / file).unlink()
    if file == "certificate.json":
        with pytest.raises(ReleaseError):
            verify(folder, **given_with(SIGNED))
    else:
        assert verify(folder, **given_with(SIGNED)).holds == (file in PAGES)


def test_any_changed_character_of_a_signature_fails(tmp_path: Path) -> None:
    """Also the bits that base64 leaves over."""
    folder = release_of(SIGNED, tmp_path / "out")
    content, key = (folder / SIGNATURE).read_bytes(), read_public_key(given_with(SIGNED)["key"])
    check_signature(Folder(folder), key)
    for at, byte in enumerate(content):
        if not bytes([byte]).isspace():
            for other in {byte ^ 1, byte + 1}:
                (folder / SIGNATURE).write_bytes(content[:at] + bytes([other]) + content[at + 1 :])
                assert not run("signature", lambda: check_signature(Folder(folder), key)).holds, at


@pytest.mark.parametrize("kind", [BESIDE, IN_POPULATION])
def test_what_others_hold_is_compared(kind: str, tmp_path: Path) -> None:
    """The measurement can fail: one record shows what none showed before."""
    folder = release_of(kind, tmp_path / "out")
    assert still_beside(kind, folder)
    rows = read_rows(folder)
    rows[0]["disease" if kind == BESIDE else "age"] = "none"
    write_rows(folder, rows, list(rows[0]))
    assert not still_beside(kind, folder)


def test_the_time_of_an_earlier_release_is_not_believed_either(tmp_path: Path) -> None:
    folder = release_of(BESIDE, tmp_path / "out")
    form = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    for claim in form["claims"]:
        for listed in claim.get("with", ()):
            listed["created"] = "1999-01-01T00:00:00+00:00"
    (folder / "certificate.json").write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    forge(folder)
    failed = {check.name.split(" on ")[0] for check in verify(folder, **given_with(BESIDE)).failed}
    assert failed == {"joint_k_anonymity"}


@pytest.mark.parametrize("kind", ["k_anonymity", "recursive", "ordered", "lkc", "mondrian", "partition"])
def test_the_measurement_can_fail(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One record is left of a group. verify finds it, and the recount finds a verify that does not count."""
    folder = release_of(kind, tmp_path / "out")
    before = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    on, rows = before["claims"][0]["on"], read_rows(folder)
    lone = next(row for row in rows if row["disease"] == "flu")
    left = [row for row in rows if row is lone or any(row[name] != lone[name] for name in on)]
    write_rows(folder, left, list(lone))
    forge(folder)
    assert not verify(folder).holds
    for claim in CLAIMS:
        monkeypatch.setitem(CLAIMS, claim, lambda table, claim: "seen")
    assert not [check.name for check in verify(folder).failed if " on " in check.name], "claims are not counted now"
    assert not still_true(folder, before)
