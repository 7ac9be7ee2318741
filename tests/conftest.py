"""Release folders made by hand: nothing of the library but its writer of tables takes part."""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import settings

from sfumato.data.writing import write
from sfumato.privacy.verify.texts import pages
from sfumato.privacy.verify.texts.datapackage import PACKAGE
from sfumato.privacy.verify.texts.readme import readme
from sfumato.privacy.verify.verdict import CheckError
from tests.packages import repack

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs the tests in its background ignores Ctrl-C
# Machines are noisy: no test asserts a time. A test that needs more examples than these asks for them.
settings.register_profile("no clock", deadline=None, derandomize=False, max_examples=50)
# In CI every run draws the same examples: a change fails for what it does, never by the chance that another one's
# unlucky example is drawn that day. Everywhere else they are drawn anew, which is how such examples are found.
settings.register_profile("CI", settings.get_profile("no clock"), derandomize=True)
settings.load_profile("CI" if os.environ.get("CI") else "no clock")

MEASURING = ("golden", "test_paper", "test_evaluat", "test_measur", "test_report", "generated", "clusters")
"""Tests that read how well clusters are found again from many starts; all others publish with few."""


@pytest.fixture(autouse=True, scope="module")
def few_starts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Half of a small publish is clustering again from many starts, for figures that few tests read."""
    slow = any(mark.name == "slow" for mark in request.node.own_markers)
    if slow or any(part in str(request.path) for part in MEASURING):
        yield
        return
    with (
        patch("sfumato.evaluation.report.ONE_START_RUNS", 1),
        patch("sfumato.evaluation.report.TEN", 2),
        patch("sfumato.evaluation.generated.STARTS", 2),
    ):
        yield


TREE: dict[str, Any] = {
    "label": "ANY",
    "below": [
        {"label": "Secondary", "below": ["9th", "10th"]},
        {"label": "University", "below": ["Bachelors", {"label": "Graduate", "below": ["Masters", "PhD"]}]},
    ],
}
PRUNED: dict[str, Any] = {
    "label": None,
    "below": [{"label": None, "below": ["Bachelors", "Graduate"]}, "Secondary"],
}
SCHOOLS = {"9th": "Secondary", "10th": "Secondary", "Bachelors": "Bachelors", "Masters": "Graduate", "PhD": "Graduate"}
RECODING: dict[str, dict[str, Any]] = {
    "age": {"kind": "discretize", "range": [17, 90], "breaks": [37], "missing": "apart"},
    "education": {"kind": "generalize", "cut": ["Bachelors", "Graduate", "Secondary"]},
    "country": {"kind": "suppress", "disclosed": ["Mexico", None], "complete": False},
    "born": {"kind": "discretize", "range": None, "breaks": ["1970-04"], "calendar": "quarter"},
}
TOPS = {"age": "*", "education": "ANY", "country": "*", "born": "[*..*]"}
MASKED = {name: str(rule["kind"]) for name, rule in RECODING.items()}
NUMBERS = ("age", "born", "hours")
GROUNDS = "Recounted from the written file by code that shares nothing with the masker (sfumato verify)."
NOT_CLAIMED = [
    "Nothing is claimed against somebody who knows other attributes of a person than those listed, or who knows the "
    "records of others in the table.",
    'A value of "income" that all records of a group share is not hidden by the size of the group.',
    "It does not hold across several releases of the same people.",
]
Row = dict[str, Any]


def _person(chance: random.Random, at: int) -> Row:
    return {
        "name": f"person {at}",
        "age": chance.choice([None, *range(17, 91), *range(17, 91)]) if at % 9 else None,
        "education": chance.choice(list(SCHOOLS)),
        "country": chance.choice(["Mexico", "Mexico", "Peru", "Chile", None]),
        "born": date(1970, 1, 1 + at % 28) if at % 2 else date(1970 + at % 30, 4 + at % 9, 1 + at % 28),
        "income": chance.choice([">50K", "<=50K", None, ""]),
        "hours": chance.choice([20, 35.5, 40, -0.0, 0.0, None]),
    }


def _shown(person: Row) -> Row:
    age, country = person["age"], person["country"]
    return {
        "age": None if age is None else "[17-37)" if age < 37 else "[37-90]",
        "education": SCHOOLS[person["education"]],
        "country": country if country in ("Mexico", None) else "*",
        "born": "[*..1970-04)" if person["born"] < date(1970, 4, 1) else "[1970-04..*]",
        "income": person["income"],
        "hours": person["hours"],
    }


@dataclass(frozen=True)
class Blueprint:
    """A raw table, and how the release that is made from it should look."""

    raw: tuple[Row, ...]
    shown: tuple[Row, ...]

    def claims(self) -> list[dict[str, Any]]:
        """Each claims exactly what is there: one record fewer and it is false."""
        return [
            {
                "claim": "k_anonymity",
                "on": on,
                "k": smallest,
                "achieved": smallest,
                "attacker": f"knows that a person is in the table, and {_quoted(on)} of that person: cannot tell which "
                f"of at least {smallest} records is theirs",
                "sentence": f"at least {smallest} records share every combination of values shown for {_quoted(on)}",
            }
            for on in (["age", "education"], ["education", "country", "born"])
            if (smallest := min(Counter(tuple(row[name] for name in on) for row in self.shown).values()))
        ]

    def certificate(self) -> dict[str, Any]:
        """The certificate, still without the hashes."""
        claims = self.claims()
        parts = [claim["sentence"] for claim in claims]
        roles = {**dict.fromkeys(RECODING, "quasi"), "income": "sensitive", "hours": "plain"}
        return {
            "format": 4,
            "sfumato": "0.1.0",
            "created": "2026-01-01T00:00:00+00:00",
            "guarantee": "k_anonymity",
            "statement": f"In this table {'; and '.join(parts)}.",
            "grounds": GROUNDS,
            "not_claimed": NOT_CLAIMED,
            "mask": "top_down",
            "table": {
                "file": "table.parquet",
                "rows": len(self.shown),
                "spreadsheet_safe": False,
                "columns": [
                    {
                        "name": name,
                        "kind": "number" if name in NUMBERS else "category",
                        "role": role,
                        "masked": MASKED.get(name),
                        **({"calendar": "quarter"} if name == "born" else {}),
                    }
                    for name, role in roles.items()
                ],
            },
            "claims": claims,
            "covered": [{"claim": "k_anonymity", "on": ["age"], "k": 2, "by": ["age", "education"]}],
            "lifted": 0,
            "row_order": "shuffled",
            "dropped": 1,
            "along": {},
            "versions": {"numpy": "2.0.0", "pyarrow": "20.0.0", "polars": "1.30.0", "python": "3.11.0"},
            "files": {},
        }

    def raw_table(self) -> pa.Table:
        """What the holder has."""
        return pa.Table.from_pylist(list(self.raw))

    def table(self) -> pa.Table:
        """The shown rows, shuffled, text in dictionaries."""
        rows = random.Random(1).sample(self.shown, len(self.shown))
        return self.encoded(pa.Table.from_pylist(rows))

    def write(self, folder: Path, *, lifted: int = 0) -> Path:
        """The release, as it should be, and the whole recoding in the holder's folder beside it."""
        whole = folder.with_name(f"{folder.name}.holder") / "whole"
        recoding = {"attributes": RECODING, **({"lifted": True} if lifted else {})}
        pruned = {**PRUNED, "label": "ANY"} if lifted else PRUNED
        for place, tree in ((folder, pruned), (whole, TREE)):
            (place / "taxonomies").mkdir(parents=True)
            write_json(place / "taxonomies/education.json", tree)
            write_json(place / "recoding.json", recoding)
        self.write_table(self.table(), folder)
        form = {**self.certificate(), "lifted": lifted}
        (folder / "README.md").touch()
        (folder / PACKAGE).touch()
        write_json(folder / "certificate.json", form)
        return self.rehash(folder)

    def write_csv(self, folder: Path) -> Path:
        """The same with the table as CSV."""
        self.write(folder)
        (folder / "table.parquet").unlink()
        (folder / "table.csv").write_text(self.csv_text(self.table()), encoding="utf-8")
        return self.edit(folder, "certificate.json", lambda form: form["table"].update(file="table.csv"))

    @staticmethod
    def encoded(table: pa.Table) -> pa.Table:
        """The same table with its text in dictionaries."""
        columns = [c.combine_chunks().dictionary_encode() if pa.types.is_string(c.type) else c for c in table.columns]
        return pa.Table.from_arrays(columns, names=table.column_names)

    @staticmethod
    def write_table(table: pa.Table, folder: Path, **options: Any) -> None:
        """Parquet in its canonical form; with options, as pyarrow writes it, which is another."""
        if not options:
            write(table, folder / "table.parquet", order=None)
            return
        bare = {"compression": "zstd", "write_statistics": False, "store_schema": False}
        pq.write_table(table, folder / "table.parquet", **{**bare, **options})

    @staticmethod
    def csv_text(table: pa.Table) -> str:
        """A missing value is an empty cell, an empty text a quoted one."""
        lines = [",".join(table.column_names)]
        lines += [",".join(_cell(value) for value in row.values()) for row in table.to_pylist()]
        return "\n".join(lines) + "\n"

    @staticmethod
    def rehash(folder: Path) -> Path:
        """What a forger does last: hashes that fit the files that are there now."""
        form = read_json(folder / "certificate.json")
        form["files"] = hashes(folder)
        if (folder / PACKAGE).is_file():
            with suppress(Exception):  # a table that nobody can read is described by nothing
                repack(folder, form)
                form["files"] = hashes(folder)
        if (folder / "README.md").is_file():
            with suppress(CheckError, LookupError):  # a certificate that nobody understands has no pages
                (folder / "README.md").write_text(readme(form), encoding="utf-8")
        form["files"] = hashes(folder)
        write_json(folder / "certificate.json", form)
        for name, page in zip(pages.NAMES, (pages.markdown, pages.html), strict=True):
            if (folder / name).is_file():
                with suppress(CheckError):
                    (folder / name).write_text(page(form), encoding="utf-8")
        return folder

    @classmethod
    def edit(cls, folder: Path, file: str, change: Callable[[dict[str, Any]], object], *, rehash: bool = True) -> Path:
        """Change a JSON file in place, and make the hashes fit."""
        form = read_json(folder / file)
        change(form)
        write_json(folder / file, form)
        return cls.rehash(folder) if rehash else folder

    @classmethod
    def replace(cls, folder: Path, table: pa.Table, **options: Any) -> Path:
        """Another table in the place of the released one; the hashes and the number of rows fit."""
        cls.write_table(table, folder, **options)
        return cls.edit(folder, "certificate.json", lambda form: form["table"].update(rows=table.num_rows))

    def with_lifted(self, count: int) -> Blueprint:
        """The first records at the top of every masked column."""
        lifted = tuple({**row, **TOPS} if at < count else row for at, row in enumerate(self.shown))
        return Blueprint(self.raw, lifted)


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = str(value + 0.0 if isinstance(value, float) else value)  # there is one zero
    return f'"{text}"' if text == "" or "," in text else text


def hashes(folder: Path) -> dict[str, dict[str, str]]:
    """What a certificate says of the files that are there now."""
    beside = {"certificate.json", "certificate.sig", *pages.NAMES}
    paths = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file() and p.name not in beside}
    return {name: {"sha256": hashlib.sha256(paths[name].read_bytes()).hexdigest()} for name in sorted(paths)}


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def write_json(path: Path, form: object) -> None:
    """A JSON file as releases hold it."""
    path.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file's content."""
    form: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return form


@pytest.fixture(scope="session")
def blueprint() -> Blueprint:
    """240 people."""
    chance = random.Random(0)
    raw = tuple(_person(chance, at) for at in range(240))
    return Blueprint(raw, tuple(_shown(person) for person in raw))


def pytest_configure(config: pytest.Config) -> None:
    """No test, no fixture of any scope and no process that they start writes into the ledger of whoever runs them."""
    state = TemporaryDirectory(prefix="sfumato-state-")
    config.add_cleanup(state.cleanup)
    os.environ["XDG_STATE_HOME"] = state.name
    _wait_for_no_disk(config)


def _wait_for_no_disk(config: pytest.Config) -> None:
    """What is flushed to a disk is missed after a power cut alone, and waiting for it takes longer than many a test.

    Processes that tests start do wait, and so do the runs that are killed.
    """
    flushing = patch.object(os, "fsync", os.fstat)  # both refuse a file that is not open
    flushing.start()
    config.add_cleanup(flushing.stop)


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test begins with an empty ledger."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state" / secrets.token_hex(6)))
