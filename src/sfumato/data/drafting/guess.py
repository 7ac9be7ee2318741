"""What a column holds: its kind, guessed from name, type and values, with the reason. Roles are another question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sfumato.data.drafting.people import (
    NUMBERS_OF_THINGS,
    names_people,
    numbers_people,
)
from sfumato.data.drafting.profile import Profile
from sfumato.data.drafting.shapes import calendar_for, rounded_range
from sfumato.data.drafting.words import (
    CODED,
    COUNT_WORDS,
    EVENT,
    FREE_TEXT,
    IDENTIFYING,
    KIND_WORDS,
    SENSITIVE,
    SOFT,
    concept_of,
    says,
)
from sfumato.data.schema import Attribute, Category, ItemSet, Number
from sfumato.data.written_forms import like_lists, separator_of

_MANY = 0.95  # nearly every row has a value of its own
_HALF = 0.5
_ENOUGH_ROWS = 20  # below this, different values say little
_FEW_VALUES, _MOST_KINDS = 0.05, 50  # of the rows, and in all: too few different values for an identifier
_LONG_TEXT = 40
_WORDS, _SOME = 3, 0.2  # words that make a sentence, of so many of the different texts
_LARGEST = 1e15  # larger numbers are no amounts
_MOST_CODES = 9
_FEWEST_PEOPLE, _MOST_ROWS_EACH = 100, 50  # fewer values, each in more rows, are accounts or devices, and no people
DIGITS = "digits that its database holds as text, taken for labels"
ICD = re.compile(r"[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?|[VE]?\d{3}(\.\d{1,2})")


@dataclass(frozen=True)
class Guess:
    """A column's attribute without its role, why it was chosen, and why its column should go, if it should.

    `numbered`: by its name and its values it holds a number for each person. `unread`: its source does not read it.
    """

    attribute: Attribute
    reason: str
    dropped: str | None = None
    numbered: bool = False
    unread: bool = False


def guess(column: Profile) -> Guess:
    """What a column may hold. Only a suggestion: names lie."""
    if column.distinct == 0:
        return Guess(Category(missing=column.marks), "empty")
    made = _by_family(column)
    dropped = _identifier(column, made.attribute)
    each = column.rows / column.distinct
    handful = column.distinct < _FEWEST_PEOPLE and each > _MOST_ROWS_EACH
    numbered = dropped is not None and not handful and numbers_people(column.name, column.texts)
    return Guess(made.attribute, made.reason, dropped, numbered)


def _identifier(column: Profile, attribute: Attribute) -> str | None:
    """Why a column is as good as a name; None if it is not."""
    if column.family == "other":
        return f"values of type {column.type} cannot be masked"
    if column.family == "list" and column.holes:
        return "lists of lists, or with missing items, cannot be masked"
    if column.family == "text" and like_lists(column.texts, quoted=not isinstance(attribute, ItemSet)):
        return "lists as Python or JSON write them, in brackets: write ['a', 'b'] as a;b and draft again to keep it"
    if column.family == "moment" and column.moments() is None:
        return "dates outside the years 1 to 9999 cannot be masked"
    if column.family not in ("text", "number"):
        return None
    if column.family == "text" or column.whole:
        person = names_people(column.name, column.texts, text=column.family == "text")
        if person is not None:
            return person
    said = says(column.name, NUMBERS_OF_THINGS) or says(column.name, IDENTIFYING)
    kinds = column.distinct <= _MOST_KINDS and column.distinct_share < _FEW_VALUES
    few = column.distinct <= 2 or (column.rows >= 100 and kinds)
    other = concept_of(column.name) not in (None, EVENT) and re.fullmatch(SOFT, said or "") is not None
    if said is not None and not few and not other and (column.family == "text" or column.whole):
        return f"the name says {said!r}"
    text = column.family == "text" and isinstance(attribute, Category)
    if column.family == "text" and concept_of(column.name) is None and _holds_remarks(column):
        return "free text in sentences, in which anything may stand and anybody be named"
    if text and (_is_prose(column) or (says(column.name, FREE_TEXT) and column.distinct_share > _HALF)):
        return "free text, in which anything may stand"
    near_unique = column.rows >= _ENOUGH_ROWS and column.distinct_share > _MANY
    meant = says(column.name, SENSITIVE) or concept_of(column.name)
    if near_unique and (text or (column.family == "number" and column.whole)) and not meant:
        return "nearly every row has a value of its own"
    return None


def _is_prose(column: Profile) -> bool:
    length = sum(map(len, column.texts)) / len(column.texts)
    spaces = sum(text.count(" ") for text in column.texts) / len(column.texts)
    return column.distinct_share > _HALF and length > _LONG_TEXT and spaces > 4


def _holds_remarks(column: Profile) -> bool:
    """Whether a column that is called as free text is holds sentences, however few are different.

    Labels of a word or two that a list offers are none.
    """
    if not says(column.name, FREE_TEXT):
        return False
    return sum(text.count(" ") >= _WORDS - 1 for text in column.texts) > _SOME * len(column.texts)


def _by_family(column: Profile) -> Guess:
    if column.family == "list":
        return Guess(ItemSet(missing=column.marks), "lists")
    if column.family == "moment":
        return _moment(column)
    if column.family == "number":
        return _number(column)
    if column.nearly_numbers and not says(column.name, CODED):  # 12,5 is no list of two
        return Guess(Category(missing=column.marks), "labels, though nearly all are numbers")
    if column.nearly_dates:  # and 31/12/1990 none of three
        return Guess(Category(missing=column.marks), "labels, though nearly all are dates")
    if column.family == "text":
        separator = separator_of(column.texts)
        if separator is not None:
            return Guess(ItemSet(separator=separator, missing=column.marks), f"lists with {separator!r} between")
    return Guess(Category(missing=column.marks), "true or false" if column.family == "flag" else "labels")


def _number(column: Profile) -> Guess:
    """Numbers, or codes that are written as numbers."""
    as_label = _as_label(column)
    if as_label is not None:
        return Guess(Category(missing=column.marks), as_label)
    ends = column.ends()
    if ends is None or max(map(abs, ends)) > _LARGEST:
        return Guess(Category(missing=column.marks), "numbers too large for amounts")
    attribute = Number(range=rounded_range(*ends, few=column.few), decimal=column.decimal, missing=_trimmed(column))
    return Guess(attribute, "whole numbers" if column.whole else "numbers")


def _as_label(column: Profile) -> str | None:
    """Why numbers are labels: two values, codes by name, or few small numbers in a column of kinds."""
    if column.distinct <= 2:
        return "one or two values"
    if not column.whole:
        return None
    said = says(column.name, CODED)
    if said is not None:
        return f"codes: the name says {said!r}"
    ends, concept = column.ends() or (0, 0), concept_of(column.name)
    small = column.distinct <= _MOST_CODES and ends[0] >= 0 and ends[1] <= _MOST_CODES
    nominal = concept.nominal if concept is not None else says(column.name, KIND_WORDS) is not None
    counted = says(column.name, COUNT_WORDS) is not None
    return "codes: few small numbers that stand for kinds" if small and nominal and not counted else None


def _moment(column: Profile) -> Guess:
    found = column.moments()
    if found is None or (found[1] - found[0]).total_seconds() < 2:
        return Guess(Category(missing=column.marks), "dates outside the usual years" if found is None else "one date")
    made = calendar_for(*found, timed=column.timed, few=column.few)
    attribute = Number(range=made.range, calendar=made.unit, dates=column.dates, missing=_trimmed(column))
    written = "" if column.dates is None else f" in the order {column.dates}"
    return Guess(attribute, f"dates{written}" + (" (or mdy? no day is above 12)" if column.unsure else ""))


def _trimmed(column: Profile) -> tuple[str, ...]:
    """Texts that mean missing as they are compared in a column of numbers."""
    return tuple(sorted({mark.strip() for mark in column.marks}))


def is_icd(column: Profile) -> bool:
    """Whether the texts are codes of illnesses."""
    return column.family == "text" and all(ICD.fullmatch(text) for text in column.texts)
