"""Builds wheel and sdist, looks into them, and uses the wheel in a clean environment of every Python that is found.

python -m tools.package                # 3.11 to 3.14, as far as they are there
python -m tools.package 3.13           # these alone

In each environment: the wheel alone is installed, `pip check` passes, the demo runs, a budget without the extra `dp` is
refused by the line that installs it, and a part of the tests passes against what is installed. Prints a table of sizes
and times.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
TESTS = (
    "tests/unit/test_datasets.py",
    "tests/unit/test_datasets_taxonomies.py",
    "tests/unit/test_verify_cli.py",
    "tests/unit/test_recipe_schema.py",
    "tests/unit/test_studio_security.py",
    "tests/e2e/test_first_use.py",
    "tests/e2e/test_find_clusters.py",
    "tests/golden/test_formats.py",
)
"""They reach bundled tables, schemas, taxonomies, templates and static files: what a wheel may have lost."""
NEEDED = ("pytest", "hypothesis", "jsonschema", "httpx2")
"""What these tests need beside the wheel and its extras."""
BUDGET = """
import sfumato as sf
iris = sf.datasets.load("iris")
recipe = sf.Recipe(schema=iris.schema, mask=sf.PrivateTree(), budget=sf.Budget(1))
try:
    sf.publish(iris.table, recipe)
except sf.BudgetError as error:
    print(error)
"""


@dataclass(frozen=True)
class Used:
    """One Python: what the wheel and all it needs weigh there, and how long things took, in seconds."""

    python: str
    megabytes: int
    installing: float
    demo: float
    tests: str

    @property
    def row(self) -> str:
        """As it stands in the table."""
        return f"| {self.python} | {self.megabytes} | {self.installing:.0f} | {self.demo:.0f} | {self.tests} |"


def run(*words: str | Path, cwd: Path = ROOT, **more: str) -> str:
    """What a command prints; if it fails, everything ends with what it said."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "OMP_NUM_THREADS": "1", **more}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run([*map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, made from what git knows and from nothing else that lies about."""
    run(sys.executable, "-m", "build", "--outdir", folder)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def faults(wheel: Path) -> list[str]:
    """What a wheel lacks, and links of its description that would lead nowhere."""
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        about = next(name for name in names if name.endswith(".dist-info/METADATA"))
        text = packed.read(about).decode()
        notice = packed.read(about.replace("METADATA", "licenses/NOTICE")).decode()
    tracked = run("git", "ls-files", "src/sfumato").splitlines()
    found = [f"it lacks {name}" for name in tracked if name.removeprefix("src/") not in names]
    links = re.findall(r"\]\(((?!https?:|#)[^)]*)\)", text.partition("\n\n")[2])
    found += [f"its description links to {link}, which is not beside it" for link in links]
    named = re.findall(r"sfumato/[\w/.]+\w", notice)
    return found + [f"NOTICE names {name}, which is not in it" for name in named if name not in names]


def found_python(version: str) -> str | None:
    """An interpreter of that version that works."""
    for name in (
        shutil.which(f"python{version}"),
        *sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ):
        if name and not subprocess.run([name, "-c", "import venv"], capture_output=True, check=False).returncode:
            return str(name)
    return None


def used(python: str, wheel: Path, place: Path) -> Used:
    """The wheel in a clean environment of one Python."""
    run(python, "-m", "venv", place / "env")
    inside = place / "env" / "bin" / "python"
    began = time.perf_counter()
    run(inside, "-m", "pip", "install", "-q", wheel)
    installing = time.perf_counter() - began
    run(inside, "-m", "pip", "check")
    megabytes = sum(path.stat().st_size for path in (place / "env").rglob("*") if path.is_file()) >> 20
    state = {"XDG_STATE_HOME": str(place / "state")}
    began = time.perf_counter()
    run(place / "env" / "bin" / "sfumato", "demo", "--output", place / "demo", cwd=place, **state)
    demo = time.perf_counter() - began
    run(place / "env" / "bin" / "sfumato", "verify", next(place.glob("demo/*/certificate.json")).parent, cwd=place)
    told = run(inside, "-c", BUDGET, cwd=place, **state)
    if "pip install 'sfumato[dp]'" not in told:
        sys.exit(f"A budget without the extra dp is told otherwise: {told}")
    return Used(run(inside, "-V").split()[1], megabytes, installing, demo, tested(inside, wheel, place))


def tested(inside: Path, wheel: Path, place: Path) -> str:
    """The last line of the tests, run where there is no src/."""
    run(inside, "-m", "pip", "install", "-q", f"{wheel}[dp,pandas,studio,sign]", *NEEDED)
    desk = place / "desk"
    for name in ("tests", "docs", "README.md", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, (desk / name) if (ROOT / name).is_dir() else desk)
    words = ("-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *TESTS)
    told = run(inside, *words, cwd=desk, XDG_STATE_HOME=str(place / "state"), CI="true").strip().splitlines()[-1]
    if "site-packages" not in run(inside, "-c", "import sfumato; print(sfumato.__file__)", cwd=desk):
        sys.exit("The tests saw another sfumato than the installed one.")
    return told


def row_of(version: str, *, wheel: Path, scratch: Path) -> str:
    """The row of one Python, whether it is there or not."""
    python = found_python(version)
    if python is None:
        return f"| {version} | not found here | | | |"
    place = scratch / version
    place.mkdir()
    found = used(python, wheel, place).row
    shutil.rmtree(place)
    return found


def main() -> None:
    """Build, look, use, print; as many Pythons at once as there are cores, so that their times are those of company."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel, sdist = built(Path(scratch))
        if wrong := faults(wheel):
            sys.exit("The wheel is not right:\n" + "\n".join(wrong))
        print(f"{wheel.name}: {wheel.stat().st_size >> 10} KiB; {sdist.name}: {sdist.stat().st_size >> 10} KiB\n")
        print(
            "| Python | installed, MB | installing, s | demo, s | tests of the installed wheel |\n|---|---|---|---|---|"
        )
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for row in pool.map(partial(row_of, wheel=wheel, scratch=Path(scratch)), sys.argv[1:] or PYTHONS):
                print(row, flush=True)


if __name__ == "__main__":
    main()
