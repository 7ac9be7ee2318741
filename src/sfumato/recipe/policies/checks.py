"""Every check of a policy, asked as early as it can be: of the recipe, of the table, of what is shown.

Each is a function that gives back what is wrong, or None. What the written folder shows is asked of the folder, by
verify: here is only what can be refused before that, and what needs the raw table. `REMEDIES` says what to do then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from sfumato.data.alone import share_alone_coded
from sfumato.data.reading import read_arrow
from sfumato.data.schema import Category, ItemSet, Number
from sfumato.errors import PolicyError, quoted
from sfumato.evaluation.attacks.results import AttackResult
from sfumato.evaluation.attacks.singling_out import CRITERION as SINGLING_OUT
from sfumato.privacy.verify.policies.spans import Span, spans, split_early, split_old
from sfumato.privacy.verify.policies.wording import CONTENT
from sfumato.privacy.verify.verdict import CheckError
from sfumato.recipe.policies.stages import Asked, Wrong, held, some

Ask = Callable[[Asked], Wrong | None]
_DIGITS = re.compile(r"\d+")
NAMED, SOME = 5, 0.01
"""Columns that a remedy names, and the share of rows that is worth a word."""
CELLS = {
    Category: ("a label", "labels"),
    Number: ("a number", "numbers"),
    ItemSet: ("a combination of items", "combinations of items"),
}
"""What a cell of each kind of column is."""
REMEDIES = {
    "least_group": "ask for {k_anonymity: RECORDS, on: [...]} on all quasi-identifiers together; of one that asks for "
    "less, --set privacy.0.k=RECORDS",
    "least_value": "join rare labels under one (in the table, or list those to keep under values: and name one of them "
    "as outside:), write numbers in classes and leave rare items out of sets (each combination of items counts for "
    "itself), declare the column quasi, so that it is masked, or an identifier, which is left out",
    "identifiers": "declare the column an identifier, which is left out; or, if it holds something else, say so in the "
    "policy's columns: {NAME: other}",
    "years": "declare the date quasi, with calendar: year, and a range from 1 January to 31 December if any; or write "
    "its year into the table",
    "oldest": "declare the age quasi with range: [0, 90] and outside: clip, which moves ages above 90 to it; of a year "
    "of birth, do so with the year that is 90 years ago: the release says that this end stands for itself and beyond",
    "areas": "write the first digits of ZIP codes into the table, 000 for small areas, and name the table of their "
    "people: {policy: NAME, areas: people.csv}; without longer codes in a taxonomy",
    "unique": "declare the column an identifier (left out) or quasi (masked)",
    "shuffled": "leave keep_order out",
    "guarantee": "use a masker with a guarantee, such as partition",
    "bounded": "add a requirement about it to privacy, such as {l_diversity: 3, on: [...], sensitive: NAME}",
    "named_people": "write people: NAME at the top of the recipe, without i_understand: several_releases",
    "attack": "ask for a larger k, or bound what is sensitive more closely",
}


def wrong(kind: str, given: str, **said: object) -> Wrong:
    """What is wrong with a check, with what to do about it."""
    remedy = REMEDIES[kind]
    for name, value in said.items():
        remedy = remedy.replace(name, str(value))
    return Wrong(given, remedy)


def _asks_group(asked: Asked) -> Wrong | None:
    records = int(asked.terms["records"])
    large = [need for need in asked.recipe.privacy if need.population is None and need.claim().get("k", 0) >= records]
    bare = {*asked.recipe.schema.quasi} - {name for need in large for name in need.on}
    if not large or bare:
        sizes = [k for need in asked.recipe.privacy if need.population is None and (k := need.claim().get("k"))]
        names = ", ".join(map(quoted, sorted(bare)))
        given = f"k = {max(sizes)}" if sizes and not large else f"no requirement of so many on {names}"
        return wrong("least_group", given, RECORDS=records)
    return None


def _shuffled(asked: Asked) -> Wrong | None:
    return wrong("shuffled", "keep_order") if asked.recipe.keep_order else None


def _guarantee(asked: Asked) -> Wrong | None:
    mask = asked.recipe.mask
    return None if mask.guarantee.claims else wrong("guarantee", type(mask).__name__)


def _bounded(asked: Asked) -> Wrong | None:
    bounded = {need.sensitive for need in asked.recipe.privacy}
    free = [name for name in asked.recipe.schema.with_role("sensitive") if name not in bounded]
    return wrong("bounded", f"{quoted(free[0])} in none", NAME=free[0]) if free and not _generated(asked) else None


def _named(asked: Asked) -> Wrong | None:
    recipe = asked.recipe
    if recipe.people is None or "several_releases" in recipe.understood:
        return wrong("named_people", "people without a name" if recipe.people is None else "several_releases")
    return None


def _measurable(asked: Asked) -> Wrong | None:
    """Under a budget nothing is measured against the raw table: what is refused would tell of it."""
    return wrong("attack", "rows that are generated, whose attacks nobody may measure") if _generated(asked) else None


def _identifiers(asked: Asked) -> Wrong | None:
    shown = asked.holding(*asked.terms["kinds"])
    if not shown:
        return None
    return wrong(
        "identifiers", f"{quoted(shown[0])}, which seems to hold {CONTENT[asked.contents[shown[0]]]}", NAME=shown[0]
    )


def _years(asked: Asked) -> Wrong | None:
    """A date in whole is known by its calendar; whatever else is shown is seen once it is."""
    for name in asked.holding("date", "birth"):
        attribute = asked.recipe.schema[name]
        if not isinstance(attribute, Number) or attribute.calendar is None:
            continue
        if attribute.role != "quasi" or attribute.calendar != "year":
            return wrong(
                "years", f"{quoted(name)}, by {'whole dates' if attribute.role != 'quasi' else attribute.calendar}"
            )
    return None


def _rare(asked: Asked) -> Wrong | None:
    """Whole cells that too few have; in how many rows they stand is told where that many are enough.

    Whoever holds such a cell can be counted, be it a label, an amount, or a combination of items each of which many
    have: so that what is counted is the cell, as it is written. If each cell is held by many, so is each item.
    """
    told, records = [], int(asked.terms["records"])
    for name in asked.bare:
        few = [count for count in held(asked.column(name)) if count < records]
        rows = f", {sum(few):,} rows together" if sum(few) >= records else ""
        if few:
            one, several = CELLS[type(asked.recipe.schema[name])]
            number = one if len(few) == 1 else f"{len(few):,} {several}"
            told.append(f"{number} of {quoted(name)} that fewer have{' each' if len(few) > 1 else ''}{rows}")
    return wrong("least_value", "; ".join(told)) if told else None


def _unique(asked: Asked) -> Wrong | None:
    for name in asked.bare:
        column = asked.column(name)
        counts = [int(count) for count in column.counts if count]
        if 2 * sum(one for one in counts if one < int(asked.terms["fewest"])) > len(column):
            return wrong("unique", quoted(name))
    return None


def _oldest(asked: Asked) -> Wrong | None:
    """Of columns that are shown as they are."""
    oldest = int(asked.terms["age"])
    apart = [name for name in asked.holding("age") if name in asked.bare and split_old(_spans(asked, name), oldest)]
    last = asked.year - oldest - 1
    apart += [n for n in asked.holding("birth") if n in asked.bare and split_early(_spans(asked, n), last)]
    return wrong("oldest", quoted(apart[0])) if apart else None


def _spans(asked: Asked, name: str) -> list[Span]:
    try:
        return spans(some(asked.column(name)), name)
    except CheckError:
        raise PolicyError(
            f"policy {asked.policy.name}, oldest",
            "ages and years of birth are numbers, intervals, or texts such as 80-89 and 90+",
            given=f"{quoted(name)}, with other texts",
            remedy="write numbers; or, if it holds something else, say so in the policy's columns",
        ) from None


def _table_of_areas(asked: Asked) -> Wrong | None:
    """Of ZIP codes somebody has to say how many people live where, before anything is masked."""
    names = asked.holding("zip")
    if not names:
        return None
    if asked.policy.areas is not None:
        people_in_areas(asked.policy.areas, int(asked.terms["digits"]))
        return None
    given = f"{quoted(names[0])}, which seems to hold {CONTENT['zip']}, and no table of the people in areas"
    remedy = (
        "name a CSV with the first digits of a ZIP code and how many people live there in each line, as 021,1234567: "
        f"{{policy: {asked.policy.name}, areas: people.csv}}; or, if the column holds something else, "
        f"{{policy: {asked.policy.name}, columns: {{{names[0]}: other}}}}"
    )
    return Wrong(given, remedy)


def _bare_areas(asked: Asked) -> Wrong | None:
    return _areas(asked, [name for name in asked.holding("zip") if name in asked.bare])


def _shown_areas(asked: Asked) -> Wrong | None:
    return _areas(asked, asked.holding("zip"))


def _areas(asked: Asked, names: list[str]) -> Wrong | None:
    digits, people = int(asked.terms["digits"]), int(asked.terms["people"])
    runs = {name: {run for label in some(asked.column(name)) for run in _DIGITS.findall(label)} for name in names}
    if any(len(run) > digits for found in runs.values() for run in found):
        return wrong("areas", f"more than {digits} digits", NAME=asked.policy.name)
    whole = {run for found in runs.values() for run in found if len(run) == digits and int(run)}
    if not whole:
        return None
    if asked.policy.areas is None:
        return _table_of_areas(asked)
    known = people_in_areas(asked.policy.areas, digits)
    if any(known.get(run, 0) <= people for run in whole):
        return wrong("areas", "an area that the table does not have, or has so few people in", NAME=asked.policy.name)
    return None


def people_in_areas(path: str, digits: int) -> dict[str, int]:
    """How many people live in each area, from a table whose first column is the area and whose second is the number.

    It may begin with the names of its columns, or with the first area.
    """
    table = read_arrow(path)
    try:
        areas, people = ([table.column_names[at], *table.column(at).to_pylist()] for at in (0, 1))
        if not str(areas[0]).isdigit():
            areas, people = areas[1:], people[1:]
        return {str(area).zfill(digits): int(str(count)) for area, count in zip(areas, people, strict=True)}
    except (IndexError, ValueError):
        raise PolicyError(
            "areas",
            "its first column is the beginning of a ZIP code, its second how many people live there",
            given=f"{len(table.column_names)} columns, or something else in them",
            remedy="write a CSV with a line such as 021,1234567 for each area",
        ) from None


def _attack(asked: Asked) -> Wrong | None:
    """The excess over guessing, of every attack of the criterion; where none applies there is nothing to find."""
    criterion, most = asked.terms["criterion"], float(asked.terms["most"])
    found = [one for one in asked.attacks.results if one.criterion == criterion and one.baseline is not None]
    worse = [one for one in found if one.baseline is not None and one.baseline.excess.value > most]
    if not worse:
        return None
    given = "; ".join(f"{one.attack}: {_measured(one, most)}" for one in worse)
    return Wrong(given, remedy) if (remedy := _against(asked, criterion)) else wrong("attack", given)


def _measured(found: AttackResult, most: float) -> str:
    """How often an attack succeeded, beside guessing and what is allowed."""
    if found.baseline is None:
        return f"{found.success.value:.0%}"
    excess, guessed = found.baseline.excess.value, found.baseline.success.value
    shares = f"{found.success.value:.0%} succeed, {guessed:.0%} by guessing without the release"
    return f"{excess:.2g} more often, {most:g} allowed ({shares})"


def _against(asked: Asked, criterion: str) -> str | None:
    """What helps against an attack, by what it rests on: no k masks a column that goes out as it is."""
    bare = {name: asked.column(name) for name in asked.bare} if asked.masked is not None else {}
    if criterion != SINGLING_OUT or not bare:
        return None if asked.recipe.schema.with_role("sensitive") else "ask for a larger k"
    share = share_alone_coded([column.marks for column in bare.values()])
    finest = sorted(bare, key=lambda name: -np.count_nonzero(bare[name].counts))[:NAMED]
    alone = f", with which {share:.0%} of the rows are alone" if share >= SOME else ""
    return (
        f"declare quasi, or identifier, what goes out as it is ({', '.join(map(quoted, finest))}{alone}): a larger k "
        "masks none of it"
    )


def _generated(asked: Asked) -> bool:
    return bool(asked.recipe.mask.guarantee.spends)


OF_RECIPE: Mapping[str, Ask] = {
    "least_group": _asks_group,
    "identifiers": _identifiers,
    "areas": _table_of_areas,
    "years": _years,
    "shuffled": _shuffled,
    "guarantee": _guarantee,
    "bounded": _bounded,
    "named_people": _named,
    "attack": _measurable,
}
OF_TABLE: Mapping[str, Ask] = {
    "least_value": _rare,
    "identifiers": _identifiers,
    "oldest": _oldest,
    "areas": _bare_areas,
    "unique": _unique,
}
OF_SHOWN: Mapping[str, Ask] = {"identifiers": _identifiers, "areas": _shown_areas, "attack": _attack}
