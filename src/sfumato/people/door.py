"""`load`, the recipient's door: the folder of a release is verified, and opened if every check of it holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfumato.calls import called
from sfumato.errors import ReleaseError, warn
from sfumato.people.frames import Kind, check_kind, usual_kind
from sfumato.people.people import People
from sfumato.privacy.verify import Verdict
from sfumato.privacy.verify import verify as verify_folder
from sfumato.release.certificate import population_of
from sfumato.release.reading import read_certificate, typed_rows

UNVERIFIED = "; or look at it unverified, with verify=False"
"""What else whoever loads a release can do about a check that fails."""


@called
def load(
    folder: str | Path,
    *,
    verify: bool = True,
    kind: Kind | None = None,
    others: Sequence[str | Path] = (),
    population: object = None,
) -> People:
    """A release, opened by its recipient.

    It is verified first, and refused if any check fails; with `verify=False` it is not, and a warning says so. `kind`:
    in which library tables are given, "pandas", "polars" or "arrow"; pandas where that is installed. `others` are the
    folders of earlier releases, for a release that is claimed to be safe with them; `population` is the table of
    everybody, for one that claims a k-map.
    """
    check_kind(kind or usual_kind())
    if not verify:
        warn(
            f"{folder} was not verified: nothing says that its claims hold, or that its files are as they were written"
        )
        return opened(folder, None, kind)
    verdict = verify_folder(folder, others=others, population=population_of(population))
    return accepted(folder, verdict, kind, or_else=UNVERIFIED)


def accepted(folder: str | Path, verdict: Verdict, kind: Kind | None = None, *, or_else: str = "") -> People:
    """A release that was verified, opened; refused if a check failed. `or_else`: what else its reader can do then."""
    if not verdict.holds:
        raise ReleaseError(
            str(folder),
            "a release is opened once every check of it holds",
            given="; ".join(f"{check.name}: {check.detail}" for check in verdict.failed),
            remedy=f"where a check says what to give, give it; else ask for the release again{or_else}",
        )
    return opened(folder, verdict, kind)


def opened(folder: str | Path, verdict: Verdict | None = None, kind: Kind | None = None) -> People:
    """A release as it stands there, whether it was verified or not."""
    return People(Path(folder), read_certificate(folder), typed_rows(folder), kind or usual_kind(), verdict)
