"""Sfumato beside other libraries: CPU of whole processes, and what their tables are worth, recounted by one measure.

    tools/peers.sh                        # a Python for anjana, anonypy and pycanon, which pin old versions
    python -m benchmarks.peers            # Adult, 45,222 records, k = 20, three rounds
    python -m benchmarks.peers --rows 2000 --runs 1 --k 5

Everybody gets the same file, the same eight attributes and the same hierarchies. The runs take turns: one of each, then
again. The floor is polars reading the file, counting groups once and writing it. ARX runs where SFUMATO_ARX_JAR names
its jar and there is a `java`. Loss is the normalized certainty penalty: of each cell the leaves that its value covers
beyond the first, as a share of all others, on average; k is the smallest group, counted here and by pycanon.
The page is docs/results/peers.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import polars as pl

import sfumato as sf

ROOT = Path(__file__).parents[1]
QUASI = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
CLASS = "income"
JAR = "SFUMATO_ARX_JAR"
PEERS = ROOT / ".peers" / "bin" / "python"
GIVE_UP = 1800.0


@dataclass(frozen=True)
class Contender:
    """Somebody who masks the table in a folder: a command, to which the folder and k are added."""

    name: str
    how: str
    command: tuple[str, ...]


@dataclass
class Measured:
    """What the runs of one contender took, and what the last of them made; `words` where it was not run."""

    contender: Contender
    seconds: list[float] = field(default_factory=list)
    worth: Worth | None = None
    recounted: str = ""
    words: str = ""


@dataclass(frozen=True)
class Worth:
    """What a masked table is worth: rows, groups, the smallest group, and the loss (0: as it was, 1: nothing left)."""

    rows: int
    groups: int
    k: int
    loss: float


def trees() -> dict[str, sf.Taxonomy]:
    """The hierarchies that everybody gets: the bundled ones, and ages in fives, tens, twenties and forties."""
    schema = sf.datasets.load("adult", complete=True).schema
    found = {}
    for name in QUASI:
        attribute = schema[name]
        if isinstance(attribute, sf.Category) and attribute.taxonomy is not None:
            found[name] = attribute.taxonomy
    return {"age": _ages(17, 90), **found}


def _ages(low: int, high: int) -> sf.Taxonomy:
    above: dict[str, str | None] = {"*": None}
    for age in range(low, high + 1):
        label = str(age)
        for width in (5, 10, 20, 40):
            first = age // width * width
            wider = f"{max(low, first)}-{min(high, first + width - 1)}"
            if wider != label:
                above.setdefault(label, wider)
                label = wider
        above.setdefault(label, "*")
    return sf.Taxonomy.from_parents(above)


def lay_out(folder: Path, rows: int | None) -> None:
    """The folder that every contender is given: the table, its attributes, and their hierarchies."""
    table = pl.DataFrame(sf.datasets.load("adult", complete=True).table.select([*QUASI, CLASS]))
    some = table if rows is None else table.sample(min(rows, table.height), seed=0)
    some.write_csv(folder / "people.csv")
    (folder / "quasi.txt").write_text("\n".join(QUASI), encoding="utf-8")
    for name, tree in trees().items():
        tree.to_file(folder / f"{name}.csv", layout="arx")


def contenders(python: Path) -> list[Contender | str]:
    """Everybody who can be run here, and words for whoever cannot."""
    ours = (sys.executable, "-m", "benchmarks.peers", "--publish")
    found: list[Contender | str] = [
        Contender(
            "polars", "the floor: read, count groups, write", (sys.executable, "-m", "benchmarks.peers", "--floor")
        ),
        Contender("Sfumato, Partition", "local; verified, no report", (*ours, "partition")),
        Contender("Sfumato, TopDown", "global, hierarchies; verified, no report", (*ours, "top_down")),
        Contender("Sfumato, everything on", "Partition, six clusters, scores, attacks, both reports", (*ours, "all")),
    ]
    if not python.exists():
        found.append(f"anjana, anonypy and pycanon were not run: there is no {python}. tools/peers.sh makes it.")
    else:
        runs = (str(python), str(ROOT / "benchmarks" / "peer_runs.py"))
        found.append(Contender("anjana", "global, one level of each hierarchy", (*runs, "anjana")))
        found.append(Contender("anonypy", "Mondrian, without hierarchies", (*runs, "anonypy")))
    return [*found, arx()]


def arx() -> Contender | str:
    """ARX, or why it is not run. A jar that is named and cannot be used is an error."""
    jar = os.environ.get(JAR)
    if not jar:
        return f"ARX was not run: {JAR} names no jar."
    if not Path(jar).is_file():
        raise SystemExit(
            f"{JAR}: it names the jar of ARX. Given: {jar}, where there is no file. To mend it: download it."
        )
    java = shutil.which("java")
    if java is None:
        raise SystemExit(
            f"{JAR}: ARX runs in Java. Given: a jar, and no `java`. To mend it: install a JDK of 11 or later."
        )
    command = (java, "-cp", jar, str(ROOT / "benchmarks" / "Arx.java"))
    return Contender("ARX", "global, one level of each hierarchy, least loss", command)


def run(contender: Contender, folder: Path, k: int) -> float:
    """CPU seconds, user and system, of one whole process and its children."""
    (folder / "shown.csv").unlink(missing_ok=True)
    command = [*contender.command, str(folder), str(k)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "XDG_STATE_HOME": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: nobody's source is compiled by every process
    before = os.times()
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=GIVE_UP, check=False
    )
    after = os.times()
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it failed without a word")
    return after.children_user + after.children_system - before.children_user - before.children_system


def worth(folder: Path) -> Worth:
    """What the table that was made is worth."""
    shown = pl.read_csv(folder / "shown.csv", infer_schema=False, columns=list(QUASI))
    sizes = shown.group_by(QUASI).len()["len"].to_list()
    every = trees()
    losses = [_loss(shown[name], every[name]) for name in QUASI]
    return Worth(shown.height, len(sizes), min(sizes), sum(losses) / len(losses))


def _loss(column: pl.Series, tree: sf.Taxonomy) -> float:
    lost = 0.0
    for text, count in Counter(column.fill_null("*").to_list()).items():
        lost += count * (covered(text, tree) - 1) / (len(tree.leaves) - 1)
    return lost / len(column)


def covered(text: str, tree: sf.Taxonomy) -> int:
    """How many leaves a shown value covers: a label, a set of them, or numbers from one to another.

    >>> covered("40-49", _ages(17, 90)), covered("{41, 42}", _ages(17, 90)), covered("18-23", _ages(17, 90))
    (10, 2, 6)
    """
    if text == "*" or text == tree.root:
        return len(tree.leaves)
    if text in tree:
        return len(tree.leaves_of(text))
    if ends := re.fullmatch(r"(\d+)-(\d+)", text):
        return sum(int(ends[1]) <= int(leaf) <= int(ends[2]) for leaf in tree.leaves)
    parts = re.split(r",\s*", text.removeprefix("{").removesuffix("}"))
    return len({leaf for part in parts for leaf in tree.leaves_of(part)})


def measure(folder: Path, everybody: Sequence[Contender], *, runs: int, k: int, python: Path) -> list[Measured]:
    """Everybody in turn, so many times."""
    found = [Measured(contender) for contender in everybody]
    for _ in range(runs):
        for one in found:
            if one.words:
                continue
            try:
                one.seconds.append(run(one.contender, folder, k))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                one.words = f"{one.contender.name} did not end well: {error}"
                continue
            print(f"  {one.contender.name}: {one.seconds[-1]:.1f} s", file=sys.stderr, flush=True)
            one.worth = worth(folder)
            one.recounted = _recounted(folder, python)
    return found


def _recounted(folder: Path, python: Path) -> str:
    """The k that pycanon counts, where it is installed."""
    if not python.exists():
        return "not installed"
    command = [str(python), str(ROOT / "benchmarks" / "peer_runs.py"), "recount", str(folder), "0"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def page(found: Sequence[Measured]) -> str:
    """The table of the page."""
    floor = median(found[0].seconds)
    lines = [
        "| | how | CPU s, each run | over the floor | rows | groups | k here | k by pycanon | loss |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in found:
        if one.worth is None:
            continue
        took = ", ".join(f"{seconds:.1f}" for seconds in one.seconds)
        made, ratio = one.worth, median(one.seconds) / floor
        cells = (one.contender.name, one.contender.how, took, f"{ratio:.1f}", f"{made.rows:,}", f"{made.groups:,}")
        lines.append(f"| {' | '.join(cells)} | {made.k} | {one.recounted} | {made.loss:.3f} |")
    return "\n".join([*lines, *(f"\n{one.words}" for one in found if one.words)])


def publish(how: str, folder: Path, k: int) -> None:
    """One release of ours, written as the others write theirs."""
    schema = sf.Schema(
        {name: sf.Category(role="quasi", taxonomy=tree) for name, tree in trees().items()}
        | {CLASS: sf.Category(role="sensitive")}
    )
    everything = how == "all"
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=6) if everything else None,
        privacy=[sf.KAnonymity(list(QUASI), k)],
        mask=sf.TopDown() if how == "top_down" else sf.Partition(),
    )
    release = sf.publish(folder / "people.csv", recipe, run=sf.Run(report=everything))
    pl.DataFrame(release.table).write_csv(folder / "shown.csv")


def floor(folder: Path) -> None:
    """What nobody can do without: read, count groups, write."""
    people = pl.read_csv(folder / "people.csv", infer_schema=False)
    people.group_by(QUASI).len()
    people.write_csv(folder / "shown.csv")


def main(given: Sequence[str] | None = None) -> None:
    """Measure, and print the table of the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--k", type=int, default=20)
    parser.add_argument("--peers-python", type=Path, default=PEERS)
    parser.add_argument("--publish", nargs=3, metavar=("HOW", "FOLDER", "K"), help=argparse.SUPPRESS)
    parser.add_argument("--floor", nargs=2, metavar=("FOLDER", "K"), help=argparse.SUPPRESS)
    asked = parser.parse_args(given)
    if asked.publish:
        return publish(asked.publish[0], Path(asked.publish[1]), int(asked.publish[2]))
    if asked.floor:
        return floor(Path(asked.floor[0]))
    everybody = contenders(asked.peers_python)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lay_out(folder, asked.rows)
        able = [one for one in everybody if isinstance(one, Contender)]
        print(page(measure(folder, able, runs=asked.runs, k=asked.k, python=asked.peers_python)))
    for words in (one for one in everybody if isinstance(one, str)):
        print(f"\n{words}")


if __name__ == "__main__":
    main()
