"""Killed at any moment: no release by halves, none without its entry, no entry lost, and the next run works."""

from __future__ import annotations

import hashlib
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.privacy.ledger import Entry, Ledger, People
from sfumato.release.signing import load_key, make_key, sign_release
from tests.e2e.killing import BROKEN, NEVER, Ended, Nursery

RECIPE = """
sfumato: 1
table: {folder}/people.csv
attributes:
  age: {{kind: number, role: quasi, range: [20, 60]}}
  town: {{kind: category, role: quasi}}
  ill: {{kind: category, role: sensitive}}
structure: {{clusters: kmeans, k: 2, seed: 0, n_init: 1}}
privacy:
  - {{k_anonymity: 4, on: [age, town]}}
mask: {{top_down: {{}}}}
"""


def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    chance = random.Random(0)
    people = [f"{chance.randrange(20, 60)},{chance.choice('ABC')},{chance.choice(['yes', 'no'])}" for _ in range(150)]
    (folder / "people.csv").write_text("\n".join(["age,town,ill", *people]) + "\n")
    (folder / "recipe.yaml").write_text(RECIPE.format(folder=folder))
    return folder


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Jobs that publish and sign."""
    found = Nursery(_folder(tmp_path_factory))
    yield found
    found.close()


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Jobs that write a release or enter one."""
    found = Nursery(_folder(tmp_path_factory), releases=True)
    yield found
    found.close()


class Watched:
    """Owns what was seen of an output folder and its ledger, and looks again after every kill."""

    def __init__(self, output: Path, ledger: Path) -> None:
        self.output, self.holder = output, output.with_name(output.name + ".holder")
        self.ledger = Ledger(ledger)
        self.entries: list[str] = [entry.id for entry in self.ledger.entries()]
        self.stood = False
        self.verified: set[str] = set()

    def look(self) -> None:
        """What must hold after any kill."""
        entries = self.ledger.entries()  # raises if the chain is broken
        assert [entry.id for entry in entries][: len(self.entries)] == self.entries, "an entry was lost"
        self.entries = [entry.id for entry in entries]
        if self.output.exists():
            self._whole(list(entries))
        elif self.stood:
            assert self._aside(), "an earlier release is gone"
        if self.holder.exists():
            assert (self.holder / "README.md").is_file(), "README.md is written last"

    def _whole(self, entries: list[Entry]) -> None:
        self.stood = True
        content = _content(self.output)
        if content not in self.verified:
            verdict = sf.verify(self.output)
            assert verdict.holds, str(verdict)
            self.verified.add(content)
        certificate = hashlib.sha256((self.output / "certificate.json").read_bytes()).hexdigest()
        recipe = hashlib.sha256((self.holder / "recipe.yaml").read_bytes()).hexdigest()
        entered = [entry.recipe for entry in entries if entry.certificate == certificate]
        assert entered, "a release without an entry"
        assert recipe in entered, "a holder's folder of another release"

    def _aside(self) -> list[Path]:
        return list(self.output.parent.glob(f".{self.output.name}.*.sfumato-old"))

    def settled(self) -> None:
        """What must hold after a run that was left alone."""
        self.look()
        assert self.output.exists()
        assert [path.name for path in self.output.parent.glob(f".{self.output.name}.*")] == []
        assert self.ledger.entries()[-1].written


def _content(folder: Path) -> str:
    """A hash of every name and byte."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    parts = [f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@pytest.mark.parametrize("before", [False, True], ids=["new", "replacing"])
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_before_any_step_of_writing(every: int, before: bool, ready: Nursery) -> None:
    watched = Watched(ready.folder / f"{every} {before}" / "out", ready.ledger)
    output = str(watched.output)
    step = random.randrange(1 - every, 1)
    killed = True
    while killed:
        step += every
        if before:  # from the same beginning: another release stands there
            assert ready.run("write", "6", output).code == 0
            watched.settled()
        killed = ready.run("write", "4", output, step=step).signal == signal.SIGKILL
        watched.look()
        if killed and step % 5 == 0:  # killed once more, while it mends what is left
            ready.run("write", "4", output, step=1 + step % 13)
            watched.look()
    watched.settled()
    assert step > 40, "there are as many steps, and each was the last one once"


@pytest.mark.parametrize("before", [False, True], ids=["new", "replacing"])
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_the_disk_full_from_any_step_of_writing_on(every: int, before: bool, ready: Nursery) -> None:
    """Told in words, not by a traceback; what stood stands; and with room again the release is written."""
    watched = Watched(ready.folder / f"full {every} {before}" / "out", ready.ledger)
    output = str(watched.output)
    step, codes = random.randrange(1 - every, 1), set()
    while 0 not in codes:
        step += every
        if before:
            assert ready.run("write", "6", output).code == 0
            watched.settled()
        codes.add(ready.run("write", "4", output, step=step, full=True).code)
        watched.look()
        assert BROKEN not in codes, f"step {step} ends in a traceback"
    assert ready.run("write", "4", output).code == 0
    watched.settled()
    assert step > 20, "there are as many steps, and each was the last one once"


@pytest.mark.parametrize("kills", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_killed_while_entering(kills: int, ready: Nursery) -> None:
    chance = random.Random(1)
    path, told = ready.folder / f"entering {kills}" / "ledger.jsonl", ready.folder / f"told {kills}"
    ledger = Ledger(path)
    torn = 0
    for at in range(kills):
        if at % 4:
            ended = ready.run("enter", str(path), str(told), step=at + 1)
        else:
            ended = ready.run("enter", str(path), str(told), seconds=chance.random() / 20)
        assert ended.signal == signal.SIGKILL
        entered = [entry.id for entry in ledger.entries()]
        assert set(told.read_text().split() if told.exists() else ()) <= set(entered)
        assert ledger.spent(People.named("us")) == len(entered)
        torn += ledger.chain().torn > 0
    assert torn > kills / 20, "writes were cut in the middle"


@pytest.mark.slow
def test_killed_while_publishing(imported: Nursery) -> None:
    """Half of them before a step that touches the disk, half after some time; every tenth run is left alone."""
    chance = random.Random(2)
    watched = Watched(imported.folder / "publishing" / "out", imported.ledger)
    steps = _publish(imported, watched, 4).steps
    began = time.perf_counter()  # the first run was cold
    _publish(imported, watched, 4)
    seconds = time.perf_counter() - began
    killed = 0
    while killed < 60:
        k = chance.choice([4, 6])
        if killed % 2:
            ended = _publish(imported, watched, k, step=chance.randrange(1, steps + 1))
        else:
            ended = _publish(imported, watched, k, seconds=seconds * chance.random())
        killed += ended.signal == signal.SIGKILL
        if killed % 10 == 9:
            assert _publish(imported, watched, k).signal == 0
    assert _publish(imported, watched, 4).signal == 0


def _publish(nursery: Nursery, watched: Watched, k: int, *, step: int = NEVER, seconds: float | None = None) -> Ended:
    recipe = str(nursery.folder / "recipe.yaml")
    settings = ("--no-report", "--no-suggest", "--engine", "reference", "--set", f"privacy.0.k={k}")
    ended = nursery.run("publish", recipe, "-o", str(watched.output), *settings, step=step, seconds=seconds)
    watched.look()
    if ended.signal == 0:
        assert ended.code == 0
        watched.settled()
    return ended


def _chain_holds(output: Path) -> int:
    """Every version under its final name verifies, with those before it; give how many there are."""
    stand = [folder for folder in (output / "clusters-2", output / "clusters-3") if folder.exists()]
    for at, folder in enumerate(stand):
        verdict = sf.verify(folder, others=stand[:at])
        assert verdict.holds, str(verdict)
    return len(stand)


@pytest.mark.slow
def test_killed_while_publishing_a_family(imported: Nursery) -> None:
    """Every version that stands verifies with those before it, is in the ledger, and the next run replaces them."""
    chance, recipe = random.Random(3), str(imported.folder / "recipe.yaml")
    ledger = Ledger(imported.ledger)

    def publish(output: Path, *, step: int = NEVER) -> Ended:
        settings = ("--clusters", "2,3", "--no-report", "--engine", "reference")
        return imported.run("publish", recipe, "-o", str(output), *settings, step=step)

    steps = publish(imported.folder / "family whole").steps
    found: list[int] = []
    killed = at = 0
    while killed < 15:  # a run can take some steps fewer than the first one
        at += 1
        output = imported.folder / f"family {at}" / "out"
        killed += publish(output, step=chance.randrange(1, steps + 1)).signal == signal.SIGKILL
        found.append(_chain_holds(output))
        entered = {entry.certificate for entry in ledger.entries()}
        for certificate in output.glob("clusters-?/certificate.json"):
            assert hashlib.sha256(certificate.read_bytes()).hexdigest() in entered, "a release without an entry"
        if at % 5 == 0:
            assert publish(output).code == 0
            assert _chain_holds(output) == 2
    assert len(set(found)) > 1, "killed before and after the first version was there"


@pytest.mark.slow
def test_killed_before_any_step_of_signing(imported: Nursery) -> None:
    """Under its name a signature is whole, the earlier one or the new one; and the release stays a release."""
    output, key = imported.folder / "signing" / "out", imported.folder / "key"
    _publish(imported, Watched(output, imported.ledger), 4)
    make_key(key)
    make_key(imported.folder / "earlier key")
    signature, public = output / "certificate.sig", Path(f"{key}.pub")
    for before in (False, True):
        step, killed = 0, True
        while killed:
            signature.unlink(missing_ok=True)
            if before:
                sign_release(output, load_key(imported.folder / "earlier key"))
            earlier = signature.read_bytes() if before else None
            step += 1
            killed = imported.run("sign", str(output), str(key), step=step).signal == signal.SIGKILL
            now = signature.read_bytes() if signature.exists() else None
            assert sf.verify(output).holds
            assert now == earlier or sf.verify(output, key=public).holds
        assert sf.verify(output, key=public).holds
        assert step > 5, "there are as many steps, and each was the last one once"
