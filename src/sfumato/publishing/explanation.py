"""Why the values of a release look as they do, as its holder asks: in words, and as a card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.calls import called
from sfumato.data.safe_files import read_text
from sfumato.display import Card
from sfumato.errors import ReleaseError
from sfumato.maskers.partition.explanation import explain as tell_values
from sfumato.maskers.topdown.explanation import explain as tell_search
from sfumato.publishing.orders import check_folder
from sfumato.publishing.orders import explain as search_again
from sfumato.publishing.row_explanation import explain_row
from sfumato.release.output import TABLE_WAS, holder_of
from sfumato.release.reading import read_certificate, read_history, read_recipe_of

LONGEST_PATH = 8192


@dataclass(frozen=True, eq=False)
class Explanation:
    """What was found out, for the holder's eyes: `text` in words, `history` as plain JSON."""

    text: str
    history: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return Card("Why values look as they do, for your eyes only", self.text.split("\n")).html()


@called
def explain(
    release: str | Path,
    attribute: str | None = None,
    *,
    value: str | None = None,
    row: int | None = None,
    raw: object = None,
) -> Explanation:
    """Why the values of a release look as they do, and which k would show more.

    `release`: the folder, with the holder's beside it. `attribute`: of this one alone; `value`: of one value, as the
    table shows it; `row`: of one row of the raw table by its number, the first being 1: in which group it is, what it
    shows, and why no finer. `raw`: the raw table, anything that `publish` takes. A top-down search is told from the
    holder's folder, and with the raw table is run again with lower k; a partition is told beside the raw table, which
    is that of the holder's recipe unless another is given.
    """
    check_folder(release)
    history: Mapping[str, Any] = read_history(release)
    if row is not None:
        if value is not None:
            remedy = "leave out value, or name a value and no row"
            raise ReleaseError("row", "a row is explained with what it shows", given="row and value", remedy=remedy)
        raw = raw if raw is not None else _named(release)
        if raw is None:
            raise _untold(release, beside=False)
        return Explanation(explain_row(raw, release, row, attribute), history)
    if raw is None and "rounds" not in history:
        raw = _named(release)
    if raw is not None:
        history = search_again(raw, release)
    if "values" in history:
        return Explanation(tell_values(history, attribute, value=value), history)
    if "rounds" not in history:
        raise _untold(release, beside=raw is not None)
    if value is not None:
        raise ReleaseError(
            value,
            "values of a partition are explained one by one",
            given="a top-down search",
            remedy="name an attribute",
        )
    return Explanation(tell_search(history, attribute), history)


def _named(release: str | Path) -> Path | None:
    """The raw table where the holder's recipe has it, seen from here or from beside the release, or where it lay when
    it was published; maybe none."""
    named = read_recipe_of(release).table
    holder = holder_of(Path(release).resolve())
    found = [place / named for place in (Path(), holder.parent) if (place / named).is_file()] if named else []
    noted = holder / TABLE_WAS
    if not found and noted.is_file():
        was = Path(read_text(noted, what=TABLE_WAS, most=LONGEST_PATH, kind=ReleaseError).rstrip("\n"))
        found = [was] if was.is_file() else []
    return found[0] if found else None


def _untold(release: str | Path, *, beside: bool) -> ReleaseError:
    where = f"{holder_of(Path(release).resolve()).name}/recipe.yaml"
    missing = "" if beside else f", and no table where {where} would have it"
    return ReleaseError(
        str(release),
        "a top-down search is explained, and a partition beside the raw table",
        given=f"a release masked by {read_certificate(release).get('mask')}{missing}",
        remedy="its README.md and the holder's folder say what was done"
        if beside
        else "of a partition, name the raw table: --raw TABLE, in Python raw=TABLE",
    )
