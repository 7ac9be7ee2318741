"""verify: every check of a release, one after the other, whatever the others say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.calls import called, expected
from sfumato.privacy.verify import folder as files
from sfumato.privacy.verify import table as tables
from sfumato.privacy.verify.certificate import EARLIER, stated, well_formed
from sfumato.privacy.verify.claims import SEVERAL, follows, recount, title
from sfumato.privacy.verify.explained.centres import centres
from sfumato.privacy.verify.explained.classes import classes
from sfumato.privacy.verify.explained.codebook import codebook, told_of
from sfumato.privacy.verify.explained.extents import extents
from sfumato.privacy.verify.explained.labels import check_labels, check_score
from sfumato.privacy.verify.explained.shown import Also, explained
from sfumato.privacy.verify.fields import Form, names, whole
from sfumato.privacy.verify.files.regular_files import CERTIFICATE
from sfumato.privacy.verify.folder import NOT_CHECKED, Folder, all_checked, coverage, harmless
from sfumato.privacy.verify.policies.recheck import policy_checks
from sfumato.privacy.verify.private import differential
from sfumato.privacy.verify.private.differential import made_of
from sfumato.privacy.verify.raw.rows import (
    Comparison,
    Population,
    check_k_map,
    held,
    read_population,
    read_raw,
    row_order,
    same_rows,
)
from sfumato.privacy.verify.several.joint_claims import check_several, shown_earlier
from sfumato.privacy.verify.signature import check_signature, read_public_key
from sfumato.privacy.verify.texts.labels import LABELS, SCORE
from sfumato.privacy.verify.verdict import Check, CheckError, Looked, Verdict, run, verdict_of

if TYPE_CHECKING:
    import polars as pl

MOST_CLAIMS = 500


@called
def verify(
    folder: str | Path,
    *,
    raw: object = None,
    missing: Collection[str] = (),
    population: object = None,
    others: Sequence[str | Path] = (),
    key: str | Path | None = None,
    strict: bool = False,
) -> Verdict:
    """Recount every claim of a written release from scratch.

    `raw` is the table that was published (a path, or a polars, pandas or pyarrow table), for its holder only:
    with it, the released rows are held against the raw ones. `population` is what a k-map is counted in: a path, such
    a table, or a `Population`. `missing` lists texts that mean "missing" in either. `others` are the folders of earlier
    releases, for claims about several of them. `key` is the public key (a PEM file) of whoever must have signed the
    release. `strict` refuses a release with a file that cannot be checked, such as a report; otherwise the verdict
    names it.

    A folder without a certificate is no release, and a table or a key that cannot be read is a mistake: they raise.
    Everything else that is wrong is a check that fails.
    """
    rule, remedy = "a release is a folder, named by its path", 'write for example sf.verify("out")'
    expected("verify", folder, (str, Path), rule=rule, remedy=remedy)
    release, signer = Folder(folder), None if key is None else read_public_key(key)
    if (earlier := _earlier(release)) is not None:
        return verdict_of(earlier, _unseen(release))
    given = None if raw is None else read_raw(raw, missing=missing)
    people = None if population is None else read_population(population, missing=missing)
    besides = _Besides(people, others, given)
    checks = [*_checks(release, signer, besides, strict=strict), *_claims(release, besides), *_order(release, given)]
    checks += policy_checks(release)
    if strict:
        checks.append(run("strict", lambda: all_checked(release)))
    return verdict_of(checks, _looked(release))


def _earlier(release: Folder) -> list[Check] | None:
    """What there is to say of a release in a form of before, and of its files where they were changed; else None."""
    found = run("", lambda: EARLIER[whole(release.certificate.form, "format")])
    if not found.holds:
        return None
    changed = run("hashes", lambda: files.hashes(release))
    return [Check("format", False, found.detail), *([] if changed.holds else [changed])]


def _looked(release: Folder) -> tuple[Looked, ...]:
    """How each file was checked; where the certificate cannot be understood, none was."""
    try:
        return coverage(release)
    except Exception:
        return _unseen(release)


def _unseen(release: Folder) -> tuple[Looked, ...]:
    """The files of which nothing was checked; none where the folder cannot even be listed."""
    try:
        return tuple(Looked(name, NOT_CHECKED) for name in release.files)
    except CheckError:
        return ()


@dataclass(frozen=True, eq=False)
class _Besides:
    """What some claims need besides the release."""

    population: Population | None
    others: Sequence[str | Path]
    raw: pl.DataFrame | None


def _checks(release: Folder, signer: bytes | None, besides: _Besides, *, strict: bool) -> Iterator[Check]:
    asked: dict[str, Callable[[], str]] = {
        "certificate": lambda: well_formed(release.certificate, release.content(CERTIFICATE)),
        "statement": lambda: stated(release.certificate),
        "files": lambda: files.listed(release),
        "hashes": lambda: files.hashes(release),
        "json": lambda: files.readable(release),
        "pages": lambda: files.pages(release),
        "report": lambda: harmless(release),
        "signature": lambda: check_signature(release, signer, strict=strict),
        "columns": lambda: tables.columns(release.table, release.certificate),
        "rows": lambda: tables.rows(release.table, release.certificate),
        "recoding": lambda: tables.recoded(release.recoding),
        "calendars": lambda: files.units(release),
        "masking": lambda: tables.masked(release.certificate, release.recoding),
        "shown values": lambda: tables.shown(release.table, release.recoding),
        "explained": lambda: explained(release, also_needed(release, besides)),
        "regions and centres": lambda: classes(release),
        "extents": lambda: extents(release),
        "codebook": lambda: codebook(release),
        "centres": lambda: centres(release),
        "lifted": lambda: tables.lifted(release.table, release.certificate, release.recoding),
        "nothing else": lambda: release.written.form,
        "package": lambda: files.package(release),
    }
    if run("", lambda: _generated(release)).holds:
        asked |= {
            "epsilon": lambda: differential.spent(release.certificate.form),
            "domains": lambda: differential.in_domains(release),
            "made of": lambda: made_of(release),
        }
    if run("", lambda: _labelled(release)).holds:
        asked |= {"labels": lambda: check_labels(release), "score": lambda: check_score(release)}
    return (run(name, ask) for name, ask in asked.items())


def also_needed(release: Folder, besides: _Besides) -> Also:
    """Labels that claims are counted with: people of a population have them, or an earlier release shows them.

    Where the population or the earlier releases are not at hand, the claim fails, and nothing is asked of its trees.
    """
    found: dict[str, set[str] | None] = {}
    for claim in release.certificate.claims:
        if claim.get("claim") == "k_map":
            people = besides.population
            for name in names(claim, "on"):
                found[name] = None if people is None or name not in people.table.columns else held(people, name)
        elif claim.get("claim") == "bcf_anonymity":
            found |= shown_earlier(release, claim, besides.others)
    return found


def _labelled(release: Folder) -> str:
    if not {LABELS, SCORE} & set(release.certificate.form):
        raise CheckError("no labels go along")
    return "labels go along"


def _generated(release: Folder) -> str:
    if not release.certificate.generated:
        raise CheckError("its rows are those of a raw table")
    return "its rows are generated"


def _recount(release: Folder, claim: Form, besides: _Besides) -> str:
    if claim.get("claim") == "k_map" and besides.population is not None:
        return check_k_map(release.table, claim, recoding=release.recoding, population=besides.population)
    if claim.get("claim") in SEVERAL and besides.others:
        return check_several(release, claim, besides.others, besides.raw)
    return recount(release.counted, claim)


def _claims(release: Folder, besides: _Besides) -> Iterator[Check]:
    read = run("claims", lambda: f"{len(release.certificate.claims)} + {len(release.certificate.covered)}")
    if not read.holds:
        yield read
        return
    claims, covered = release.certificate.claims, release.certificate.covered
    if len(claims) + len(covered) > MOST_CLAIMS:
        yield Check("claims", False, f"there are more than {MOST_CLAIMS}; none of them was counted")
        return
    for claim in claims:
        yield run(title(claim), partial(_recount, release, claim, besides))
    for claim in covered:
        others = [other for other in (*claims, *covered) if other is not claim]
        ask = partial(lambda c, o: f"{recount(release.table, c)}; {follows(c, o)}", claim, others)
        yield run(f"covered: {title(claim)}", ask)


def _order(release: Folder, raw: pl.DataFrame | None) -> Iterator[Check]:
    """Where the rows stand; and where the raw table is given, that they are its rows."""
    if raw is None:
        yield run("row order", lambda: f"{release.certificate.row_order}, says the certificate")
        return
    if run("", lambda: _generated(release)).holds:
        yield run("raw rows", lambda: "generated: there is no raw row for any of them")
        return
    comparison = Comparison(release, raw)
    yield run("raw rows", lambda: same_rows(comparison))
    yield run("raw labels", lambda: told_of(release, raw))
    yield run("row order", lambda: row_order(comparison))
