"""The certificate: what is claimed of a release, on what grounds, and what is not claimed."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sfumato.data.schema import Attribute, Category, Number, Schema
from sfumato.privacy.requirements import Covered
from sfumato.privacy.verify import promises
from sfumato.privacy.verify.canonical import FORMAT, OF_NOISE, VERSIONS
from sfumato.release.claims import Claim
from sfumato.release.differential import Differential


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
    guarantee: str = "k_anonymity"
    along: Mapping[str, bool] = field(default_factory=dict)
    differential: Differential | None = None
    spreadsheet_safe: bool = False


def certificate(facts: Facts, folder: Path) -> dict[str, Any]:
    """The content of certificate.json, with the SHA-256 of every file in the folder."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    guarantee = _guarantee(facts)
    return {
        "format": FORMAT,
        "sfumato": short_version(version("sfumato")),
        "created": created,
        "guarantee": guarantee,
        "statement": statement(facts),
        "grounds": promises.grounds(guarantee),
        "not_claimed": list(not_claimed(facts)),
        **_private(facts, created),
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
        "versions": _versions(facts),
        "files": hashes(folder),
    }


def hashes(folder: Path) -> dict[str, dict[str, str]]:
    """The SHA-256 of every file in a folder, by its name seen from there, in alphabetical order."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: {"sha256": sha256(found[name])} for name in sorted(found)}


def _versions(facts: Facts) -> dict[str, str]:
    """What the release was made with; of a generated one also the library that made the noise."""
    libraries = [*VERSIONS, *([] if facts.differential is None else [OF_NOISE])]
    found = {name: platform.python_version() if name == "python" else version(name) for name in libraries}
    return {name: short_version(text) for name, text in found.items()}


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
    return facts.guarantee if not names or facts.guarantee in names else names[0]


def _private(facts: Facts, created: str) -> dict[str, Any]:
    """What only releases under differential privacy tell."""
    if facts.differential is None:
        return {}
    columns = {column["name"]: column["kind"] for column in _columns(facts)}
    versions = _versions(facts) | {"sfumato": short_version(version("sfumato"))}
    fields = facts.differential.deployment(mask=facts.mask, columns=columns, created=created, versions=versions)
    return {"differential_privacy": facts.differential.to_json(), "deployment": fields}


def not_claimed(facts: Facts) -> tuple[str, ...]:
    """What nobody may conclude from the release."""
    bounded = {claim.requirement.sensitive for claim in facts.claims}
    bare = [name for name in facts.schema.with_role("sensitive") if name not in bounded]
    beside = any("with" in claim.requirement.claim() for claim in facts.claims)
    return promises.not_claimed(_guarantee(facts), bare=bare, beside=beside)


def statement(facts: Facts) -> str:
    """What is promised, in a sentence a lawyer can read."""
    if facts.differential is not None:
        return promises.private_statement(facts.differential.epsilon, private=facts.differential.private)
    if facts.guarantee == "none":
        return promises.NOTHING_CLAIMED
    return "In this table " + "; and ".join(claim.requirement.sentence() for claim in facts.claims) + "."


def _columns(facts: Facts) -> list[dict[str, Any]]:
    return [_column(name, facts.schema[name], facts.masked.get(name)) for name in facts.schema.kept]


def _column(name: str, attribute: Attribute, masked: str | None) -> dict[str, Any]:
    unit = calendar_of(attribute, masked)
    form = {"name": name, "kind": kind_of(attribute), "role": attribute.role, "masked": masked}
    return form | ({} if unit is None else {"calendar": unit})


def calendar_of(attribute: Attribute, masked: str | None) -> str | None:
    """The unit of intervals of dates; None for everything else."""
    return attribute.calendar if masked == "discretize" and isinstance(attribute, Number) else None


def kind_of(attribute: Attribute) -> str:
    """An attribute's kind in one word."""
    return "number" if isinstance(attribute, Number) else "category" if isinstance(attribute, Category) else "item_set"


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
