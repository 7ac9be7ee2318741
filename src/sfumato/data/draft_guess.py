"""What a column may be: its kind and its role, guessed from name, type and values, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sfumato.data.draft_profile import Profile
from sfumato.data.draft_values import (
    calendar_for,
    reads_as_number,
    rounded_range,
    separator_of,
)
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Role

_IDENTIFYING = re.compile(
    r"ids?|identifier|uuid|guid|ssn|(first|last|full|user|sur|fore)?name|e?mail|(tele)?phone|mobile|fax"
    r"|address|street|iban|passport|login|mrn|url"
)
_SENSITIVE = re.compile(
    r"diseases?|diagnos[ei]s|illness|conditions?|symptoms?|hiv|treatment|medications?|drugs?|pregnancy"
    r"|addiction|disability|income|salary|wages?|earnings|debts?|wealth|religion|faith|belief|politics|party"
    r"|vote|union|orientation|sexuality|conviction|crime|offen[cs]e"
)
_CODED = re.compile(r"zip(code)?|post(al|code)|plz|icd\d*|codes?|fips")
_MANY = 0.95  # nearly every row has a value of its own
_HALF = 0.5
_ENOUGH_ROWS = 20  # below this, different values say little
_FEW_VALUES = 0.05  # of the rows: too few different values for an identifier
_LONG_TEXT = 40


@dataclass(frozen=True)
class Guess:
    """A column's attribute, why it was chosen, and what the holder should know."""

    attribute: Attribute
    reason: str
    warnings: tuple[str, ...] = ()


def guess(column: Profile) -> Guess:
    """What a column may be. Only a suggestion: names lie, and only the holder knows what others know."""
    if column.distinct == 0:
        empty = Category(role="plain", missing=column.marks)
        return Guess(empty, "the column is empty", ("it says nothing: leave the column out",))
    made = _identifier(column) or _by_family(column)
    if made.attribute.role == "identifier":
        return made
    role, why = _role(column.name)
    attribute = replace(made.attribute, role=role, missing=column.marks)
    return Guess(attribute, f"{made.reason}; {why}", (*made.warnings, *_fingerprint(column)))


def words(name: str) -> list[str]:
    """The words of a column's name, in lower case.

    >>> words("patientID"), words("Home-Phone 2")
    (['patient', 'id'], ['home', 'phone', '2'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[a-z]+\d*|\d+", spaced.lower())


def _says(name: str, pattern: re.Pattern[str]) -> str | None:
    return next((word for word in words(name) if pattern.fullmatch(word)), None)


def _role(name: str) -> tuple[Role, str]:
    said = _says(name, _SENSITIVE)
    if said is not None:
        return "sensitive", f"sensitive, as the name says {said!r}"
    return "quasi", "quasi, as others may know it of a person"


def _identifier(column: Profile) -> Guess | None:
    reason = _identifier_reason(column)
    return None if reason is None else Guess(Category(role="identifier"), f"{reason}: it is dropped")


def _identifier_reason(column: Profile) -> str | None:
    if column.family == "other":
        return f"values of type {column.type} cannot be masked"
    if column.family not in ("text", "number"):
        return None
    said = _says(column.name, _IDENTIFYING)
    few = column.rows >= 100 and column.distinct_share < _FEW_VALUES
    if said is not None and not few and (column.family == "text" or column.whole):
        return f"the name says {said!r}"
    if column.family == "text" and _is_prose(column):
        return "it is free text, in which anything may stand"
    near_unique = column.rows >= _ENOUGH_ROWS and column.distinct_share > _MANY
    own_kind = column.whole if column.family == "number" else not _is_structured(column)
    if near_unique and own_kind and _role(column.name)[0] != "sensitive":
        return "nearly every row has a value of its own"
    return None


def _is_prose(column: Profile) -> bool:
    length = sum(map(len, column.texts)) / len(column.texts)
    spaces = sum(text.count(" ") for text in column.texts) / len(column.texts)
    return column.distinct_share > _HALF and length > _LONG_TEXT and spaces > 4 and not _is_structured(column)


def _is_structured(column: Profile) -> bool:
    """Whether the texts are dates, numbers or lists of items, of which many differ for good reasons."""
    texts = column.texts
    return calendar_for(texts) is not None or reads_as_number(texts) or separator_of(texts) is not None


def _by_family(column: Profile) -> Guess:
    if column.family == "list":
        return Guess(ItemSet(), "each row holds a list")
    if column.family == "flag":
        return Guess(Category(), "true or false")
    if column.family == "moment":
        return _moment(column)
    if column.family == "number":
        return _number(column)
    return _text(column)


def _number(column: Profile) -> Guess:
    said = _says(column.name, _CODED)
    if said is not None and column.whole:
        return Guess(Category(), f"numbers that are codes, as the name says {said!r}")
    if column.distinct <= 2:
        return Guess(Category(), "two values only")
    ends = column.finite_ends()
    if ends is None:
        return Guess(Category(), "no finite number")
    return Guess(Number(range=rounded_range(*ends)), "whole numbers" if column.whole else "numbers")


def _moment(column: Profile) -> Guess:
    found = calendar_for(column.ends())
    if found is None:
        return Guess(Category(), "dates outside the years 1 to 9999")
    return Guess(Number(range=found.range, calendar=found.unit), "dates or times by type")


def _text(column: Profile) -> Guess:
    texts = column.texts
    found = calendar_for(texts) and calendar_for(column.all_texts())
    if found is not None:
        return Guess(Number(range=found.range, calendar=found.unit), "every text is a date")
    if reads_as_number(texts) and reads_as_number(column.all_texts()):
        numbers = [float(text) for text in column.all_texts()]
        return Guess(Number(range=rounded_range(min(numbers), max(numbers))), "every text is a number")
    separator = separator_of(texts)
    if separator is not None:
        return Guess(ItemSet(separator=separator), f"the texts are lists with the separator {separator!r}")
    reason = "few different texts" if column.distinct_share < _HALF else "different texts"
    return Guess(Category(), reason)


def _fingerprint(column: Profile) -> tuple[str, ...]:
    if column.rows < _ENOUGH_ROWS or max(column.distinct_share, column.unique_share) <= _HALF:
        return ()
    return (
        "a fingerprint: so many values are nearly unique that who knows one finds the row. "
        "Make it an identifier unless the analysis needs it",
    )
