"""Releases of every kind, damaged at random, and whether verify finds it, given what others hold."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.privacy.verify import verify
from sfumato.release.signing import load_key, sign_release
from tests.corruptions import FAMILIES, Row, files, forge, read_rows, recounted
from tests.releases import BESIDE, IN_POPULATION, LABELS, SIGNED, given_with, on_desk, release_of, untouched

KINDS = (
    "k_anonymity",
    "shares",
    "recursive",
    "hierarchical",
    "csv",
    "mondrian",
    "partition",
    LABELS,
    "microaggregate",
    "translate",
    "private_tree",
    BESIDE,
    IN_POPULATION,
    SIGNED,
)
PAGES = ("certificate.md", "certificate.html")
"""Made from the certificate: a release may come without them, not with others."""


def still_beside(kind: str, folder: Path) -> bool:
    """Whether what others hold (an earlier release, a population, a key) says of the folder what it said before."""
    first = untouched(kind)
    if kind == SIGNED:
        now, then = _contents(folder), _contents(first)
        return now == {name: then.get(name) for name in now} and {*then} - {*now} <= {*PAGES}
    if kind not in {BESIDE, IN_POPULATION}:
        return True
    rules, before = (json.loads((one / "recoding.json").read_text(encoding="utf-8")) for one in (folder, first))
    trees, grown = ({path.name: path.read_bytes() for path in one.glob("taxonomies/*")} for one in (folder, first))
    rows, shown = read_rows(folder), read_rows(first)
    if kind == IN_POPULATION:  # who shows what in the population is as before, and nobody shows something new
        same = _shown(rows, rules["attributes"]) <= _shown(shown, rules["attributes"])
    else:  # versions of one table: what no recoding masks is there as often
        plain = [name for name in shown[0] if name not in rules["attributes"]]
        same = len(rows) == len(shown) and _counted(rows, plain) == _counted(shown, plain)
    return bool(same and rules["attributes"] == before["attributes"] and trees == grown)


def _shown(rows: Sequence[Row], names: Iterable[str]) -> set[tuple[Any, ...]]:
    return set(_counted(rows, names))


def _counted(rows: Sequence[Row], names: Iterable[str]) -> Counter[tuple[Any, ...]]:
    on = list(names)
    return Counter(tuple(row[name] for name in on) for row in rows)


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files(folder)}


def _sign_again(chance: random.Random, folder: Path) -> None:
    """What a forger can do about a signature: leave it, take it away, put another's there."""
    what = chance.choice(["leave", "take away", "another's"])
    if what == "take away":
        (folder / "certificate.sig").unlink(missing_ok=True)
    elif what == "another's" and (folder / "certificate.json").is_file():
        sign_release(folder, load_key(on_desk("stranger")))


@dataclass(frozen=True)
class Outcome:
    """What was done to which release, whether it was forged, whether verify holds, and whether rightly."""

    kind: str
    family: str
    change: str
    forged: bool
    holds: bool
    harmless: bool


def outcome_of(kind: str, seed: int) -> Outcome:
    """One release, damaged at random, by chance with a forger's hashes: whether verify holds, and the truth."""
    chance = random.Random(f"{kind} {seed}")
    family = chance.choice(list(FAMILIES))
    change, forged = chance.choice(FAMILIES[family]), chance.random() < 0.5
    with tempfile.TemporaryDirectory() as place:
        folder = release_of(kind, Path(place) / "out")
        before = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
        change(chance, folder)
        if forged:
            forge(folder)
        if forged and kind == SIGNED:
            _sign_again(chance, folder)
        try:
            holds = verify(folder, **given_with(kind)).holds
        except ReleaseError:  # without a certificate it is no release
            holds = False
        harmless = holds and recounted(folder, before) and still_beside(kind, folder)
    return Outcome(kind, family, change.__name__, forged, holds, harmless)
