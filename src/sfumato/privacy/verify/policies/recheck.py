"""What a folder shows of the policies that its certificate tells: check by check, and how far.

A check is added by a line in RECHECKS: a function of the folder, the check and the policy, which tells what was seen,
or in `Unseen` why nothing can be, and raises CheckError where the release does not satisfy it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sfumato.privacy.verify.claims import smallest_group
from sfumato.privacy.verify.explained.groups import by_groups
from sfumato.privacy.verify.explained.shown import CODEBOOK
from sfumato.privacy.verify.explained.trees import tree_file
from sfumato.privacy.verify.fields import Form, field, forms, mapping, names, whole
from sfumato.privacy.verify.letters import quoted
from sfumato.privacy.verify.policies.contents import content_of
from sfumato.privacy.verify.policies.spans import spans, split_early, split_old
from sfumato.privacy.verify.policies.wording import ATTESTED, RECHECKED, UNSEEN, sentence
from sfumato.privacy.verify.tallies import tallied
from sfumato.privacy.verify.verdict import Check, CheckError, run

if TYPE_CHECKING:
    from sfumato.privacy.verify.folder import Folder

_DATE = re.compile(r"(?<!\d)\d{4}-(\d\d)(?:-(\d\d))?(?!\d)|(?<!\d)\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_WHOLE = ("01", "01-01", "12", "12-31")  # where a year begins and where it ends
_DIGITS = re.compile(r"\d+")
COUNT = "\0count"  # no column has this name


class Unseen(str):
    """What was found about a check of which a folder shows nothing, or not all."""


def policy_checks(release: Folder) -> Iterator[Check]:
    """Every check of every policy; none where the certificate tells of none, or cannot be read."""
    told = run("policies", lambda: "told" if "policies" in release.certificate.form else "")
    if not told.holds or not told.detail:
        return
    asked: dict[str, Callable[[], str]] = {}
    read = run("policies", lambda: f"{[asked.update(one) for one in _listed(release)]}")
    yield from (run(name, ask) for name, ask in asked.items()) if read.holds else [read]


def _listed(release: Folder) -> Iterator[dict[str, Callable[[], str]]]:
    for policy in forms(release.certificate.form, "policies"):
        name = f"policy {field(policy, 'policy', str)}"
        for check in forms(policy, "checks"):
            yield {_title(name, check): partial(_asked, release, check, policy)}
        for key in names(policy, "attested"):
            yield {f"{name}: {key}": lambda: f"{ATTESTED} by the holder, whose words are not in the folder"}


def _title(name: str, check: Form) -> str:
    """How a check is called in a verdict; attacks by their criterion, as a policy may ask for several."""
    criterion = f" ({check['criterion']})" if isinstance(check.get("criterion"), str) else ""
    return f"{name}: {field(check, 'check', str)}{criterion}"


def _asked(release: Folder, check: Form, policy: Form) -> str:
    recheck = RECHECKS.get(field(check, "check", str))
    if recheck is None:
        raise CheckError(f"this check is not understood; known are: {', '.join(RECHECKS)}")
    try:
        seen = recheck(release, check, policy)
    except CheckError as error:
        raise CheckError(f"it is not so that {sentence(check)}: {error}") from None
    return f"{UNSEEN if isinstance(seen, Unseen) else RECHECKED}: {seen}"


def _least_group(release: Folder, check: Form, policy: Form) -> str:
    quasi = [column.name for column in release.certificate.columns if column.role == "quasi"]
    smallest = smallest_group(release.table, quasi) if quasi else release.table.height
    if smallest < whole(check, "records"):
        raise CheckError("a group has fewer")
    return f"the smallest group has {smallest} records"


def _least_value(release: Folder, check: Form, policy: Form) -> str:
    """Whole cells are counted, as they are written: of sets each combination of items, of which one person may be alone
    with one though many have each item. Numbers that were generated are nobody's: none of them is counted."""
    bare = [*_bare(release, ("category", "item_set")), *_exact(release)]
    for name in bare:
        if min(_counts(release, name), default=0) < whole(check, "records"):
            raise CheckError(f"a value of {quoted(name)}, taken as a whole cell, is held by fewer")
    return f"{_some(bare)} shown as they are, by whole cells"


def _unique(release: Folder, check: Form, policy: Form) -> str:
    bare = _bare(release, ("number", "category", "item_set"))
    for name in bare:
        held = _counts(release, name)
        if 2 * sum(one for one in held if one < whole(check, "fewest")) > release.table.height:
            raise CheckError(f"{quoted(name)} does")
    return f"{_some(bare)} shown as they are"


def _bare(release: Folder, kinds: tuple[str, ...]) -> list[str]:
    """Columns that are shown as they are, or as they were generated."""
    return [c.name for c in release.certificate.columns if c.masked in (None, "generated") and c.kind in kinds]


def _exact(release: Folder) -> list[str]:
    """Numbers that are shown as they are."""
    return [c.name for c in release.certificate.columns if c.masked is None and c.kind == "number"]


def _counts(release: Folder, name: str) -> list[int]:
    """How many rows have each value; a missing one is a value."""
    return [int(one) for one in tallied(release.counted.select(name), [name], COUNT)[COUNT].to_list()]


def _identifiers(release: Folder, check: Form, policy: Form) -> str:
    told, kinds = mapping(policy.get("contents"), "contents"), names(check, "kinds")
    for column in release.certificate.columns:
        seems = content_of(column.name, _values(release, column.name))
        if seems is not None and column.name not in told:
            raise CheckError(f"what {quoted(column.name)} holds is not told, and it seems to be {seems}")
        if told.get(column.name) in kinds:
            raise CheckError(f"{quoted(column.name)} does, the certificate says")
    other = [name for name, content in told.items() if content == "other"]
    said = f"; that {', '.join(map(quoted, other))} identifies nobody is the holder's word" if other else ""
    return f"{len(release.certificate.columns)} names of columns and their values{said}"


def _years(release: Folder, check: Form, policy: Form) -> str:
    dated = _holding(policy, "date", "birth")
    for name in dated:
        for value in _values(release, name):
            found = [
                match for match in _DATE.finditer(str(value)) if "-".join(filter(None, match.groups())) not in _WHOLE
            ]
            if found:
                raise CheckError(f"{quoted(name)} shows a month or a day")
    return f"{_some(dated)} of dates"


def _oldest(release: Folder, check: Form, policy: Form) -> str:
    oldest, year = whole(check, "age"), int(field(release.certificate.form, "created", str)[:4])
    ages, births = _holding(policy, "age"), _holding(policy, "birth")
    spelling = release.certificate.spelling
    found = {name: spans(_values(release, name), name, spelling=spelling) for name in (*ages, *births)}
    apart = [name for name in ages if split_old(found[name], oldest)]
    apart += [name for name in births if split_early(found[name], year - oldest - 1)]
    if apart:
        raise CheckError(f"{quoted(apart[0])} tells them apart")
    return f"{_some(ages)} of ages, {_some(births)} of births"


def _areas(release: Folder, check: Form, policy: Form) -> str:
    most, shown = whole(check, "digits"), set[str]()
    columns = _holding(policy, "zip")
    for name in columns:
        runs = {run for value in _values(release, name) for run in _DIGITS.findall(str(value))}
        if any(len(run) > most for run in runs):
            raise CheckError(f"{quoted(name)} shows more digits")
        if any(len(run) > most for text in _explaining(release, name) for run in _DIGITS.findall(text)):
            raise CheckError(f"the codebook or the tree of {quoted(name)} tells more digits")
        shown |= {run for run in runs if len(run) == most and int(run)}
    if not shown:
        return f"{_some(columns)} of ZIP codes, without a whole area"
    if "population" not in check:
        raise CheckError("areas are shown, and no table of their people was given")
    return Unseen(f"{_some(columns)} of at most {most} digits; how many people live there is in another table")


def _explaining(release: Folder, name: str) -> Iterator[str]:
    """Every text that explains a column: what the codebook tells of it, and its tree."""
    if CODEBOOK in release.files:
        told = release.json(CODEBOOK)
        columns = told.get("columns") if by_groups(told) else told
        yield from _texts(mapping(columns, CODEBOOK).get(name))
    if tree_file(name) in release.files:
        yield from _texts(release.json(tree_file(name)))


def _texts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        if isinstance(part, dict):
            yield from part
        for below in part.values() if isinstance(part, dict) else part:
            yield from _texts(below)


def _shuffled(release: Folder, check: Form, policy: Form) -> str:
    if release.certificate.row_order != "shuffled":
        raise CheckError("the certificate says that they do not")
    return Unseen("the certificate says so; with the raw table (--raw) the order is compared")


def _guarantee(release: Folder, check: Form, policy: Form) -> str:
    if release.certificate.claims_nothing:
        raise CheckError("the certificate claims nothing")
    return "the certificate's claims are checked above"


def _bounded(release: Folder, check: Form, policy: Form) -> str:
    bounded = {claim.get("sensitive") for claim in release.certificate.claims}
    columns = [column.name for column in release.certificate.columns if column.role == "sensitive"]
    bare = [] if release.certificate.generated else [name for name in columns if name not in bounded]
    if bare:
        raise CheckError(f"no claim is about {quoted(bare[0])}")
    return f"{_some(columns)} of sensitive values"


def _named_people(release: Folder, check: Form, policy: Form) -> str:
    return Unseen("the ledger is the holder's")


def _attack(release: Folder, check: Form, policy: Form) -> str:
    return Unseen("the holder measured it against the raw table")


def _some(columns: Sequence[str]) -> str:
    return "1 column" if len(columns) == 1 else f"{len(columns)} columns"


def _holding(policy: Form, *contents: str) -> list[str]:
    told = mapping(policy.get("contents"), "contents")
    return [name for name, content in told.items() if content in contents]


def _values(release: Folder, name: str) -> list[object]:
    """The different values that a column shows, those of sets one by one; dates as text."""
    import polars as pl

    if name not in release.table.columns:
        raise CheckError(f"the table has no column {quoted(name)}")
    column = release.table[name]
    column = column.explode() if isinstance(column.dtype, pl.List) else column
    return column.unique().drop_nulls().cast(pl.String).to_list()


RECHECKS: dict[str, Callable[[Folder, Form, Form], str]] = {
    "least_group": _least_group,
    "least_value": _least_value,
    "identifiers": _identifiers,
    "years": _years,
    "oldest": _oldest,
    "areas": _areas,
    "unique": _unique,
    "shuffled": _shuffled,
    "guarantee": _guarantee,
    "bounded": _bounded,
    "named_people": _named_people,
    "attack": _attack,
}
