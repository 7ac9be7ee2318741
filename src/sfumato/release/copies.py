"""Copies of a release's table in a database, or in Spark. The folder stays the release: it is what verify checks.

`recount` asks the engine itself for the smallest groups of a copy, by a statement of its own, beside verify.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.sources.counted import Recount
from sfumato.data.sources.sql.copies import address_of, is_copy, is_taken, try_copy, write_copy
from sfumato.data.sources.sql.copies import recount as recount_in_sql
from sfumato.errors import ReleaseError, TableError
from sfumato.release.reading import read_certificate, typed_rows

WRITTEN = "written"
"""Beside a verified folder in its temporary place: where it was written to."""


@dataclass(frozen=True)
class Recounted:
    """One claim of group sizes, counted again by the engine that holds a copy."""

    on: tuple[str, ...]
    k: int
    rows: int
    smallest: int
    holds: bool
    released: int

    def __str__(self) -> str:
        size = f"the smallest group has {'at least' if self.smallest >= self.k else 'FEWER than'} {self.k}"
        counted = size if self.rows == self.released else f"{self.rows:,} rows of {self.released:,}, and {size}"
        return f"{'holds' if self.holds else 'FAILS'}: counted by the database on {', '.join(self.on)}: {counted}"


def remember_written(scratch: Path, folder: Path) -> None:
    """A release that was written to a folder may be copied."""
    (scratch / WRITTEN).write_text(str(folder), encoding="utf-8")


def copy_release(scratch: Path, shown: pa.Table, address: str, table: str | None) -> Path:
    """Write a released table to a database, in one transaction; gives back the folder that stays the release."""
    found = address_of(address, table)
    if not (scratch / WRITTEN).exists():
        raise ReleaseError(
            found.called,
            "a release is a folder, which is entered in the ledger; a database gets a copy of its table",
            given="a release that was not written yet",
            remedy='write the folder first: release.write("out")',
        )
    write_copy(found, shown)
    return Path((scratch / WRITTEN).read_text(encoding="utf-8"))


def has_copy(address: str, folder: Path) -> bool:
    """Whether the table that an address names is there and holds the rows of a release; refused where it is another
    one, or where none could be written."""
    found = address_of(address, None)
    try:
        try_copy(found)
    except TableError as error:
        if not is_taken(error):
            raise
        if not is_copy(found, typed_rows(folder)):
            given = f"{error.given}; it was compared, and is no copy of this release: other rows or other columns"
            raise TableError(error.thing, error.rule, given=given, remedy=error.remedy) from None
        return True
    return False


def copy_rows(shown: pa.Table, certificate: Mapping[str, Any], address: str) -> dict[str, int]:
    """Write the rows of a release to a new table of a database, which counts the smallest group of each claim."""
    found = address_of(address, None)
    write_copy(found, shown)
    on = [claim["on"] for claim in certificate["claims"] if _of_groups(claim)]
    return {", ".join(one.on): one.smallest for one in recount_in_sql(found, on)}


def recount(copy: object, release: str | Path, *, table: str | None = None) -> list[Recounted]:
    """Count the copy of a release's table in the engine that holds it, for every claim of k-anonymity.

    `copy`: the address of a database, with `table` or ?table= in it, or a Spark data frame.
    """
    certificate = read_certificate(release)
    claims = [claim for claim in certificate["claims"] if _of_groups(claim)]
    counted = _counted(copy, [claim["on"] for claim in claims], table)
    return [_held(claim, found, certificate) for claim, found in zip(claims, counted, strict=True)]


def _of_groups(claim: Mapping[str, Any]) -> bool:
    """Whether a claim is about the sizes of the groups in this table alone: no other release, no population."""
    return isinstance(claim["achieved"], int) and "k" in claim and not {"with", "population"} & set(claim)


def _counted(copy: object, on: Sequence[Sequence[str]], table: str | None) -> list[Recount]:
    if isinstance(copy, str):
        return recount_in_sql(address_of(copy, table), on)
    from sfumato.data.sources.spark.source import recount_frame

    return [recount_frame(copy, names) for names in on]


def _held(claim: Mapping[str, Any], found: Recount, certificate: Mapping[str, Any]) -> Recounted:
    k = int(claim["k"])
    released = int(certificate["table"]["rows"])
    holds = found.smallest >= k and found.rows == released
    return Recounted(found.on, k, found.rows, found.smallest, holds, released)
