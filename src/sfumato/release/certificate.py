"""The certificate: what is claimed of a release, on what grounds, and what is not claimed.

Two kinds of promise are known: what is recounted from the written file, here, and what follows from how the rows were
made (`sfumato.release.accounting`). Whoever writes asks the promise, and never which of them it is.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

from sfumato.arrays import Ints
from sfumato.data.masked import Masked
from sfumato.data.reading import read_arrow
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.maskers.masker import Guarantee, Mask
from sfumato.privacy.requirements import Basic, Covered, Requirement, Sensitive, codes_of
from sfumato.privacy.verify.canonical import FORMAT, OUTSIDE, SHORTENED, VERSIONS
from sfumato.privacy.verify.files.regular_files import sha256_of
from sfumato.privacy.verify.maskers import IN_UNITS
from sfumato.privacy.verify.raw.rows import Population
from sfumato.privacy.verify.raw.rows import read_population as read_population_frame
from sfumato.privacy.verify.texts import readme, wording


@dataclass(frozen=True)
class Claim:
    """A requirement that was asked, what was reached, and what verify needs besides the requirement's settings."""

    requirement: Requirement
    achieved: Any
    also: tuple[tuple[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For the certificate."""
        return (
            self.requirement.claim()
            | dict(self.also)
            | {
                "achieved": self.achieved,
                "attacker": self.requirement.attacker(),
                "sentence": self.requirement.sentence(),
            }
        )


def count_claims(people: Table, masked: Masked, mask: Mask, requirements: Sequence[Requirement]) -> list[Claim]:
    """What each requirement reached in a table that shows these people."""
    counting = _Counting(people, masked, mask)
    return [
        Claim(r, r.achieved([counting.worst(part) for part in r.parts()]), tuple(r.also(people).items()))
        for r in requirements
    ]


@dataclass(frozen=True, eq=False)
class _Counting:
    people: Table
    masked: Masked
    mask: Mask

    def worst(self, part: Basic) -> float:
        """The least measure of any group."""
        others = part.others(self.people.schema)
        if others is None:
            counts, sensitive = self._counts(part)
        else:
            counts, sensitive = self._among(others, part.on), Sensitive((), np.zeros(0, dtype=np.int64))
        return float(part.measure(sensitive)(counts).min())

    def _counts(self, part: Basic) -> tuple[Ints, Sensitive]:
        groups = self.masked.groups(part.on)
        if part.sensitive is None:
            return np.bincount(groups)[:, None], Sensitive((), np.zeros(0, dtype=np.int64))
        found = Sensitive.of(self.people, part.sensitive)
        size = len(found.values)
        codes = codes_of(self.people, part.sensitive).astype(np.int64)
        cells = np.bincount(groups * size + codes, minlength=(int(groups.max()) + 1) * size)
        return cells.reshape(-1, size), found

    def _among(self, others: Table, on: Sequence[str]) -> Ints:
        """(groups, 2): how many of the table and of a population show each combination.

        The population is shown as the table is; whoever has a label that nobody in the table has is suppressed.
        """
        population = self.mask.only(on).apply(others, unseen="suppress")
        texts = {
            name: pa.chunked_array(
                [shown.shown(name).decode().cast(pa.string()) for shown in (self.masked, population)]
            )
            for name in on
        }
        rows, more = self.masked.rows, population.rows
        groups = Masked.of(texts).groups(on)
        of = np.repeat([0, 1], [rows, more])
        return np.bincount(groups * 2 + of, minlength=(int(groups.max()) + 1) * 2).reshape(-1, 2)


def population_of(source: object) -> Population | None:
    """A population for verify: its table, read as publish reads it, with the SHA-256 of its file."""
    if source is None:
        return None
    found = read_population_frame(read_arrow(source), missing=())
    return Population(
        found.table, sha256_of(source, most=None, follow=True) if isinstance(source, str | Path) else None
    )


@dataclass(frozen=True, eq=False)
class Facts:
    """What a certificate is made of."""

    schema: Schema
    rows: int
    masked: Mapping[str, str]
    claims: Sequence[Claim]
    covered: Sequence[Covered]
    lifted: int
    keep_order: bool
    mask: str
    table_file: str
    guarantee: Guarantee
    promise: Promise
    along: Mapping[str, bool] = field(default_factory=dict)
    spreadsheet_safe: bool = False
    told: Mapping[str, Sequence[str]] = field(default_factory=dict)
    policies: Sequence[Mapping[str, Any]] = ()
    labels: Mapping[str, Any] = field(default_factory=dict)
    classes: str | None = None

    @property
    def statement(self) -> str:
        """What is promised, in a sentence a lawyer can read."""
        return self.promise.statement(self.claims)


def certificate(facts: Facts, folder: Path) -> dict[str, Any]:
    """The content of certificate.json, with the SHA-256 of every file in the folder."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    guarantee = _guarantee(facts)
    return {
        "format": FORMAT,
        "sfumato": _version("sfumato"),
        "created": created,
        "guarantee": guarantee,
        "statement": facts.statement,
        "grounds": wording.grounds(guarantee),
        "not_claimed": list(not_claimed(facts)),
        **_fields(facts, created),
        "mask": facts.mask,
        "table": {
            "file": facts.table_file,
            "rows": facts.rows,
            "spreadsheet_safe": facts.spreadsheet_safe,
            "columns": _columns(facts),
        },
        "claims": [claim.to_json() for claim in facts.claims],
        "covered": [c.requirement.claim() | {"by": list(c.by.on)} for c in facts.covered],
        "lifted": facts.lifted,
        "row_order": "kept" if facts.keep_order else "shuffled",
        "dropped": len(facts.schema.with_role("identifier")),
        "along": dict(facts.along),
        **({} if facts.classes is None else {"classes": facts.classes}),
        **({"policies": [dict(policy) for policy in facts.policies]} if facts.policies else {}),
        **facts.labels,
        "versions": _versions(facts),
        "files": hashes(folder),
    }


def hashes(folder: Path) -> dict[str, dict[str, str]]:
    """The SHA-256 of every file in a folder, by its name seen from there, in alphabetical order."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: {"sha256": sha256(found[name])} for name in sorted(found)}


def _versions(facts: Facts) -> dict[str, str]:
    """What the release was made with."""
    return {name: _version(name) for name in (*VERSIONS, *facts.promise.libraries)}


@cache
def _version(name: str) -> str:
    """The version of a library, or of Python: read once, as what is loaded stays."""
    return short_version(platform.python_version() if name == "python" else version(name))


def short_version(text: str) -> str:
    """A version without what a builder may have added to it.

    >>> short_version("2.1.0+cpu"), short_version("3.13.0rc1")
    ('2.1.0', '3.13.0rc1')
    """
    found = re.match(r"[0-9]{1,4}(\.[0-9]{1,4}){0,3}((a|b|rc|\.post|\.dev)[0-9]{1,4})?", text)
    return found[0] if found else "0"


def _guarantee(facts: Facts) -> str:
    """The kind of promise: that of the masker, or where it holds other requirements than k-anonymity, the first."""
    names = [claim.requirement.name for claim in facts.claims]
    return str(facts.guarantee) if not names or str(facts.guarantee) in names else names[0]


def _fields(facts: Facts, created: str) -> dict[str, Any]:
    """What only certificates of this promise tell."""
    columns = {column["name"]: column["kind"] for column in _columns(facts)}
    versions = _versions(facts) | {"sfumato": _version("sfumato")}
    return facts.promise.fields(mask=facts.mask, columns=columns, created=created, versions=versions)


def not_claimed(facts: Facts) -> tuple[str, ...]:
    """What nobody may conclude from the release."""
    bounded = {claim.requirement.sensitive for claim in facts.claims}
    bare = [name for name in facts.schema.with_role("sensitive") if name not in bounded]
    beside = any("with" in claim.requirement.claim() for claim in facts.claims)
    return wording.not_claimed(_guarantee(facts), bare=bare, beside=beside, relations=facts.promise.relations)


def _columns(facts: Facts) -> list[dict[str, Any]]:
    return [
        _column(name, facts.schema[name], facts.masked.get(name), facts.told.get(name, ()))
        for name in facts.schema.kept
    ]


def _column(name: str, attribute: Attribute, masked: str | None, told: Sequence[str]) -> dict[str, Any]:
    unit = calendar_of(attribute, masked)
    form = {"name": name, "kind": kind_of(attribute), "role": attribute.role, "masked": masked}
    moved = moved_in(attribute)
    return form | ({} if unit is None else {"calendar": unit}) | moved | ({"told": list(told)} if told else {})


def moved_in(attribute: Attribute) -> dict[str, Any]:
    """Whether values beyond the declared ones were moved, and larger sets than declared cut short."""
    beyond = {} if attribute.outside is None else {OUTSIDE: True}
    first = isinstance(attribute, ItemSet) and attribute.too_many == "first"
    return beyond | ({SHORTENED: True} if first else {})


def calendar_of(attribute: Attribute, masked: str | None) -> str | None:
    """The unit of intervals of dates and of dates that are generated; None for everything else."""
    return attribute.calendar if masked in IN_UNITS and isinstance(attribute, Number) else None


def kind_of(attribute: Attribute) -> str:
    """An attribute's kind in one word."""
    return "number" if isinstance(attribute, Number) else "category" if isinstance(attribute, Category) else "item_set"


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Promise(Protocol):
    """What is promised of a release."""

    @property
    def libraries(self) -> Sequence[str]:
        """What else the release was made with, that a certificate names the version of."""

    @property
    def relations(self) -> str | None:
        """What nobody may conclude from how columns that are generated go along; None where none are."""

    def statement(self, claims: Sequence[Claim]) -> str:
        """What is promised, in a sentence a lawyer can read."""

    def in_short(self, claims: Sequence[Claim]) -> str:
        """The same as a part of a sentence, in full where it is short."""

    def state(self, *, verified: bool) -> str:
        """How a release stands, in the first words of the holder's report."""

    def fields(
        self, *, mask: str, columns: Mapping[str, str], created: str, versions: Mapping[str, str]
    ) -> dict[str, Any]:
        """What only certificates of this promise tell; `columns`: the kind of each."""

    def title(self) -> str:
        """What the pages are called."""

    def cited(self, mask: str) -> str:
        """How to cite a release made by this masker."""

    def checks(self) -> str:
        """What verify does with a release."""


@dataclass(frozen=True)
class Recounted:
    """A promise that is recounted from the written file, claim by claim; of some maskers nothing is claimed."""

    libraries: ClassVar[tuple[str, ...]] = ()
    relations: ClassVar[None] = None

    guarantee: Guarantee

    def statement(self, claims: Sequence[Claim]) -> str:
        """Every claim in its own words."""
        if not self.guarantee.claims:
            return wording.NOTHING_CLAIMED
        return "In this table " + "; and ".join(claim.requirement.sentence() for claim in claims) + "."

    def in_short(self, claims: Sequence[Claim]) -> str:
        """One claim in its own words; of several group sizes the smallest."""
        whole = self.statement(claims).rstrip(".")
        if len(claims) < 2:
            return whole[0].lower() + whole[1:]
        asked = [claim.requirement for claim in claims]
        sizes = [requirement.group_size for requirement in asked if requirement.group_size is not None]
        if len(sizes) < len(asked):
            return "; ".join(str(requirement) for requirement in asked)
        alike = f"at least {min(sizes)} records share every combination of values shown for each of"
        return f"{alike} {len(asked)} quasi-identifiers"

    def state(self, *, verified: bool) -> str:
        """What verify said."""
        return "Verified" if verified else "NOT verified"

    def fields(
        self, *, mask: str, columns: Mapping[str, str], created: str, versions: Mapping[str, str]
    ) -> dict[str, Any]:
        """Nothing beyond the claims."""
        return {}

    def title(self) -> str:
        """A masked table."""
        return readme.title(generated=False, private=True)

    def cited(self, mask: str) -> str:
        """Masked by this masker."""
        return readme.cited(mask, generated=False)

    def checks(self) -> str:
        """It recounts."""
        return readme.checks(generated=False)
