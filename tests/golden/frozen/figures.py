"""What a written release comes to: digests of its mask and its table, its claims, its scores. Plain JSON."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

MOMENT = ("created", "sfumato", "versions", "files")
"""What a certificate says of when, by which version and over which bytes it was made."""
DAY = ("publication_date",)
"""What else tells when: the registry of deployments asks for the day."""
PAGES = (
    "certificate.json",
    "datapackage.json",
    "README.md",
    "recipe.yaml",
    "evaluation.json",
    "history.json",
    "timings.json",
)
DIGITS, TOLERANCE = 6, 1e-6
Form = Mapping[str, Any]


def figures_of(release: Path) -> dict[str, Any]:
    """A release folder, with the holder's folder beside it, in figures that can be compared."""
    holder = release.with_name(f"{release.name}.holder")
    certificate = _read(release / "certificate.json")
    return {
        "guarantee": certificate.pop("guarantee"),
        "statement": certificate.pop("statement"),
        "claims": [_timeless(claim) for claim in certificate.pop("claims")],
        "certificate": _dateless({name: part for name, part in certificate.items() if name not in MOMENT}),
        "mask": dict([*_mask_parts(release, ""), *_mask_parts(holder, "holder/")]),
        "table": _table(release / certificate["table"]["file"], shuffled=certificate["row_order"] == "shuffled"),
        "scores": {path: rounded(leaf) for path, leaf in leaves(_read(holder / "evaluation.json")) if _counts(leaf)},
        "history": {
            name: digest([(path, rounded(leaf)) for path, leaf in leaves(part)])
            for name, part in _read(holder / "history.json").items()
        },
    }


def _timeless(claim: Form) -> dict[str, Any]:
    """A claim as it stands; of the earlier releases that it names only how many there are, not when they were made."""
    return {name: len(part) if name == "with" else part for name, part in claim.items()}


def _dateless(form: Any) -> Any:
    """A form without the day on which it was made, at whatever depth that stands."""
    if isinstance(form, dict):
        return {name: _dateless(part) for name, part in form.items() if name not in DAY}
    return [_dateless(part) for part in form] if isinstance(form, list) else form


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _counts(leaf: object) -> bool:
    """Whether a leaf is a figure: a number, or a yes."""
    return leaf is True or (isinstance(leaf, int | float) and not isinstance(leaf, bool))


def _mask_parts(folder: Path, prefix: str) -> Iterator[tuple[str, str]]:
    """A digest for every part of every file that tells the mask: what differs is then told by its name."""
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        if name not in PAGES:
            yield from ((f"{prefix}{name}{at}", digest(part)) for at, part in _parts(_read(path), 2))


def _parts(form: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if not depth or not isinstance(form, dict) or not form:
        yield "", form
        return
    yield " keys", list(form)
    for name, part in form.items():
        yield from ((f" > {name}{at}", found) for at, found in _parts(part, depth - 1))


def _table(path: Path, *, shuffled: bool) -> dict[str, Any]:
    names, types, rows = (_csv if path.suffix == ".csv" else _parquet)(path)
    order: Callable[[Sequence[str]], Sequence[str]] = sorted if shuffled else list
    columns = {name: digest(order([_text(row[at]) for row in rows])) for at, name in enumerate(names)}
    return {
        "rows": len(rows),
        "types": types,
        "columns": columns,
        "digest": digest(order([_text(row) for row in rows])),
    }


def _parquet(path: Path) -> tuple[list[str], dict[str, str], list[Any]]:
    table = pq.read_table(path)
    types = {field.name: f"{field.type}{'' if field.nullable else ' not null'}" for field in table.schema}
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return table.column_names, types, rows


def _csv(path: Path) -> tuple[list[str], dict[str, str], list[Any]]:
    """Every row as its cells, and as its line: an empty cell that is quoted is no missing one."""
    lines = path.read_text(encoding="utf-8").splitlines()
    header, *cells = csv.reader(lines)
    return header, {}, [(*row, line) for row, line in zip(cells, lines[1:], strict=True)]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def digest(form: Any) -> str:
    """So many digits of the SHA-256 of a JSON form that nobody meets one by accident."""
    return hashlib.sha256(_text(form).encode()).hexdigest()[:20]


def leaves(form: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a JSON form that is no list and no mapping, by its path."""
    if isinstance(form, dict | list):
        named = form.items() if isinstance(form, dict) else enumerate(form)
        for name, part in named:
            yield from leaves(part, f"{path} > {name}" if path else str(name))
    else:
        yield path, form


def rounded(leaf: Any) -> Any:
    """A number with as many digits as are compared."""
    return float(f"{leaf:.{DIGITS}g}") if isinstance(leaf, float) and math.isfinite(leaf) else leaf


def differences(before: Any, after: Any) -> list[str]:
    """In what two forms differ: path, before, after. Numbers that are not whole may differ in the last digits."""
    was, now = dict(leaves(before)), dict(leaves(after))
    told = "{}: before {}, after {}"
    gone = "nothing"
    return [
        told.format(path, was.get(path, gone), now.get(path, gone))
        for path in {**was, **now}
        if (path in was) != (path in now) or not _equal(was[path], now[path])
    ]


def _equal(was: Any, now: Any) -> bool:
    if isinstance(was, float) and isinstance(now, int | float) and not isinstance(now, bool):
        return math.isclose(was, now, rel_tol=TOLERANCE, abs_tol=1e-12)
    return bool(was == now) and isinstance(was, bool) == isinstance(now, bool)
