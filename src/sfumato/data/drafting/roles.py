"""Which role each column gets: who can know it, what must not be learned, what is as good as a name.

Every quasi-identifier costs detail in all others, so they are few: those that others can know of a person, the best
known and the most telling ones first, and all that many know. What stays plain goes out as it is, so it is told and
asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.drafting.dependence import codes, settles
from sfumato.data.drafting.guess import Guess, is_icd
from sfumato.data.drafting.profile import Profile, group_sizes
from sfumato.data.drafting.spoilt import Spoilt
from sfumato.data.drafting.words import EVENT, SENSITIVE, TARGET, WEAK_TARGET, Concept, concept_of, says
from sfumato.data.schema import Category, ItemSet, Number, Role

FINGERPRINT = 0.4
"""Where more rows than this have a rare value, a column does not go out as it is; `publish` refuses above a half."""
MANY_LABELS, ONCE = 100, 1 / 3
"""Of so many labels, where this share or more of them is had by one row each, the column does not go out as it is."""
LEAST_QUASI, MOST_EXACT = 3, 2
MOST_QUASI = ((300, 4), (3_000, 6))
"""Tables of fewer rows than this have at most so many quasi-identifiers; larger ones have at most `OF_MANY_ROWS`.

What many know (age, sex, where somebody lives) does not go out as it is, be there more of it.
"""
OF_MANY_ROWS = 8
MOST_CLASSES = 10
_MANY_KNOW = 3
_MISSING_CLASSES = 0.2
_FEWEST_SHARED = 3
NOTHING_SAID = "nothing says that others know it"
"""The reason of a role that rests on nothing but a name that is not known."""


@dataclass(frozen=True)
class Looked:
    """One column as it was looked at: its profile and its kind, and the cells that spoil its numbers.

    `alike`: how many of its labels differ from another one by letters' case, spaces or hyphens alone.
    """

    profile: Profile
    made: Guess
    spoilt: Spoilt | None = None
    alike: int = 0

    @property
    def name(self) -> str:
        """The column's name."""
        return self.profile.name

    @property
    def concept(self) -> Concept | None:
        """What others know that this column tells; a date tells when something happened, whatever its name."""
        found = concept_of(self.name)
        dated = isinstance(self.made.attribute, Number) and self.made.attribute.calendar is not None
        if found is EVENT or found is None:
            return EVENT if dated else None
        return found

    @property
    def sensitive(self) -> str | None:
        """The word in its name for something that must not be learned."""
        return says(self.name, SENSITIVE)

    @property
    def constant(self) -> bool:
        """Whether it tells nobody from anybody."""
        profile = self.profile
        return profile.distinct + (profile.missing > 0) < 2

    @property
    def exact(self) -> bool:
        """Whether so many of its values are rare that who knows one finds the row."""
        return self.profile.rare_share > FINGERPRINT

    @property
    def long_tail(self) -> bool:
        """Whether it has many labels, and many of them belong to one person each; codes of diseases have beginnings."""
        seen = self.profile
        many = isinstance(self.made.attribute, Category) and seen.distinct >= MANY_LABELS and not is_icd(seen)
        return many and seen.counts.count(1) >= ONCE * seen.distinct

    @property
    def can_be_masked(self) -> bool:
        """Whether maskers can show it in less detail."""
        return not isinstance(self.made.attribute, ItemSet) and not self.constant and self.made.dropped is None


@dataclass(frozen=True)
class Given:
    """The role of a column, and why. `asked`: whether others know it is a question to the holder."""

    role: Role
    reason: str
    asked: bool = False


def class_column(columns: Sequence[Looked]) -> Looked | None:
    """The column whose classes must survive: one that is called so, of two to ten values; None if there is none.

    Vague names (type, status) count at the end of the table alone.
    """
    able = [column for column in columns if _may_be_class(column)]
    strong = [column for column in able if says(column.name, TARGET)]
    weak = [column for column in able if column is columns[-1] and says(column.name, WEAK_TARGET)]
    found = strong or weak
    return found[-1] if found else None


def _may_be_class(column: Looked) -> bool:
    profile = column.profile
    few = 2 <= profile.distinct <= min(MOST_CLASSES, profile.rows // 5)
    whole = profile.missing <= _MISSING_CLASSES * profile.rows
    fits = isinstance(column.made.attribute, Category | Number) and not _is_moment(column)
    return few and whole and fits and column.made.dropped is None and column.concept is None and not column.exact


def _is_moment(column: Looked) -> bool:
    return isinstance(column.made.attribute, Number) and column.made.attribute.calendar is not None


def give_roles(table: pa.Table, columns: Sequence[Looked], target: Looked | None) -> dict[str, Given]:
    """The role of every column, by its name."""
    given = {column.name: role for column in columns if (role := _settled(column, target)) is not None}
    given |= _doubles(table, [column for column in columns if column.name not in given])
    open_ones = [column for column in columns if column.name not in given]
    coarse = _settled_by_finer(table, open_ones)
    quasi = _quasi([column for column in open_ones if column.name not in coarse], most_quasi(table.num_rows))
    for column in open_ones:
        given[column.name] = quasi.get(column.name) or _left(column)
    if not quasi:
        given |= _at_least_one(columns)
    given |= _tell_tales(table, columns, given)
    beyond = {c.name: Given("quasi", _known_reason(c)) for c in open_ones if _many_know(c) and c.can_be_masked}
    given |= {name: role for name, role in beyond.items() if given[name].role == "plain"}
    given |= _tell_tales(table, columns, given)
    return given | _coarser(table, [column for column in columns if column is not target], given)


def most_quasi(rows: int) -> int:
    """How many quasi-identifiers a table of so many rows can have and still show something of each."""
    return next((most for below, most in MOST_QUASI if rows < below), OF_MANY_ROWS)


def _settled(column: Looked, target: Looked | None) -> Given | None:
    """Roles that need no comparison with other columns."""
    if column.made.dropped is not None:
        return Given("identifier", column.made.dropped)
    if column.constant:
        told = "everybody has the same value" if column.profile.distinct else "empty: leave it out"
        return Given("identifier" if column.exact else "plain", told)
    if column is target:
        said = f"sensitive: the name says {column.sensitive!r}" if column.sensitive else NOTHING_SAID
        return Given("sensitive" if column.sensitive else "plain", f"the class that must survive; {said}")
    if column.exact:
        return _exact_text(column)
    return Given("sensitive", f"the name says {column.sensitive!r}") if _is_sensitive(column) else None


def _is_sensitive(column: Looked) -> bool:
    """Sensitive by its name; what many know of everybody is no secret, and a date is a date."""
    return column.sensitive is not None and not _many_know(column) and column.concept is not EVENT


def _exact_text(column: Looked) -> Given | None:
    """Labels of which most are rare are dropped, unless others know them or codes can be shown by their beginnings;
    dates that some cells keep from being read are."""
    if column.spoilt is not None and column.spoilt.dates and not isinstance(column.made.attribute, Number):
        return Given("identifier", "most of its values are rare: who knows one finds the row", asked=True)
    if isinstance(column.made.attribute, Number) or (column.concept is not None and not _is_sensitive(column)):
        return (
            None
            if column.can_be_masked
            else Given("identifier", "lists of which most are rare: who knows one finds the row", asked=True)
        )
    if is_icd(column.profile):
        return None
    return Given("identifier", "most of its values are rare: who knows one finds the row", asked=True)


def _quasi(columns: Sequence[Looked], most: int) -> dict[str, Given]:
    """The quasi-identifiers: what others know, then amounts that find a row, then what singles out most."""
    able = [column for column in columns if column.can_be_masked]
    known = _known(able)
    found = {c.name: Given("quasi", _known_reason(c)) for c in known[:most]}
    exact = [c for c in able if c.exact and c.name not in found and c not in known]
    exact.sort(key=lambda c: (not _is_sensitive(c), -c.profile.spread))
    extra = int(any(map(_is_sensitive, exact)))  # a named amount is worth a place of its own: else it would be lost
    wanted = min(MOST_EXACT if found else most, max(most - len(found), extra))
    found |= {c.name: Given("quasi", _exact_reason(c)) for c in exact[:wanted]}
    others = [c for c in able if c.name not in found and not c.exact and not _is_sensitive(c)]
    others.sort(key=lambda c: -c.profile.spread)
    wanted = max((min(LEAST_QUASI, most) if known else most) - len(found), 0)  # names that say nothing excuse nothing
    return found | {c.name: Given("quasi", "singles out more than the others", asked=True) for c in others[:wanted]}


def _known(columns: Iterable[Looked]) -> list[Looked]:
    """What others can know of a person, in the order in which it is masked."""
    return _one_of_each_first(c for c in columns if c.concept is not None and not _is_sensitive(c))


def _settled_by_finer(table: pa.Table, columns: Sequence[Looked]) -> set[str]:
    """Of what others know the columns that a better known or finer one settles: they need no place of their own."""
    fine: list[NDArray[np.int64]] = []
    found: set[str] = set()
    for column in _known(c for c in columns if c.can_be_masked):
        own = codes(table.column(column.name))
        if any(settles(one, own) and not settles(own, one) for one in fine):
            found.add(column.name)
        else:
            fine.append(own)
    return found


def _one_of_each_first(columns: Iterable[Looked]) -> list[Looked]:
    """The best known first, then the most telling; a second column of one meaning after the first of every other."""
    ranked = sorted(columns, key=lambda c: (-(c.concept.known if c.concept else 0), -c.profile.spread))
    met: list[Concept | None] = []
    firsts: list[Looked] = []
    seconds: list[Looked] = []
    for column in ranked:
        (seconds if column.concept in met else firsts).append(column)
        met.append(column.concept)
    return firsts + seconds


def _known_reason(column: Looked) -> str:
    concept = column.concept
    if concept is None:
        return "known to others"
    return f"{concept.meaning}: {'many know it' if _many_know(column) else 'people around one know it'}"


def _many_know(column: Looked) -> bool:
    return column.concept is not None and column.concept.known == _MANY_KNOW


def _exact_reason(column: Looked) -> str:
    named = f"sensitive ({column.sensitive!r}), but " if _is_sensitive(column) else ""
    return f"{named}so exact that who knows it finds the row"


def _left(column: Looked) -> Given:
    """What is no quasi-identifier: too exact to go out as it is, or plain."""
    if column.exact:
        return Given("identifier", "so exact that who knows it finds the row", asked=True)
    if _is_sensitive(column):
        return Given("sensitive", f"the name says {column.sensitive!r}")
    if column.long_tail:
        told = (
            f"{column.profile.distinct:,} labels, many of which one row has alone: who knows one of these finds the row"
        )
        return Given("identifier", told, asked=True)
    if column.concept is not None:
        return Given("plain", f"{column.concept.meaning}; singles out less than the quasi ones", asked=True)
    return Given("plain", NOTHING_SAID, asked=True)


def _at_least_one(columns: Sequence[Looked]) -> dict[str, Given]:
    """Where nothing is known to others: whatever can be masked, so that something is promised."""
    able = [c for c in columns if not isinstance(c.made.attribute, ItemSet) and not c.constant]
    able = [c for c in able if c.profile.family != "other"]
    best = max(able, key=lambda c: (c.made.dropped is None, not c.exact, c.profile.spread), default=None)
    return {} if best is None else {best.name: Given("quasi", "nothing else can be masked", asked=True)}


def _doubles(table: pa.Table, columns: Sequence[Looked]) -> dict[str, Given]:
    """Of two columns that say the same, such as education and its number, the one without an order is dropped."""
    labels = [c for c in columns if isinstance(c.made.attribute, Category) and c.concept is not None]
    numbers = [c for c in columns if isinstance(c.made.attribute, Number) and c.can_be_masked]
    found: dict[str, Given] = {}
    for column in labels:
        same = [n for n in numbers if n.profile.distinct == column.profile.distinct and _tells(table, column, n)]
        if same:
            found[column.name] = Given("identifier", f"it says the same as {same[0].name!r}, which has an order")
    return found


def _tell_tales(table: pa.Table, columns: Sequence[Looked], given: dict[str, Given]) -> dict[str, Given]:
    """Plain columns that tell a quasi one exactly would undo its masking: they are dropped."""
    quasi = [column for column in columns if given[column.name].role == "quasi"]
    found: dict[str, Given] = {}
    for column in columns:
        if given[column.name].role == "plain" and not isinstance(column.made.attribute, ItemSet):
            told = next((q for q in quasi if _tells(table, column, q)), None)
            if told is not None:
                found[column.name] = Given("identifier", f"it tells {told.name!r} exactly, which is masked")
    return found


def _coarser(table: pa.Table, columns: Sequence[Looked], given: dict[str, Given]) -> dict[str, Given]:
    """Plain columns that a quasi one settles, as a town its province, would tell of what is masked: they are masked.

    They cost no detail: whoever is alike in the finer column is alike in them.
    """
    able = [column for column in columns if not isinstance(column.made.attribute, ItemSet)]
    plain = [c for c in able if given[c.name].role == "plain" and c.can_be_masked]
    quasi = [c for c in able if given[c.name].role == "quasi"] if plain else []
    fine = {q.name: codes(table.column(q.name)) for q in quasi}
    found: dict[str, Given] = {}
    for column in plain:
        coarse = codes(table.column(column.name))
        settling = next((name for name, one in fine.items() if settles(one, coarse)), None)
        if settling is not None:
            reason = f"each {settling!r} has one value of it: shown as it is, it would tell of what is masked"
            found[column.name] = Given("quasi", reason)
    return found


def _tells(table: pa.Table, one: Looked, other: Looked) -> bool:
    """Whether each value of one goes with a single value of the other, and that is no accident of rare values."""
    if other.profile.distinct < _FEWEST_SHARED or one.profile.distinct < other.profile.distinct:
        return False
    if one.exact or one.profile.distinct > table.num_rows / 2:
        return False
    return len(group_sizes(table, [one.name, other.name])) == len(group_sizes(table, [one.name]))


def with_role(made: Guess, role: Role) -> Guess:
    """The same guess, with its role; what is dropped is a label, but for numbers: another role masks them as such."""
    if role == "identifier" and not isinstance(made.attribute, Number):
        return replace(made, attribute=Category(role="identifier"))
    return replace(made, attribute=replace(made.attribute, role=role))
