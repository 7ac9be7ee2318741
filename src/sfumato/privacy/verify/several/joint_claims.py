"""Claims about a release beside earlier ones, which must be given too: `sfumato verify RELEASE --with FOLDER`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ReleaseError
from sfumato.privacy.verify import folder as files
from sfumato.privacy.verify.claims import smallest_group
from sfumato.privacy.verify.explained.trees import agree, tree_file
from sfumato.privacy.verify.fields import Form, field, forms, mapping, only_keys, whole
from sfumato.privacy.verify.files.regular_files import CERTIFICATE, most_of, sha256_of
from sfumato.privacy.verify.folder import Folder
from sfumato.privacy.verify.raw.rows import Comparison
from sfumato.privacy.verify.several.worlds import fewest
from sfumato.privacy.verify.terms import columns
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

HOW = "give it with --with FOLDER (in Python others=)"


def check_several(release: Folder, claim: Form, others: Sequence[str | Path], raw: pl.DataFrame | None) -> str:
    """At least k people fit every target, for whoever holds the release and the earlier ones that the claim lists."""
    on, k = columns(claim, {"k", "people", "with"}), whole(claim, "k")
    people = field(claim, "people", str)
    growing = claim["claim"] == "bcf_anonymity"
    if k < 2 or people != ("growing" if growing else "same"):
        raise CheckError("the claim has no k of at least 2, or says of other people than it is about")
    unmasked = [name for name in on if name not in release.recoding.rules]
    if unmasked:
        raise CheckError(f"{unmasked[0]!r} is masked by no recoding: what it shows cannot be followed over releases")
    earlier = [_given(listed, others) for listed in forms(claim, "with")]
    if len({one.path.resolve() for one in earlier}) < len(earlier):
        raise CheckError("the claim lists an earlier release twice")
    if not earlier:
        raise CheckError("the claim lists no earlier release")
    for one in earlier:
        files.hashes(one)
    return _growing(release, earlier, claim, on) if growing else _same(release, earlier, claim, on=on, raw=raw)


def shown_earlier(release: Folder, claim: Form, others: Sequence[str | Path]) -> dict[str, set[str] | None]:
    """Of columns with a tree, the labels that the earlier releases of a claim show; None where these are not given."""
    found: dict[str, set[str] | None] = {}
    for name in release.recoding.trees:
        try:
            rules = [_given(listed, others).recoding.rules.get(name) for listed in forms(claim, "with")]
            found[name] = {label for rule in rules if rule is not None for label in rule.shown if label is not None}
        except (CheckError, ReleaseError):
            found[name] = None
    return found


def _given(listed: Form, others: Sequence[str | Path]) -> Folder:
    """The folder that the claim means: its certificate is the same to the byte, and of the time that the claim says."""
    only_keys(listed, {"sha256", "created"}, "'with'")
    told = field(listed, "sha256", str)
    for other in others:
        earlier = _release(other)
        if earlier is not None and sha256_of(earlier.file(CERTIFICATE), most=most_of(CERTIFICATE)) == told:
            return _of_that_time(earlier, listed)
    raise CheckError(f"the earlier release of {field(listed, 'created', str)} is not among those given: {HOW}")


def _release(folder: str | Path) -> Folder | None:
    try:
        return Folder(folder)
    except ReleaseError:
        return None


def _of_that_time(earlier: Folder, listed: Form) -> Folder:
    if earlier.certificate.form.get("created") != field(listed, "created", str):
        raise CheckError("the claim gives another time for an earlier release than its certificate")
    return earlier


def _reached(claim: Form, found: int, what: str) -> str:
    if found < whole(claim, "k"):
        raise CheckError(f"fewer than {claim['k']} {what}")
    if "achieved" in claim and whole(claim, "achieved") != found:
        raise CheckError("the releases together reach another number than the certificate says")
    return f"at least {found} {what}, {claim['k']} are claimed"


def _growing(release: Folder, earlier: Sequence[Folder], claim: Form, on: Sequence[str]) -> str:
    return _reached(claim, fewest([*earlier, release], on), "people fit every target")


def _same(
    release: Folder, earlier: Sequence[Folder], claim: Form, *, on: Sequence[str], raw: pl.DataFrame | None
) -> str:
    """The groups that all releases make together: of the file where all show the same cut, else of the raw rows."""
    for one in earlier:
        _alike(release, one)
    if any(one.recoding.lifted for one in (*earlier, release)):
        raise CheckError("a release lifted records, and which is not told: joint groups cannot be counted")
    if all(_same_cut(release, one, on) for one in earlier):
        return _reached(claim, smallest_group(release.table, on), "records are alike in all releases, which cut alike")
    if raw is None:
        raise CheckError(
            "all have the same rows, but the joint groups can be counted in the raw table only: --raw TABLE"
        )
    return _reached(claim, _smallest([*earlier, release], on, raw), "records are alike in all releases")


def _alike(release: Folder, other: Folder) -> None:
    """As many rows, and in the columns that neither masks the same values as often."""
    import polars as pl

    here, there = release.table, other.table
    masked = {*release.recoding.rules, *other.recoding.rules}
    names = [name for name in here.columns if name in there.columns and name not in masked]
    plain = [name for name in names if not here.schema[name].is_nested() and here.schema[name] == there.schema[name]]
    same = here.height == there.height
    if same and plain:
        texts = [table.select(pl.col(plain).cast(pl.String)) for table in (here, there)]
        counted = [text.group_by(plain).len() for text in texts]
        same = counted[0].join(counted[1], on=[*plain, "len"], how="anti", nulls_equal=True).is_empty()
    if not same:
        raise CheckError("an earlier release has other rows: these are no versions of one table")


def _same_cut(release: Folder, other: Folder, on: Sequence[str]) -> bool:
    """Whether both show every row alike on these columns: by the same rules. The trees of both end at their cuts, but
    for labels that a codebook tells of; which label stands above which is the same in both."""
    here, there = (mapping(one.json("recoding.json").get("attributes"), "attributes") for one in (release, other))
    trees = [name for name in on if name in release.recoding.trees]
    return all(here.get(name) == there.get(name) for name in on) and all(
        agree(release.json(tree_file(name)), other.json(tree_file(name))) for name in trees
    )


def _smallest(releases: Sequence[Folder], on: Sequence[str], raw: pl.DataFrame) -> int:
    """The smallest group of raw rows that are shown alike in every release."""
    import polars as pl

    shown = []
    for at, release in enumerate(releases):
        expected = Comparison(release, raw).pair.expected
        shown += [expected[name].cast(pl.String).alias(f"{at} {name}") for name in on if name in expected.columns]
    table = pl.DataFrame(shown)
    return int(table.group_by(table.columns).len()["len"].to_numpy().min())
