"""Tables in Spark: what moves, and executors that are killed while it counts."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from benchmarks import sources

import sfumato as sf
from sfumato.data.safe_files import Progress
from sfumato.data.sources import counted
from sfumato.data.sources.openers import Opening, open_source
from sfumato.data.sources.source import Repeats
from sfumato.data.sources.spark import source as spark_source
from sfumato.publishing import Run
from tests import engines
from tests.e2e.test_databases import RECIPE, SCHEMA, people

pytestmark = pytest.mark.slow
KEPT = ("age", "town", "disease")
SETTINGS = {"spark.speculation": "true", "spark.speculation.multiplier": "1.1", "spark.speculation.quantile": "0.25"}


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("spark")
    folder.chmod(0o755)
    folder.parent.chmod(0o755)
    return engines.in_spark(people(), folder, **SETTINGS)


def told(release: sf.Release) -> tuple[Any, ...]:
    return release.mask.files(), release.certificate["claims"], engines.rows_of(release.shown)


def quiet(table: object, recipe: sf.Recipe = RECIPE) -> sf.Release:
    return sf.publish(table, recipe, run=Run(report=False, trial=True))


def test_no_row_comes_up_and_of_identifiers_two_numbers(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    came: list[tuple[str, pa.RecordBatch]] = []

    def watched(job: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in counted.receive(job, batches):
            came.append((job, batch))
            yield batch

    monkeypatch.setattr(spark_source, "receive", watched)
    release = quiet(frame)
    assert release.verdict.holds
    assert told(release) == told(quiet(people()))
    values = [batch for job, batch in came if job == "values"]
    assert all(batch.num_columns == 2 for batch in values)
    assert sum(batch.num_rows for batch in values) == sum(len(people().column(name).unique()) for name in KEPT)
    tuples = [batch for job, batch in came if job == "tuples"]
    assert all(pa.types.is_integer(kind) for batch in tuples for kind in batch.schema.types)
    assert [batch.to_pylist() for job, batch in came if job == "repeats"] == [[{"rows": 400, "shared": 0}]]
    assert spark_source.SparkFrame(frame.union(frame.limit(40))).repeats(["name"]) == Repeats(440, 80)
    assert "Anna" not in "".join(str(batch.to_pydict()) for _, batch in came)


def executors(session: Any) -> list[int]:
    """The processes of this session's executors."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if (
            "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words
            and session.sparkContext.applicationId in words
        ):
            found.append(int(place.name))
    return found


@contextmanager
def killing(session: Any, begun: Callable[[], bool]) -> Iterator[list[int]]:
    """As soon as the moment has come and tasks run, one executor is killed."""
    killed: list[int] = []
    over = threading.Event()

    def look() -> None:
        tracker = session.sparkContext.statusTracker()
        while not over.wait(0.05):
            stages = [tracker.getStageInfo(one) for one in tracker.getActiveStageIds()]
            running = begun() and any(stage is not None and stage.numActiveTasks for stage in stages)
            if running and (found := executors(session)):
                os.kill(found[0], signal.SIGKILL)
                killed.append(found[0])
                return

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def slowed(frame: Any) -> Any:
    """The same table, in a second for each of its parts."""

    def slowly(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # it travels to the workers whole
        import time

        for batch in batches:
            time.sleep(1.0)
            yield batch

    return frame.select(*KEPT).mapInArrow(slowly, "age bigint, town string, disease string")


@pytest.mark.parametrize("job", ["values", "tuples", "afterwards"])
def test_an_executor_that_is_killed_changes_nothing(job: str, frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    finished: list[str] = []

    def watched(name: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from counted.receive(name, batches)
        finished.append(name)
        if name == "tuples" and job == "afterwards":
            for found in executors(frame.sparkSession)[:1]:
                os.kill(found, signal.SIGKILL)
                finished.append("killed")

    monkeypatch.setattr(spark_source, "receive", watched)
    after = {"values": 1, "tuples": len(KEPT), "afterwards": 10**6}[job]
    with killing(frame.sparkSession, lambda: len(finished) >= after) as killed:
        release = quiet(slowed(frame))
    assert len(killed) == 1 or "killed" in finished
    assert told(release) == told(quiet(people()))
    _wait_for(frame.sparkSession)


def _wait_for(session: Any) -> None:
    """Until the cluster has replaced what was killed."""
    for _ in range(200):
        if len(executors(session)) == 2:
            return
        time.sleep(0.1)


def test_a_path_on_the_cluster_is_an_address(frame: Any) -> None:
    place = Path(frame.inputFiles()[0].removeprefix("file://")).parent
    master = frame.sparkSession.sparkContext.master
    release = quiet(f"{master}?path={place}")
    assert told(release) == told(quiet(people()))
    with pytest.raises(sf.TableError, match="no such table or path"):
        open_source(f"{master}?table=nowhere")
    for odd in (f"{master}?table=a&path=b", master, f"{master}?x=1"):
        with pytest.raises(sf.TableError, match="is at spark://"):
            open_source(odd)


def test_spark_counts_a_copy_of_a_release_by_itself(
    frame: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    release = sf.publish(people(), RECIPE, run=Run(report=False))
    folder = release.write(tmp_path / "out")
    plain = release.shown.cast(pa.schema([(name, pa.string()) for name in release.shown.column_names]))
    copy = frame.sparkSession.createDataFrame(plain)
    assert all(claim.holds for claim in sf.recount(copy, folder))
    assert not all(claim.holds for claim in sf.recount(copy.limit(397), folder))


def test_what_spark_cannot_do_is_refused_in_words(frame: Any) -> None:
    from pyspark.sql import functions

    with pytest.raises(sf.RecipeError, match="no order"):
        quiet(frame, sf.Recipe(schema=SCHEMA, privacy=RECIPE.privacy, keep_order=True))
    with pytest.raises(sf.TableError, match="a query is for a database"):
        open_source(frame, Opening(query="SELECT 1"))
    with pytest.raises(sf.TableError, match="stay there"):
        open_source(frame).arrow(["age"], guess=True, progress=Progress())
    lists = frame.select(functions.array("town").alias("towns"))
    with pytest.raises(sf.TableError, match="type array"):
        open_source(lists).raw(["towns"], progress=Progress())
    broken = frame.select((functions.col("age") / functions.lit(0)).alias("age"))
    with pytest.raises(sf.TableError, match="could not finish") as caught:
        open_source(broken).raw(["age"], progress=Progress())
    assert "DIVIDE" not in str(caught.value)


@pytest.mark.usefixtures("frame")
def test_what_comes_up_is_measured_by_the_documented_command(capsys: pytest.CaptureFixture[str]) -> None:
    sources.spark(3_000, publish=True)
    assert "values and 2,9" in capsys.readouterr().out
