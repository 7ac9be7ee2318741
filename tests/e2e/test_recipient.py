"""The recipient: from the folder alone to numbers, points, groups and copies for other programs."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
import shutil
import warnings
from dataclasses import replace
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.masked import Masked
from sfumato.publishing.orders import read_space
from sfumato.release.exports.recount import recount
from tests.corruptions import forge

pd: Any = import_module("pandas")
ROWS = 400
QUASI = ["age", "born", "balance", "job", "city"]
K = 8


@cache
def raw_people() -> pa.Table:
    """Two kinds of people; balances below zero, dates, and missing values in every kind of column."""
    chance = np.random.default_rng(3)
    kind = chance.integers(0, 2, ROWS)
    ages = chance.normal(np.array([30, 65])[kind], 6).astype(int)
    gone = chance.random(ROWS) < 0.05
    jobs = np.array([["nurse", "cook, head"], ["retired", "=guard"]])[kind, chance.integers(0, 2, ROWS)]
    born = [dt.date(2020 - int(age), 1 + int(m), 1) for age, m in zip(ages, chance.integers(0, 12, ROWS), strict=True)]
    columns: dict[str, Any] = {
        "age": pa.array(ages, mask=gone),
        "born": born,
        "balance": np.round(chance.normal(np.array([-500, 900])[kind], 200), 1),
        "job": pa.array(jobs.tolist(), mask=np.roll(gone, 1)),
        "city": np.array(["North", "South"])[chance.integers(0, 2, ROWS)],
        "hours": chance.integers(10, 60, ROWS),
        "ill": np.array(["flu", "cold", "none"])[chance.integers(0, 3, ROWS)],
    }
    return pa.table(columns)


SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", integer=True),
    born=sf.Number(role="quasi", calendar="month"),
    balance=sf.Number(role="quasi", range=(-2000, 2000)),
    job=sf.Category(role="quasi"),
    city=sf.Category(role="quasi"),
    hours=sf.Number(role="plain", range=(0, 80)),
    ill=sf.Category(role="sensitive"),
)


CLUSTERS, CLASSES = sf.Clusters("kmeans", k=2), sf.Classes("ill")
MASKS = {"partition": sf.Partition(), "top_down": sf.TopDown(), "mondrian": sf.Mondrian()}


@cache
def published(format: Any, mask: str = "partition", *, classes: bool = False) -> sf.Release:
    recipe = sf.Recipe(
        schema=SCHEMA,
        structure=CLASSES if classes else CLUSTERS,
        privacy=[sf.KAnonymity(on=QUASI, k=K)],
        mask=MASKS[mask],
        keep_order=True,
    )
    made: sf.Release = sf.publish(raw_people(), recipe, run=sf.Run(report=False, format=format, trial=True))
    return made


def released(folder: Path, *, format: Any = "parquet", classes: bool = False, mask: str = "partition") -> sf.Release:
    made = published(format, mask, classes=classes)
    replace(made, account=None).write(folder)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("recipient") / "out"
    released(place)
    return place


def test_a_release_is_verified_before_it_is_loaded(folder: Path, tmp_path: Path) -> None:
    people = sf.load(folder)
    assert people.verdict is not None
    assert people.verdict.holds
    assert "verified" in repr(people)
    released(tmp_path / "out")
    table = pl.read_parquet(tmp_path / "out" / "table.parquet").with_columns(city=pl.lit("North"))
    table.write_parquet(tmp_path / "out" / "table.parquet")
    with pytest.raises(sf.ReleaseError, match="every check"):
        sf.load(tmp_path / "out")
    with pytest.warns(UserWarning, match="was not verified"):
        assert sf.load(tmp_path / "out", verify=False).verdict is None


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_table_is_what_is_shown_in_every_library(format: str, tmp_path: Path) -> None:
    shown = released(tmp_path / "out", format=format).table
    people = sf.load(tmp_path / "out", kind="arrow")
    for name in QUASI:
        assert people.table.column(name).to_pylist() == shown.column(name).to_pylist()
    in_pandas, in_polars = people.to("pandas").table, people.to("polars").table
    assert str(in_pandas["city"].dtype) == "category"
    assert in_polars["city"].dtype in (pl.Categorical, pl.Enum)
    assert in_pandas["hours"].tolist() == in_polars["hours"].to_list() == raw_people().column("hours").to_pylist()
    with pytest.raises(sf.TableError, match="pandas, polars, arrow"):
        people.to("excel")  # type: ignore[arg-type]


def test_numbers_lie_inside_what_is_shown(folder: Path) -> None:
    people, raw = sf.load(folder, kind="pandas"), raw_people().to_pandas()
    ends = people.numbers("low_high")
    for how in ("expected", "middle", "sample"):
        found = people.numbers(how)
        for name in ("age", "balance"):
            known = found[name].notna()
            assert known.any()
            inside = (found[name] >= ends[f"{name}_low"]) & (found[name] <= ends[f"{name}_high"])
            assert inside[known].all(), (how, name)
        assert str(found["born"].dtype).startswith("datetime64")
    assert (raw["balance"] >= ends["balance_low"]).all()
    assert (raw["balance"] <= ends["balance_high"]).all()
    error = {how: (people.numbers(how)["balance"] - raw["balance"]).abs().mean() for how in ("expected", "middle")}
    assert error["expected"] <= error["middle"], "means are nearer than middles"
    drawn = people.numbers("sample", draws=20, seed=1)
    assert len(drawn) == 20 * ROWS
    assert drawn.index.names == ["draw", "row"]
    assert (drawn.groupby("draw").size() == ROWS).all()
    assert str(drawn["age"].dtype) == "Int64", "whole years"
    assert 0.02 < drawn["age"].isna().mean() < 0.08, "as many as are likely: 5 % are missing"
    assert (drawn["born"].dropna() == drawn["born"].dropna().dt.normalize()).all(), "a day"
    assert set(drawn["city"].dropna()) == {"North", "South"}
    assert abs(drawn["balance"].mean() - people.numbers()["balance"].mean()) < 10
    with pytest.raises(sf.TableError, match="expected, middle"):
        people.numbers("median")  # type: ignore[arg-type]


def test_intervals_are_of_the_librarys_own_type(folder: Path) -> None:
    people, raw = sf.load(folder, kind="pandas"), raw_people().to_pandas()
    found = people.intervals("balance")
    assert isinstance(found.dtype, pd.IntervalDtype)
    assert all(value in interval for value, interval in zip(raw["balance"], found, strict=True))
    born = people.intervals("born")
    assert all(pd.Timestamp(day) in interval for day, interval in zip(raw["born"], born, strict=True))
    struct = people.to("polars").intervals("balance")
    assert struct.dtype == pl.Struct({"low": pl.Float64, "high": pl.Float64, "closed": pl.Boolean})
    with pytest.raises(sf.TableError, match="numbers have intervals"):
        people.intervals("city")
    with pytest.raises(sf.TableError, match="column of the release"):
        people.intervals("height")


def test_raw_rows_with_text_for_numbers_or_dates_are_refused_in_words(folder: Path) -> None:
    people, raw = sf.load(folder), raw_people()
    many: list[Any] = [pa.array([text] * raw.num_rows) for text in ("02-05-1937", "1.234,5")]
    for texts in (many[0], many[1].dictionary_encode()):
        asked = raw.set_column(raw.column_names.index("hours"), "hours", pa.chunked_array([texts]))
        with pytest.raises(sf.TableError, match="hours: raw rows have numbers") as refused:
            people.points(asked)
        assert refused.value.given == "text"
        assert "pd.to_datetime(rows['hours']" in refused.value.remedy
        assert "1937" not in str(refused.value)


def test_points_are_those_of_the_release_and_raw_rows_stand_among_them(folder: Path) -> None:
    people = sf.load(folder)
    space = read_space(folder)
    rows = people.to("arrow").table
    masked = Masked.of({name: rows.column(name) for name in rows.column_names})
    assert np.array_equal(people.points(), space.place(masked).vectors())
    assert np.isfinite(people.points()).all()
    raw = people.points(raw_people())
    assert raw.shape == people.points().shape
    jobs = dict(zip(people.groups.tolist(), rows.column("job").to_pylist(), strict=True))
    told = [g for g in sorted(jobs) if "cook, head" in (jobs[g] or "") and jobs[g] != "cook, head"]
    assert told, "a set lists a label with a comma in it"
    kept = [np.linalg.norm(raw[people.groups == g].mean(0) - people.points()[people.groups == g].mean(0)) for g in told]
    assert max(kept) < 0.18, "a group stands where its people stood"
    assert people.centres is not None
    assert people.centres.shape == (2, raw.shape[1])


@pytest.mark.parametrize("classes", [False, True])
def test_what_is_to_be_learned_is_left_out_of_the_points(tmp_path: Path, classes: bool) -> None:
    """A plain class would be told by its own dimensions; raw rows of which it is asked do not have it."""
    released(tmp_path / "out", classes=classes)
    people = sf.load(tmp_path / "out")
    every, others = people.points(), people.points(without="hours")
    assert len(people.dims) == every.shape[1]
    kept = [at for at, name in enumerate(people.dims) if name != "hours"]
    assert 0 < len(kept) < len(people.dims)
    assert np.array_equal(others, every[:, kept])
    asked = raw_people().drop_columns(["hours"])
    assert people.points(asked, without=["hours"]).shape == others.shape
    with pytest.raises(sf.TableError, match=r"points\(without='hours'\)"):
        people.points(asked)
    with pytest.raises(sf.TableError, match="did you mean 'hours'"):
        people.points(without="hour")


def plain_classes(folder: Path) -> Path:
    """A release whose class goes out as it is, and is no secret."""
    schema = sf.Schema({**SCHEMA, "ill": sf.Category(role="plain"), "hours": sf.Number(role="sensitive")})
    recipe = sf.Recipe(schema=schema, structure=CLASSES, privacy=[sf.KAnonymity(on=QUASI, k=K)])
    return sf.publish(raw_people(), recipe, run=sf.Run(report=False, trial=True)).write(folder)


def test_the_class_is_among_no_features(tmp_path: Path) -> None:
    """Else a classifier is told the answer, and nobody could ask it about people whose class is not known."""
    people = sf.load(plain_classes(tmp_path / "out"))
    assert people.classes == "ill"
    with pytest.raises(
        sf.ReleaseError, match='that was to keep the classes in "ill": there are no clusters to start from'
    ):
        people.clusters()
    assert "ill" not in people.dims
    asked = raw_people().drop_columns(["ill"])
    assert people.points(asked).shape == people.points().shape == people.points(raw_people()).shape
    readme = lines_of(tmp_path / "out")["points"]
    assert not any(name.startswith("ill=") for name in readme.columns)
    assert 0 <= readme["born"].min() < readme["born"].max() <= 1, "a date is a number of days"
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert 'was to keep the classes in "ill"' in page


def test_points_say_what_they_are_of_and_take_other_columns_too(tmp_path: Path) -> None:
    people = sf.load(plain_classes(tmp_path / "out"))
    named = people.points(also="hours", kind="pandas")
    assert np.array_equal(named.to_numpy()[:, :-1], people.points())
    assert named.columns[-1] == "hours"
    assert "city=(missing)" not in named, "nobody misses it"
    assert {"age", "city=North", "city=South"} < {*named.columns}
    assert people.points(raw_people(), also=["hours"]).shape == named.shape
    behind = people.points(also="ill", without="hours", kind="arrow").column_names[-3:]
    assert {*behind} == {"ill=none", "ill=flu", "ill=cold"}


def test_clusters_groups_and_weights(folder: Path) -> None:
    people = sf.load(folder)
    assert np.array_equal(people.clusters(), sf.find_clusters(folder))
    assert len(set(people.clusters(3).tolist())) == 3
    shown = people.to("arrow").table.select(QUASI).to_pylist()
    alike: dict[tuple[Any, ...], set[int]] = {}
    for row, group in zip(shown, people.groups.tolist(), strict=True):
        alike.setdefault(tuple(row.values()), set()).add(group)
    assert all(len(groups) == 1 for groups in alike.values())
    assert people.weights.sum() == ROWS
    assert people.weights.min() >= K
    assert people.codebook is not None
    assert len(people.codebook["columns"]["balance"]) == len(people.weights)


def test_raw_rows_are_routed_to_their_groups(folder: Path) -> None:
    people, raw = sf.load(folder), raw_people()
    assert np.array_equal(people.route(raw), people.groups)
    assert np.array_equal(people.route(raw.to_pandas()), people.groups)
    strange = raw.set_column(4, "city", pa.array(["Elsewhere"] * ROWS))
    found = people.route(strange)
    shows = people.to("arrow").table.column("city").to_pylist()
    assert all(group == -1 or shows[row] == "*" for row, group in enumerate(found.tolist()))
    with pytest.raises(sf.TableError, match="no such column"):
        people.route(raw.drop_columns(["city"]))


@pytest.mark.parametrize("mask", ["top_down", "mondrian"])
def test_a_model_of_masked_rows_is_asked_about_raw_ones(mask: str, tmp_path: Path) -> None:
    released(tmp_path / "out", mask=mask, classes=True)
    people = sf.load(tmp_path / "out")
    assert people.centres is None
    assert people.points().shape == people.points(raw_people()).shape
    assert (people.route(raw_people()) == people.groups).all()
    with pytest.raises(sf.ReleaseError, match="centres"):
        people.clusters()


def lines_of(folder: Path) -> dict[str, Any]:
    """What the lines of a README make, run as they stand there."""
    page = (folder / "README.md").read_text(encoding="utf-8")
    found = re.search(r"## Work with it in pandas alone\n\n((?:(?:    .*)?\n)+)", page)
    assert found is not None
    code = "\n".join(line[4:] for line in found[1].splitlines())
    for name in ("table.parquet", "table.csv", "centres.json", "codebook.json"):
        code = code.replace(f'"{name}"', repr(str(folder / name)))
    made: dict[str, Any] = {}
    exec(code, made)
    return made


@pytest.mark.parametrize(
    ("format", "mask"), [("parquet", "partition"), ("csv", "partition"), ("parquet", "mondrian"), ("csv", "top_down")]
)
def test_the_readmes_lines_make_the_points_without_sfumato(format: str, mask: str, tmp_path: Path) -> None:
    released(tmp_path / "out", format=format, mask=mask)
    points, people = lines_of(tmp_path / "out")["points"], sf.load(tmp_path / "out")
    assert points.shape == people.points().shape
    assert abs(points - people.points()).max() < 1e-4


@pytest.mark.parametrize("along", [sf.Along(codebook=False), sf.Along(spreadsheet_safe=True)])
def test_the_readmes_lines_without_a_codebook_and_with_apostrophes(along: sf.Along, tmp_path: Path) -> None:
    recipe = sf.Recipe(schema=SCHEMA, structure=CLUSTERS, privacy=[sf.KAnonymity(on=QUASI, k=K)], release=along)
    run = sf.Run(report=False, format="csv", trial=True)
    sf.publish(raw_people(), recipe, run=run).write(tmp_path / "out")
    points, people = lines_of(tmp_path / "out")["points"], sf.load(tmp_path / "out")
    assert abs(points - people.points()).max() < 1e-4


@pytest.mark.parametrize("mask", [*MASKS])
def test_the_readmes_lines_without_centres(mask: str, tmp_path: Path) -> None:
    released(tmp_path / "out", classes=True, mask=mask)
    points, people = lines_of(tmp_path / "out")["points"], sf.load(tmp_path / "out", kind="pandas")
    assert np.isfinite(points.to_numpy(dtype=float)).all()
    others = people.points(kind="pandas")
    assert [*points.columns] == [*others.columns]
    assert abs(points - others).to_numpy().max() < 1e-9


COPIES = {"excel": ".xlsx", "stata": ".dta", "spss": ".sav", "csv": ".csv", "parquet": ".parquet"}


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_every_copy_recounts_to_the_same_k(format: str, tmp_path: Path) -> None:
    made = replace(published(format), account=None)
    made.write(tmp_path / "out", also=list(COPIES))
    reached = made.certificate["claims"][0]["achieved"]
    people = sf.load(tmp_path / "out")
    for suffix in COPIES.values():
        copy = tmp_path / f"out{suffix}"
        assert recount(copy, people.rows, people.certificate) == {", ".join(QUASI): reached}
        people.export(tmp_path / f"again{suffix}")
        assert copy.read_bytes() == (tmp_path / f"again{suffix}").read_bytes(), "nothing in it tells when it was made"
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.suffix in COPIES.values()) == [
        f"table.{format}"
    ]


def test_stata_and_spss_show_labels_and_names(tmp_path: Path) -> None:
    import pyreadstat

    released(tmp_path / "out")
    people = sf.load(tmp_path / "out")
    for suffix, read in ((".dta", pyreadstat.read_dta), (".sav", pyreadstat.read_sav)):
        people.export(tmp_path / f"copy{suffix}")
        coded, about = read(str(tmp_path / f"copy{suffix}"))
        assert about.column_names_to_labels["balance"] == "balance"
        assert set(about.variable_value_labels["ill"].values()) == {"flu", "cold", "none"}
        assert coded["ill"].dtype.kind in "iuf"
        assert coded["hours"].tolist() == raw_people().column("hours").to_pylist()
    stata = pd.read_stata(tmp_path / "copy.dta")
    assert (
        stata["job"].astype(object).where(stata["job"].notna(), None).tolist() == people.rows.column("job").to_pylist()
    )


def test_a_copy_that_differs_is_refused_and_nothing_is_left(folder: Path, tmp_path: Path) -> None:
    people = sf.load(folder)
    people.export(tmp_path / "copy.dta")
    other = people.rows.set_column(5, "hours", pa.array(np.arange(ROWS)))
    with pytest.raises(sf.ReleaseError, match="other cells in 'hours'"):
        recount(tmp_path / "copy.dta", other, people.certificate)
    both = pa.array(["", None] * (ROWS // 2)).dictionary_encode()
    with pytest.raises(sf.TableError, match="empty text"):
        sf.People(folder, people.certificate, people.rows.set_column(6, "ill", both), "arrow").export(
            tmp_path / "no.xlsx"
        )
    with pytest.raises(sf.TableError, match=r"\.xlsx"):
        people.export(tmp_path / "copy.doc")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.dta"]


def test_a_copy_takes_no_other_files_place(folder: Path, tmp_path: Path) -> None:
    made = replace(published("parquet"), account=None)
    (tmp_path / "out.dta").write_text("mine")
    with pytest.raises(sf.ReleaseError, match="new name"):
        made.write(tmp_path / "out", also="stata")
    assert not (tmp_path / "out").exists()
    with pytest.raises(sf.TableError, match="excel, stata, spss"):
        made.write(tmp_path / "out", also="word")


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_the_data_package_is_valid_and_opens_the_table(format: str, tmp_path: Path) -> None:
    import frictionless

    made = released(tmp_path / "out", format=format)
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text(encoding="utf-8"))
    fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
    assert fields["balance"]["type"] == fields["city"]["type"] == "string"
    assert fields["hours"]["type"] == "integer"
    shown = {value for value in made.table.column("balance").to_pylist() if value is not None}
    assert fields["balance"]["categories"] == sorted(shown)
    official = resources.files("dplib").joinpath("profiles/2.0/datapackage.json").read_text(encoding="utf-8")
    jsonschema.validate(package, json.loads(official))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if format == "csv":
            resource: Any = frictionless.Package(str(tmp_path / "out" / "datapackage.json")).get_resource("table")
            read = resource.read_rows()
            assert [row["hours"] for row in read] == raw_people().column("hours").to_pylist()
            assert frictionless.validate(str(tmp_path / "out" / "datapackage.json")).valid


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_croissant_is_valid_and_its_reader_gives_the_rows(
    format: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mlcroissant: Any = import_module("mlcroissant")
    released(tmp_path / "my out", format=format)
    people = sf.load(tmp_path / "my out", kind="arrow")
    path = people.croissant()
    assert path == people.croissant() == tmp_path / "my out.croissant.json"
    dataset = mlcroissant.Dataset(str(path))
    assert not dataset.metadata.issues.errors
    assert "@context" not in caplog.text, "it is the usual one"
    rows = list(dataset.records("table"))
    assert [row["table/hours"] for row in rows] == people.rows.column("hours").to_pylist()
    jobs = [row["table/job"] for row in rows]
    assert [job.decode() if isinstance(job, bytes) else None for job in jobs] == people.rows.column("job").to_pylist()
    (tmp_path / "my out" / people.certificate["table"]["file"]).write_bytes(b"")
    with pytest.raises(mlcroissant.GenerationError, match="Download"):
        list(mlcroissant.Dataset(str(path)).records("table"))


def test_croissant_tells_what_the_data_package_tells(folder: Path, tmp_path: Path) -> None:
    out = shutil.copytree(folder, tmp_path / "out")
    told = json.loads(sf.load(out).croissant().read_text(encoding="utf-8"))
    (records,), (file,) = told["recordSet"], told["distribution"]
    assert (tmp_path / file["contentUrl"]).read_bytes() == (out / file["name"]).read_bytes()
    assert file["sha256"] == hashlib.sha256((tmp_path / file["contentUrl"]).read_bytes()).hexdigest()
    kinds = {field["source"]["extract"]["column"]: field["dataType"] for field in records["field"]}
    assert kinds["hours"] == "sc:Integer"
    assert kinds["balance"] == "sc:Text"
    assert sf.verify(out).holds, "it lies beside the folder"
    (tmp_path / "out.croissant.json").write_text("mine")
    with pytest.raises(sf.ReleaseError, match="new name"):
        sf.load(out).croissant()


def test_a_table_that_is_safe_for_spreadsheets_is_described_as_it_stands(tmp_path: Path) -> None:
    recipe = sf.Recipe(
        schema=SCHEMA,
        structure=sf.Clusters("kmeans", k=2),
        privacy=[sf.KAnonymity(on=QUASI, k=K)],
        release=sf.Along(spreadsheet_safe=True),
    )
    run = sf.Run(report=False, format="csv", ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    folder = sf.publish(raw_people(), recipe, run=run).write(tmp_path / "out")
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    jobs = next(field for field in package["resources"][0]["schema"]["fields"] if field["name"] == "job")
    assert "'=guard" in jobs["categories"]
    assert sf.verify(folder).holds
    forge(folder)
    assert sf.verify(folder).holds
