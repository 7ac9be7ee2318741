"""A family of versions in the terminal: `sfumato publish RECIPE --clusters 2,4,6`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli.output import note, show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sfumato.sweeping.family import Family

FIGURES = {"agreement": "agreement", "f_measure.start": "F-measure"}


def numbers_of(text: str) -> list[int]:
    """The numbers of clusters.

    >>> numbers_of("2, 4,6")
    [2, 4, 6]
    """
    from sfumato.errors import RecipeError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 7 for part in parts):
        raise RecipeError("--clusters", "it is a list of whole numbers", given=repr(text),
                          remedy="say --clusters 2,4,6")  # fmt: skip
    return [int(part) for part in parts]


def show_family(family: Family, output: Path) -> None:
    """One line a version: what survived, and the smallest group that all versions so far make together."""
    from rich.table import Table

    table = Table(title=f"{len(family.releases)} versions, safe together", title_justify="left")
    for heading in ("clusters", *FIGURES.values(), "smallest group", "with those above, joined"):
        table.add_column(heading, justify="right")
    for number, release in family.releases.items():
        alone = [claim["achieved"] for claim in release.certificate["claims"] if claim["claim"] == "k_anonymity"]
        joint = [claim["achieved"] for claim in release.certificate["claims"] if claim["claim"] == "joint_k_anonymity"]
        table.add_row(str(number), *(_figure(release.scores, name) for name in FIGURES), str(min(alone)),
                      str(min(joint)) if joint else "")  # fmt: skip
    show(table)
    note(
        f"wrote {', '.join(str(folder) for folder in family.folders.values())} (hand them over), each with its .holder"
    )
    first, *_, last = family.folders.values()
    show(f"Check them again at any time: sfumato verify {last} --with {first} ...")


def _figure(scores: Mapping[str, Any], name: str) -> str:
    found = scores.get("scores", {}).get(name)
    return "" if found is None else f"{found['value']:.3f}"
