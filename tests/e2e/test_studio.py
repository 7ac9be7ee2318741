"""The studio from a table to a verified release, with real processes and without a browser."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import pyarrow as pa
import pyarrow.csv as pv
import pytest

import sfumato as sf
from sfumato.privacy.ledger import Ledger
from sfumato.studio.jobs import Job
from sfumato.studio.workspace import Work
from tests.studio_visitor import Visitor

ADULT = sf.datasets.load("adult").table.select(["age", "education_num", "sex", "race", "hours_per_week", "income"])
pytestmark = pytest.mark.slow


def csv_of(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pv.write_csv(table, out)
    return out.getvalue()


@pytest.fixture
def visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Visitor:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Visitor.of(tmp_path / "studio", most_upload=1 << 28).enter()


def ran(visitor: Visitor, work: Work, **fields: str) -> Path:
    """The folder of a trial that ended well."""
    answer = visitor.post(f"/w/{work.id}/run/start", fields)
    assert "That was not possible" not in answer.text, answer.text
    visitor.done(Job(work.trials[-1]))
    return work.trials[-1]


def released(visitor: Visitor, work: Work, name: str, **fields: str) -> Path:
    visitor.post(f"/w/{work.id}/release/ask")
    visitor.done(Job(work.job("ledger")))
    visitor.post(f"/w/{work.id}/release/release", {"name": name, "understood": "yes", **fields})
    visitor.done(Job(work.job("release")))
    return work.folder / "releases" / name


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_looked_at_is_what_goes_out(visitor: Visitor, tmp_path: Path) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 1500)))
    visitor.post(f"/w/{work.id}/attributes/roles", {"name": "hours_per_week", "role": "quasi"})
    visitor.post(f"/w/{work.id}/survive/choose", {"kind": "clusters", "k": "3"})
    visitor.post(f"/w/{work.id}/privacy/change", {"at": "0", "number": "8"})
    trial = ran(visitor, work)
    assert Ledger().entries() == ()
    sf_key = tmp_path / "holder.key"
    subprocess.run([sys.executable, "-m", "sfumato.cli.main", "key", "make", str(sf_key)], check=True)
    release = released(visitor, work, "people-1", key=str(sf_key))
    was, now = files_of(trial / "release"), files_of(release)
    assert now.pop("certificate.sig")
    assert now == was
    assert [entry.kind for entry in Ledger().entries()] == ["release"]
    assert sf.verify(release, key=Path(f"{sf_key}.pub")).holds
    packed = visitor.get(f"/w/{work.id}/zip/people-1").content
    with zipfile.ZipFile(io.BytesIO(packed)) as file:
        assert {name.partition("/")[2] for name in file.namelist()} == {*now, "certificate.sig"}
    for screen in ("table", "attributes", "trees", "survive", "privacy", "run", "compare", "understand", "release"):
        assert visitor.get(f"/w/{work.id}/{screen}").status_code == 200


def test_the_command_line_gives_the_same_mask(visitor: Visitor, tmp_path: Path) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 1200)))
    trial = ran(visitor, work)
    out = tmp_path / "out"
    words = ["publish", str(work.recipe_path), "--output", str(out), "--no-suggest"]
    subprocess.run([sys.executable, "-m", "sfumato.cli.main", *words], check=True, capture_output=True)
    of_its_time = ("certificate.json", "datapackage.json")  # they tell when it was made, and how rows were shuffled
    names = [path.name for path in out.glob("*.json") if path.name not in of_its_time]
    assert "partition.json" in names
    for name in names:
        assert (trial / "release" / name).read_bytes() == (out / name).read_bytes(), name
    whole = "whole/partition.json"
    assert (trial / "release.holder" / whole).read_bytes() == (tmp_path / "out.holder" / whole).read_bytes()


def test_a_table_named_on_the_command_line_is_what_its_address_opens(visitor: Visitor, tmp_path: Path) -> None:
    pv.write_csv(ADULT.slice(0, 60), tmp_path / "people.csv")
    words = [sys.executable, "-m", "sfumato.cli.main", "studio", "people.csv", "--no-browser", "--port", "0"]
    env = {**os.environ, "COLUMNS": "400"}
    place = ["--folder", str(tmp_path / "w")]
    server = subprocess.Popen([*words, *place], cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        opener = build_opener(HTTPCookieProcessor(), ProxyHandler({}))
        answer = opener.open(address, timeout=60)
        assert answer.url.endswith("/table")
        assert "people.csv" in answer.read().decode()
    finally:
        server.terminate()
        server.wait(20)


def test_a_table_that_changed_since_the_trial_is_not_released(visitor: Visitor) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 600)))
    ran(visitor, work)
    file = work.folder / "table" / "people.csv"
    file.write_bytes(file.read_bytes() + file.read_bytes().splitlines(keepends=True)[1])
    visitor.post(f"/w/{work.id}/release/ask")
    job = visitor.wait(Job(work.job("ledger")))
    assert job.state == "failed"
    assert "changed since the trial" in (job.error or {})["given"]


def test_two_quasi_identifiers(visitor: Visitor) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 1000)))
    visitor.post(f"/w/{work.id}/privacy/add", {"kind": "k_anonymity"})
    at = len(json.loads(json.dumps(list(_form(work)["privacy"])))) - 1
    visitor.post(f"/w/{work.id}/privacy/mask", {"mask": "top_down"})
    data = {"at": str(at), "number": "40", "picked": "yes", "on": ["age", "sex"]}
    visitor.post(f"/w/{work.id}/privacy/change", data)
    trial = ran(visitor, work)
    claims = json.loads((trial / "release" / "certificate.json").read_text())["claims"]
    assert {"claim": "k_anonymity", "on": ["age", "sex"], "k": 40}.items() <= claims[-1].items()
    assert claims[-1]["achieved"] >= 40
    released(visitor, work, "two")
    told = visitor.get(f"/w/{work.id}/understand?attribute=age").text
    assert "Next, " in told or "stands in the way" in told


def _form(work: Work) -> dict[str, list[object]]:
    from sfumato.studio import form

    return form.read(work)


def test_a_budget_is_spent_once_its_plan_was_approved(visitor: Visitor) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 1000)))
    visitor.post(f"/w/{work.id}/survive/choose", {"kind": "none"})
    visitor.post(f"/w/{work.id}/privacy/budget", {"epsilon": "1", "total": "2", "people": "adults"})
    visitor.post(f"/w/{work.id}/privacy/declare-all")
    page = visitor.get(f"/w/{work.id}/privacy").text
    assert "The plan" in page, page
    refused = visitor.post(f"/w/{work.id}/run/start").text
    assert "a plan is approved before anything is spent" in refused
    assert Ledger().entries() == ()
    trial = ran(visitor, work, approved="yes")
    assert [(entry.kind, str(entry.epsilon)) for entry in Ledger().entries()] == [("spending", "1")]
    release = released(visitor, work, "generated")
    assert [entry.kind for entry in Ledger().entries()] == ["spending", "release"]
    assert files_of(release) == files_of(trial / "release")


STEPS = ["Reading", "Finding", "Masking", "Measuring", "Counting", "Drawing", "Writing", "Verifying", "Attacking"]


@pytest.mark.parametrize("step", STEPS)
def test_cancel_leaves_nothing(visitor: Visitor, step: str) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 12_000)))
    visitor.post(f"/w/{work.id}/run/start")
    folder = work.trials[-1]
    job, ends = Job(folder), time.monotonic() + 120
    while not any(one["step"].startswith(step) for one in job.events()):
        assert job.under_way, job.error
        assert time.monotonic() < ends
        time.sleep(0.01)
    process = visitor.studio.jobs.running[folder]
    with ThreadPoolExecutor() as pool:
        gone = pool.submit(lambda: (process.wait(), time.monotonic()))
        began = time.monotonic()
        answer = visitor.post(f"/w/{work.id}/run/cancel")
        assert gone.result()[1] - began < 2
    assert "nothing of it is left" in answer.text
    assert {path.name for path in folder.iterdir()} == {"job.json", "events.jsonl"}
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_work_is_there_again_after_the_server_was_killed(tmp_path: Path) -> None:
    import signal

    (tmp_path / "people.csv").write_bytes(csv_of(ADULT.slice(0, 20_000)))
    words = [sys.executable, "-m", "sfumato.cli.main", "studio", "people.csv", "--no-browser", "--port", "0"]
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    server = subprocess.Popen([*words, "--folder", str(tmp_path / "w")], cwd=tmp_path, env=env, stdout=subprocess.PIPE)
    assert server.stdout is not None
    server.stdout.readline()
    (folder,) = [path for path in (tmp_path / "w").iterdir() if path.is_dir()]
    job, ends = Job(folder / "jobs" / "look"), time.monotonic() + 60
    while not job.events():
        assert time.monotonic() < ends
        time.sleep(0.05)
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    child = f"{folder}/jobs/look"
    while time.monotonic() < ends and any(child in line for line in _commands()):
        time.sleep(0.1)
    assert not any(child in line for line in _commands())
    visitor = Visitor.of(tmp_path / "w").enter()
    works = visitor.studio.space.works()
    visitor.studio.jobs.mend(works)
    assert [work.name for work in works] == ["people.csv"]
    page = visitor.get(f"/w/{works[0].id}/table").text
    assert any(words in page for words in ("interrupted", "was cancelled; nothing of it is left", "A first look"))


def _commands() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return found


def test_two_tabs_agree(visitor: Visitor) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 400)))
    other = Visitor(visitor.studio, visitor.keeper, visitor.client).enter()
    visitor.post(f"/w/{work.id}/attributes/roles", {"name": "race", "role": "identifier"})
    told = other.get(f"/w/{work.id}/attributes").text
    assert told == visitor.get(f"/w/{work.id}/attributes").text
    assert '<tr class="of identifier">' in told


def test_what_is_found_out_besides(visitor: Visitor) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 500)))
    visitor.post(f"/w/{work.id}/survive/choose", {"kind": "clusters", "k": "auto"})
    visitor.post(f"/w/{work.id}/privacy/mask", {"mask": "top_down"})
    ran(visitor, work)
    asked = {
        "clusters": ("survive/clusters", "survive", "seem right"),
        "feasible": ("privacy/feasible", "privacy", "It can be kept"),
        "advise": ("privacy/advise", "privacy", "Maskers side by side"),
        "explain": ("understand/explain", "understand?attribute=age", "It is shown"),
        "attack": ("understand/attack", "understand", "attacker"),
    }
    for job, (action, screen, words) in asked.items():
        visitor.post(f"/w/{work.id}/{action}")
        visitor.done(Job(work.job(job)))
        assert words in visitor.get(f"/w/{work.id}/{screen}").text, job
    for name in ("clusters", "advise", "frontier", work.trials[-1].name):
        answer = visitor.get(f"/w/{work.id}/picture/{name}")
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "<script" not in answer.text


def test_values_of_a_partition_say_what_stood_in_the_way(visitor: Visitor) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 500)))
    ran(visitor, work)
    assert "Why do its values look so?" in visitor.get(f"/w/{work.id}/understand?attribute=age").text
    visitor.post(f"/w/{work.id}/understand/explain")
    visitor.done(Job(work.job("explain")))
    found = json.loads((work.job("explain") / "result.json").read_text())["values"]
    one = next(one for one in found if one["attribute"] == "age" and one["remedy"])
    told = visitor.client.get(f"/w/{work.id}/understand", params={"attribute": "age", "value": one["value"]}).text
    assert f'<p class="remedy">{one["remedy"]}' in told


def test_a_search_that_was_ended_early_is_released_as_csv(visitor: Visitor) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 12_000)))
    visitor.post(f"/w/{work.id}/privacy/mask", {"mask": "top_down"})
    visitor.post(f"/w/{work.id}/run/start", {"format": "csv"})
    job = Job(work.trials[-1])
    while not job.masking:
        assert job.under_way, job.error
        time.sleep(0.01)
    visitor.post(f"/w/{work.id}/run/settle")
    visitor.done(job)
    assert "masking was ended early, after" in visitor.get(f"/w/{work.id}/run").text
    release = released(visitor, work, "early")
    assert sf.verify(release).holds
    assert (release / "table.csv").is_file()
    assert "<code>table.csv</code>" in visitor.get(f"/w/{work.id}/release").text
    history = json.loads((release.with_name("early.holder") / "history.json").read_text())
    assert history["stopped"] == "settled"
    report = (release.with_name("early.holder") / "report.html").read_text()
    assert "Masking was ended early" in report


def test_requirements_that_cannot_be_kept_are_told_before_a_run(visitor: Visitor) -> None:
    work = visitor.uploaded("people.csv", csv_of(ADULT.slice(0, 300)))
    visitor.post(f"/w/{work.id}/privacy/change", {"at": "0", "number": "301"})
    visitor.post(f"/w/{work.id}/privacy/policy", {"policy": "cell-size-11", "wanted": "yes"})
    visitor.post(f"/w/{work.id}/privacy/feasible")
    visitor.done(Job(work.job("feasible")))
    page = visitor.get(f"/w/{work.id}/privacy").text
    assert "It cannot be kept" in page
    found = json.loads((work.job("feasible") / "result.json").read_text())["policies"]
    assert {one["check"]: one["state"] for one in found}["least_group"] == "later"
    assert all(one["sentence"] in page for one in found)
