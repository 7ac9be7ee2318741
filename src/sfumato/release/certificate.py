"""The certificate: what is claimed of a release, on what grounds, and what is not claimed."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sfumato.data.schema import Attribute, Category, Number, Schema
from sfumato.privacy.requirements import Covered
from sfumato.release import differential
from sfumato.release.claims import Claim
from sfumato.release.differential import Differential, deployment

FORMAT = 1
GROUNDS = "Recounted from the written file by code that shares nothing with the masker (sfumato verify)."
OTHERS = (
    "Nothing is claimed against somebody who knows other attributes of a person than those listed, or who knows the "
    "records of others in the table."
)
SHARED = "A value of {} that all records of a group share is not hidden by the size of the group."
SEVERAL = "It does not hold across several releases of the same people."
OTHER_RELEASES = "It does not hold across other releases of the same people than those that are named."

NOTHING = (
    "No k, l or epsilon holds. The transformation hides values from a glance and from nobody who tries; use it only "
    "under contract with a partner you trust.",
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
    guarantee: str = "k_anonymity"
    along: Mapping[str, bool] = field(default_factory=dict)
    differential: Differential | None = None
    spreadsheet_safe: bool = False


def certificate(facts: Facts, folder: Path) -> dict[str, Any]:
    """The content of certificate.json, with the SHA-256 of every file in the folder."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "format": FORMAT,
        "sfumato": version("sfumato"),
        "created": created,
        "guarantee": _guarantee(facts),
        "statement": statement(facts),
        "grounds": GROUNDS if facts.differential is None else differential.GROUNDS,
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
        "dropped": list(facts.schema.with_role("identifier")),
        "along": dict(facts.along),
        "versions": {name: version(name) for name in ("numpy", "pyarrow", "polars")}
        | {"python": platform.python_version()},
        "files": {
            path.relative_to(folder).as_posix(): {"sha256": sha256(path)}
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        },
    }


def _guarantee(facts: Facts) -> str:
    """The kind of promise: that of the masker, or where it holds other requirements than k-anonymity, the first."""
    names = [claim.requirement.name for claim in facts.claims]
    return facts.guarantee if not names or facts.guarantee in names else names[0]


def _private(facts: Facts, created: str) -> dict[str, Any]:
    """What only releases under differential privacy tell."""
    if facts.differential is None:
        return {}
    columns = {column["name"]: column["kind"] for column in _columns(facts)}
    fields = deployment(facts.differential, mask=facts.mask, columns=columns, created=created)
    return {"differential_privacy": facts.differential.to_json(), "deployment": fields}


def not_claimed(facts: Facts) -> tuple[str, ...]:
    """What nobody may conclude from the release."""
    if facts.differential is not None:
        return differential.NOT_CLAIMED
    if facts.guarantee == "none":
        return NOTHING
    bounded = {claim.requirement.sensitive for claim in facts.claims}
    bare = [name for name in facts.schema.with_role("sensitive") if name not in bounded]
    several = OTHER_RELEASES if any("with" in claim.requirement.claim() for claim in facts.claims) else SEVERAL
    return (OTHERS, *([SHARED.format(", ".join(bare))] if bare else []), several)


def statement(facts: Facts) -> str:
    """What is promised, in a sentence a lawyer can read."""
    if facts.differential is not None:
        return facts.differential.statement()
    if facts.guarantee == "none":
        return (
            "Nothing is claimed of this table: its numbers were transformed in a way that can be undone by whoever "
            "knows a few of its records. It is not anonymised."
        )
    return "In this table " + "; and ".join(claim.requirement.sentence() for claim in facts.claims) + "."


def plural(count: int, one: str, more: str) -> str:
    """A number with the words that fit it.

    >>> plural(1, "record shows", "records share"), plural(2_000, "record shows", "records share")
    ('1 record shows', '2000 records share')
    """
    return f"{count} {one if count == 1 else more}"


def _columns(facts: Facts) -> list[dict[str, Any]]:
    return [
        {"name": name, "kind": kind_of(facts.schema[name]), "role": facts.schema[name].role,
         "masked": facts.masked.get(name)}
        for name in facts.schema.kept
    ]  # fmt: skip


def kind_of(attribute: Attribute) -> str:
    """An attribute's kind in one word."""
    return "number" if isinstance(attribute, Number) else "category" if isinstance(attribute, Category) else "item_set"


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
