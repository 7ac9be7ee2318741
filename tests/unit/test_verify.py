"""verify on whole folders: what holds, what does not, and that each broken thing is told by its own check."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import ReleaseError
from sfumato.privacy.verify import CLAIMS, Verdict, verify
from sfumato.privacy.verify.canonical import FORMAT
from sfumato.privacy.verify.claims import check_k_anonymity
from sfumato.privacy.verify.terms import REACHED, TERMS
from sfumato.privacy.verify.texts.wording import ATTACKERS, SENTENCES
from sfumato.privacy.verify.verdict import CheckError, Idle, run, verdict_of

if TYPE_CHECKING:
    from tests.conftest import Blueprint

Form = dict[str, Any]


def failed(verdict: Verdict) -> set[str]:
    return {check.name.split(" on ")[0] for check in verdict.failed}


def test_a_good_release_holds(blueprint: Blueprint, tmp_path: Path) -> None:
    verdict = verify(blueprint.write(tmp_path / "out"))
    assert verdict.holds, str(verdict)
    assert bool(verdict)
    assert len(verdict.checks) == 26


def test_a_good_csv_release_holds(blueprint: Blueprint, tmp_path: Path) -> None:
    verdict = verify(blueprint.write_csv(tmp_path / "out"))
    assert verdict.holds, str(verdict)


def test_the_public_name_is_the_same() -> None:
    assert sf.verify is verify
    assert sf.Verdict is Verdict


def test_what_is_no_release_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError):
        verify(tmp_path)
    with pytest.raises(ReleaseError):
        verify(tmp_path / "nowhere")


def test_a_verdict_without_checks_does_not_hold() -> None:
    assert not verdict_of([])


# What somebody changes in the certificate, and the check that notices; the hashes fit again each time.
CERTIFICATES: dict[str, tuple[Callable[[Form], object], str]] = {
    "format": (lambda c: c.update(format=FORMAT + 1), "certificate"),
    "an earlier format": (lambda c: c.update(format=1), "format"),
    "format is true": (lambda c: c.update(format=True), "certificate"),
    "no claims": (lambda c: c.update(claims=[]), "certificate"),
    "unknown claim": (lambda c: c["claims"].append({"claim": "magic", "on": ["age"], "achieved": 1}), "certificate"),
    "another guarantee": (lambda c: c.update(guarantee="differential_privacy"), "certificate"),
    "no statement": (lambda c: c.pop("statement"), "certificate"),
    "negative lifted": (lambda c: c.update(lifted=-1), "certificate"),
    "unknown order": (lambda c: c.update(row_order="sorted"), "certificate"),
    "an identifier's role": (lambda c: c["table"]["columns"][0].update(role="identifier"), "certificate"),
    "k lowered": (lambda c: c["claims"][0].update(k=1), "statement"),
    "another statement": (lambda c: c.update(statement=c["statement"] + "!"), "statement"),
    "k raised": (lambda c: c["claims"][0].update(k=100), "k_anonymity"),
    "achieved raised": (lambda c: c["claims"][0].update(achieved=100), "k_anonymity"),
    "achieved lowered": (lambda c: c["claims"][0].update(achieved=2), "k_anonymity"),
    "achieved gone": (lambda c: c["claims"][0].pop("achieved"), "certificate"),
    "k is a text": (lambda c: c["claims"][0].update(k="3"), "k_anonymity"),
    "k is zero": (lambda c: c["claims"][0].update(k=0), "k_anonymity"),
    "on nothing": (lambda c: c["claims"][0].update(on=[]), "k_anonymity"),
    "on a column twice": (lambda c: c["claims"][0].update(on=["age", "age"]), "k_anonymity"),
    "on no column": (lambda c: c["claims"][0].update(on=["shoes"]), "k_anonymity"),
    "a condition": (lambda c: c["claims"][0].update(except_for=["x"]), "k_anonymity"),
    "covered k raised": (lambda c: c["covered"][0].update(k=100), "covered: k_anonymity"),
    "covered with a larger k": (lambda c: c["covered"][0].update(k=10), "covered: k_anonymity"),
    "covered by a false claim": (
        lambda c: [c["claims"][0].update(k=100), c["covered"][0].update(k=50)],
        "covered: k_anonymity",
    ),
    "covered by a stranger": (lambda c: c["covered"][0].update(by=["income"]), "covered: k_anonymity"),
    "covered by itself": (lambda c: c["covered"][0].update(by=["age"]), "covered: k_anonymity"),
    "rows": (lambda c: c["table"].update(rows=239), "rows"),
    "columns swapped": (lambda c: c["table"]["columns"].reverse(), "columns"),
    "a column less": (lambda c: c["table"]["columns"].pop(), "columns"),
    "names of what was left out": (lambda c: c.update(dropped=["name"]), "certificate"),
    "a quasi-identifier called plain": (lambda c: c["table"]["columns"][0].update(role="plain"), "masking"),
    "another kind of mask": (lambda c: c["table"]["columns"][0].update(masked="suppress"), "masking"),
    "an unmasked quasi-identifier": (lambda c: c["table"]["columns"][4].update(role="quasi"), "masking"),
    "a quasi-identifier in no claim": (lambda c: c["claims"].pop(), "masking"),
    "a claim on what is not masked": (lambda c: c["claims"][0]["on"].append("income"), "masking"),
    "lifted": (lambda c: c.update(lifted=7), "lifted"),
    "a file that is not there": (lambda c: c["files"].update({"x.json": {"sha256": ""}}), "files"),
    "a file less": (lambda c: c["files"].pop("README.md"), "files"),
    "a file outside": (lambda c: c["files"].update({"../x": {"sha256": ""}}), "files"),
    "another table": (lambda c: c["table"].update(file="README.md"), "certificate"),
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_changed_certificate_fails(name: str, blueprint: Blueprint, tmp_path: Path) -> None:
    change, check = CERTIFICATES[name]
    folder = blueprint.write(tmp_path / "out")
    blueprint.edit(folder, "certificate.json", change, rehash=check != "files")
    assert check in failed(verify(folder))


RECODINGS: dict[str, tuple[Callable[[Form], object], str]] = {
    "a coarser cut": (lambda r: r["education"].update(cut=["ANY"]), "shown values"),
    "a cut with a hole": (lambda r: r["education"].update(cut=["Secondary", "Bachelors"]), "recoding"),
    "a cut with two layers": (lambda r: r["education"]["cut"].append("University"), "recoding"),
    "a cut with a stranger": (lambda r: r["education"]["cut"].append("Mars"), "recoding"),
    "a cut with a label twice": (lambda r: r["education"]["cut"].append("Secondary"), "recoding"),
    "other disclosed values": (lambda r: r["country"].update(disclosed=["Peru", None]), "shown values"),
    "missing not disclosed": (lambda r: r["country"].update(disclosed=["Mexico"]), "shown values"),
    "nothing suppressed": (lambda r: r["country"].update(complete=True), "shown values"),
    "other breaks": (lambda r: r["age"].update(breaks=[38]), "shown values"),
    "breaks that do not ascend": (lambda r: r["age"].update(breaks=[40, 37]), "recoding"),
    "a break outside": (lambda r: r["age"].update(breaks=[91]), "recoding"),
    "a break at the lower end": (lambda r: r["age"].update(breaks=[17]), "recoding"),
    "another range": (lambda r: r["age"].update(range=[18, 90]), "shown values"),
    "an empty range": (lambda r: r["age"].update(range=[90, 17]), "recoding"),
    "no missing ages": (lambda r: r["age"].pop("missing"), "shown values"),
    "a break more exact than its unit": (lambda r: r["born"].update(breaks=["1970-04-01"]), "recoding"),
    "a break that is no date": (lambda r: r["born"].update(breaks=["1970-14"]), "recoding"),
    "raw values beside the rule": (lambda r: r["age"].update(values=[17, 23]), "recoding"),
    "an unknown rule": (lambda r: r["age"].update(kind="blur"), "recoding"),
    "a rule less": (lambda r: r.pop("age"), "masking"),
    "a rule for a plain column": (lambda r: r.update(income={"kind": "suppress", "disclosed": []}), "masking"),
}


@pytest.mark.parametrize("name", RECODINGS)
def test_a_changed_recoding_fails(name: str, blueprint: Blueprint, tmp_path: Path) -> None:
    change, check = RECODINGS[name]
    folder = blueprint.write(tmp_path / "out")
    blueprint.edit(folder, "recoding.json", lambda form: change(form["attributes"]))
    assert check in failed(verify(folder))


def test_one_broken_thing_does_not_hide_another(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / "recoding.json").write_text("{")
    blueprint.edit(folder, "certificate.json", lambda c: c["claims"][1].update(k=100, achieved=100))
    told = failed(verify(folder))
    assert {"recoding", "json", "shown values", "k_anonymity"} <= told
    assert {"rows", "columns", "nothing else", "hashes"}.isdisjoint(told)


@pytest.mark.parametrize("file", ["table.parquet", "recoding.json", "taxonomies/education.json", "README.md"])
def test_a_missing_file_is_a_failing_check(file: str, blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / file).unlink()
    assert {"files", "hashes"} <= failed(verify(folder))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": 1, "a": 2}', '{"format": NaN}', "[" * 100_000])
def test_a_broken_certificate_is_a_failing_check(text: str, blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / "certificate.json").write_text(text)
    assert "certificate" in failed(verify(folder))


def test_files_that_nobody_looked_into_fail_even_if_they_are_listed(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / "raw.csv").write_text("name\nperson 1\n")
    assert "files" in failed(verify(folder))
    assert failed(verify(blueprint.rehash(folder))) == {"files"}


def test_empty_folders_and_links_fail(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / "person 1").mkdir()
    assert failed(verify(folder)) == {"files"}
    (folder / "person 1").rmdir()
    (folder / "README.md").rename(tmp_path / "README.md")
    (folder / "README.md").symlink_to(tmp_path / "README.md")
    assert failed(verify(folder)) == {"files", "hashes", "pages"}, "what a link leads to is not read"


def test_missing_values_are_a_value() -> None:
    table = pl.DataFrame({"age": ["a"] * 5 + [None] * 4}, schema={"age": pl.Categorical})
    claim = {"claim": "k_anonymity", "on": ["age"], "k": 4, "achieved": 4}
    assert "4 records" in check_k_anonymity(table, claim)
    with pytest.raises(CheckError, match="fewer than 5"):
        check_k_anonymity(table, {**claim, "k": 5})
    numbers = pl.DataFrame({"x": [1.0, 1.0, float("nan"), None, None]})
    with pytest.raises(CheckError, match="fewer than 2"):
        check_k_anonymity(numbers, {**claim, "on": ["x"], "k": 2})


def test_an_empty_table_proves_nothing(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    blueprint.replace(folder, blueprint.table().slice(0, 0))
    assert "k_anonymity" in failed(verify(folder))


def test_a_claim_is_added_by_a_line_in_each_table(
    blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = blueprint.write(tmp_path / "out")

    def add(form: Form) -> None:
        told = {"achieved": 0, "attacker": "knows nothing", "sentence": "it is new"}
        form["claims"].append({"claim": "new", "on": ["age"], **told})
        form["statement"] = form["statement"].rstrip(".") + "; and it is new."

    blueprint.edit(folder, "certificate.json", add)
    assert "certificate" in failed(verify(folder))
    monkeypatch.setitem(CLAIMS, "new", lambda table, claim: "seen")
    monkeypatch.setitem(SENTENCES, "new", lambda claim: "it is new")
    monkeypatch.setitem(ATTACKERS, "new", lambda claim: "knows nothing")
    monkeypatch.setitem(TERMS, "new", lambda claim: {})
    monkeypatch.setitem(REACHED, "new", lambda claim: 0)
    verdict = verify(folder)
    assert verdict.holds, str(verdict)
    assert any(check.detail == "seen" for check in verdict.checks)


def test_no_cell_and_no_small_count_is_told(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    rows = blueprint.table().to_pylist()
    rows[0]["country"] = "Atlantis"
    blueprint.replace(folder, pa.Table.from_pylist(rows))
    text = str(verify(folder))
    assert "country shows a value that is not in its cut" in text
    assert "Atlantis" not in text


def test_lifted_records(blueprint: Blueprint, tmp_path: Path) -> None:
    lifted = blueprint.with_lifted(20)
    folder = lifted.write(tmp_path / "out", lifted=20)
    verdict = verify(folder)
    assert verdict.holds, str(verdict)
    for count in (0, 1, 19, 21):
        blueprint.edit(folder, "certificate.json", partial(dict.update, lifted=count))
        assert "lifted" in failed(verify(folder))


def test_a_record_is_lifted_everywhere_or_nowhere(blueprint: Blueprint, tmp_path: Path) -> None:
    lifted = blueprint.with_lifted(20)
    folder = lifted.write(tmp_path / "out", lifted=20)
    rows = lifted.table().to_pylist()
    next(row for row in rows if row["education"] == "ANY")["education"] = "Secondary"
    blueprint.replace(folder, pa.Table.from_pylist(rows))
    assert "lifted" in failed(verify(folder))
    next(row for row in rows if row["born"] != "[..-..]")["education"] = "ANY"
    blueprint.replace(folder, pa.Table.from_pylist(rows))
    assert "lifted" in failed(verify(folder))


def test_few_lifted_records_are_no_group(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.with_lifted(20).write(tmp_path / "out", lifted=20)
    blueprint.edit(folder, "certificate.json", lambda c: c["claims"][0].update(k=21))
    assert "lifted" in failed(verify(folder))


def test_a_key_stands_once(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace('"lifted": 0', '"lifted": 7, "lifted": 0'))
    assert "certificate" in failed(verify(folder))


def test_row_order_is_reported(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    blueprint.edit(folder, "certificate.json", lambda c: c.update(row_order="kept"))
    verdict = verify(folder)
    assert verdict.holds
    assert any(check.name == "row order" and "kept" in check.detail for check in verdict.checks)


def test_whether_a_check_had_nothing_to_look_at_is_no_matter_of_words() -> None:
    said = "this release has none"
    worded, idle = run("extents", lambda: said), run("extents", lambda: Idle(said))
    assert (worded.idle, worded.state) == (False, "ok")
    assert (idle.idle, idle.state, idle.detail) == (True, "-", said)
    assert not run("extents", lambda: 1 / 0).idle  # type: ignore[arg-type, return-value]
