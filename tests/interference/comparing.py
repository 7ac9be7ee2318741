"""Releases of two neighbouring tables with the same noisy answers, compared byte by byte."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self
from unittest.mock import patch

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.privacy.budget import Spending
from sfumato.privacy.mechanisms import Noise
from sfumato.publishing import Run
from sfumato.randomness import Seeded
from sfumato.release import accounting
from sfumato.release.bundle import Format
from sfumato.release.report import report
from tests.interference.script import Face, Script, Scripted
from tests.interference.tables import Row, table_of


@dataclass(frozen=True)
class Setting:
    """All that is public of a release: the recipe, how it is written, and which answers are given.

    `holder`: whether the holder's edition of the report is drawn as well, which takes longest and does not go out.
    """

    recipe: sf.Recipe
    seed: int = 0
    report: bool = True
    holder: bool = False
    format: Format = "parquet"


@dataclass(frozen=True)
class Seen:
    """What leaves: the bytes of every file, and the questions behind it without the records. `refused`: in words."""

    files: dict[str, bytes]
    asked: tuple[Face, ...]
    refused: str = ""


def publish(setting: Setting, rows: Sequence[Row], *, door: type[Scripted] = Scripted) -> Seen:
    """The written folder of one table, with scripted answers, a fixed order of rows and a clock that stands still."""
    script = Script(setting.seed)

    def opened(spending: Spending, noise: Noise) -> Scripted:
        return door(spending, script)

    run = Run(chance=Seeded(setting.seed), report=setting.report, format=setting.format)
    with (
        TemporaryDirectory() as place,
        patch.object(accounting, "Mechanisms", opened),
        patch("sfumato.evaluation.generated.STARTS", 2),  # of a table of a few rows, thirty tell no more
        patch.object(report, "holder_report", report.holder_report if setting.holder else unseen),
        still(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            folder = sf.publish(table_of(rows), setting.recipe, run=run).write(Path(place) / "out")
        except SfumatoError as error:
            return Seen({}, tuple(script.asked), str(error))
        return Seen(read(folder), tuple(script.asked))


def unseen(*_: object) -> str:
    """In the place of the holder's edition."""
    return ""


def read(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its path."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Stopped(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """Always the same."""
        return cls(2026, 1, 1, tzinfo=tz)


@contextmanager
def still() -> Iterator[None]:
    """Within, every certificate is made at the same moment."""
    with patch("sfumato.release.certificate.datetime", Stopped):
        yield


def differences(one: Seen, other: Seen) -> list[str]:
    """In what two releases differ: files, their bytes, questions. A release that was refused is one."""
    found = [f"refused: {seen.refused}" for seen in (one, other) if seen.refused]
    found += [f"only one has {name}" for name in sorted(one.files.keys() ^ other.files.keys())]
    found += [f"{name} differs" for name in one.files if name in other.files and one.files[name] != other.files[name]]
    if one.asked != other.asked:
        at = next((at for at, (a, b) in enumerate(zip(one.asked, other.asked, strict=False)) if a != b), -1)
        found.append(f"question {at} differs" if at >= 0 else "one asks more questions")
    return found
