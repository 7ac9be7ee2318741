"""Whether what is asked for stands already: the same recipe, the same table, the same folder."""

from __future__ import annotations

from pathlib import Path

from sfumato.data.reading import read
from sfumato.events import step
from sfumato.privacy.ledger import Entry, Likeness
from sfumato.privacy.verify.files.regular_files import MOST_OF_JSON, sha256_of
from sfumato.privacy.verify.verdict import CheckError
from sfumato.publishing.case import Run
from sfumato.recipe import Recipe
from sfumato.release.accounting import recipe_hash
from sfumato.release.output import CERTIFICATE


def already_published(table: object, recipe: Recipe, output: Path, *, run: Run) -> Entry | None:
    """The entry of the release that stands in a folder, if this recipe made it from this table; the table is read only
    where all else fits. Only people with a name are asked about: others may be released again.
    """
    if recipe.people is None:
        return None
    whole, folder = recipe_hash(recipe), str(output.absolute())
    found = [entry for entry in run.ledger.releases() if (entry.recipe, entry.folder) == (whole, folder)]
    standing = [entry for entry in found if entry.written and entry.likeness is not None and stands(entry)]
    if not standing or not _same(table, recipe, standing[-1], run):
        return None
    return standing[-1]


def stands(entry: Entry) -> bool:
    """Whether a release still stands where it was written."""
    try:
        return sha256_of(Path(entry.folder) / CERTIFICATE, most=MOST_OF_JSON) == entry.certificate
    except (CheckError, OSError):
        return False


def _same(table: object, recipe: Recipe, entry: Entry, run: Run) -> bool:
    """Whether a table is known by all that an entry knows its own by."""
    seen: list[Likeness] = []
    with step("Looking whether it is released already"):
        read(
            table,
            recipe.schema,
            encoding=recipe.encoding,
            witness=lambda raw: seen.append(run.ledger.look(raw)),
            stream=run.stream,
            query=recipe.query,
        )
    return bool(seen) and entry.likeness is not None and seen[-1].to_json() == entry.likeness.to_json()
