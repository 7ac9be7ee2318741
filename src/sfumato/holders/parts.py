"""Several holders under budgets: each publishes its own people with noise of its own, and the parts go out together.

Nobody's record is in two tables, so that what one record may change is one part: of all parts together epsilon is the
largest of theirs (parallel composition; McSherry, 2009). That people are apart is the holders' word; whoever stands in
two tables is protected by the sum, which is told, too.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from sfumato.calls import called
from sfumato.data.safe_files import written
from sfumato.errors import RecipeError, ReleaseError
from sfumato.holders.together import agree, lines_of
from sfumato.privacy.verify import verify
from sfumato.recipe import Recipe
from sfumato.release.output import check_output
from sfumato.release.reading import read_certificate, read_rows

TOGETHER = "together.json"
ASSUMES = "no person has a record in two of the tables"
COMPOSITION = "parallel"


@dataclass(frozen=True)
class Parts:
    """Releases of several holders in one folder. `epsilon`: what all of them cost anybody who is in one table.

    `at_most`: what they cost somebody who is in all of them.
    """

    folder: Path
    folders: tuple[Path, ...]
    epsilon: Fraction
    at_most: Fraction

    @property
    def table(self) -> pa.Table:
        """The rows of all parts, one below the other."""
        return pa.concat_tables([read_rows(folder) for folder in self.folders], promote_options="permissive")


@called
def publish_parts(holders: Sequence[object], recipe: Recipe | str | Path, folder: str | Path) -> Parts:
    """Every holder's release under the recipe's budget, verified, in one new folder.

    `holders`: as for `publish_together`. Each draws its own noise and enters its release in its own ledger; what comes
    up is the release and nothing else.
    """
    recipe = Recipe.of(recipe)
    if not recipe.mask.guarantee.spends:
        raise RecipeError(
            "holders", "each part spends a budget", given="none", remedy="add one, or use publish_together"
        )
    target, lines = Path(folder), lines_of(holders, recipe)
    check_output(target)
    if target.exists():
        raise ReleaseError(str(target), "parts go into a new folder", given="one that is there", remedy="name another")
    agree(lines, recipe)
    answers = [line.ask({"ask": "release"}).get("files") for line in lines]
    target.mkdir(parents=True)
    try:
        for at, files in enumerate(answers, start=1):
            _write(target / str(at), files)
        told = _told(target, [str(at) for at in range(1, len(lines) + 1)])
        (target / TOGETHER).write_text(written(told) + "\n", encoding="utf-8")
        return verify_parts(target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


def _write(folder: Path, files: object) -> None:
    """The files of one release, each below its folder."""
    if not isinstance(files, dict):
        raise _damaged(folder, "a holder gives the files of its release")
    for name, content in files.items():
        path = PurePosixPath(str(name))
        if path.is_absolute() or ".." in path.parts or not isinstance(content, str):
            raise _damaged(folder, "a file of a release lies in its folder")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(base64.b64decode(content, validate=True))


def _told(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """What together.json says: of each part the certificate and its epsilon, and what they come to."""
    parts, prices = [], []
    for name in names:
        certificate = read_certificate(folder / name)
        prices.append(_epsilon(folder / name, certificate))
        content = (folder / name / "certificate.json").read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        parts.append({"folder": name, "certificate": digest, "epsilon": str(prices[-1])})
    return {
        "format": 1,
        "composition": COMPOSITION,
        "assumes": ASSUMES,
        "epsilon": str(max(prices)),
        "at_most": str(sum(prices)),
        "parts": parts,
    }


def _epsilon(folder: Path, certificate: Mapping[str, Any]) -> Fraction:
    part = certificate.get("differential_privacy")
    if not isinstance(part, dict) or part.get("private") is not True:
        raise _damaged(folder, "every part is a release under differential privacy, with noise that nobody can repeat")
    return Fraction(str(part["epsilon"]))


@called
def verify_parts(folder: str | Path) -> Parts:
    """Verify every part, and that together.json says what they come to; what does not hold is raised."""
    target = Path(folder)
    try:
        form = json.loads((target / TOGETHER).read_text(encoding="utf-8"))
        names = [str(part["folder"]) for part in form["parts"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise _damaged(target, f"releases of several holders come with {TOGETHER}") from None
    there = {path.name for path in target.iterdir()}
    if names != [str(at) for at in range(1, len(names) + 1)] or {*names, TOGETHER} != there:
        raise _damaged(target, f"the folder has the parts that {TOGETHER} names, and nothing else")
    for name in names:
        verdict = verify(target / name)
        if not verdict.holds:
            raise _damaged(target / name, "; ".join(f"{one.name}: {one.detail}" for one in verdict.failed))
    if form != _told(target, names):
        raise _damaged(target, f"{TOGETHER} says what the parts come to, and nothing else")
    columns = [[(one["name"], one["kind"]) for one in read_certificate(target / n)["table"]["columns"]] for n in names]
    if any(some != columns[0] for some in columns):
        raise _damaged(target, "all parts have the same columns")
    folders = tuple(target / name for name in names)
    return Parts(target, folders, Fraction(form["epsilon"]), Fraction(form["at_most"]))


def _damaged(folder: Path, rule: str) -> ReleaseError:
    return ReleaseError(str(folder), rule, given="something else", remedy="ask for the parts again")
