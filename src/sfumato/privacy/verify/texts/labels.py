"""What a certificate says of labels and of a score that go along: their form, and their words.

A label is the cluster in which the holder found a record of the raw table. The score compares the labels with the
clusters that recipients find from the released centres.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.privacy.verify.fields import Form, count, field, mapping, number, one_of
from sfumato.privacy.verify.letters import quoted
from sfumato.privacy.verify.verdict import CheckError

LABELS, SCORE = "labels", "score"
MOST_CLUSTERS = 1000
WORDS = ("sentence", "warning")
FIGURES = ("f_measure", "match_point")
NEAREST = " Of {shown} records that show one cluster, the share {agreement} stand nearest to the centre of its number."
WARNING = (
    "A label follows from the raw values of its record, and tells more of them than the masked columns do. Whoever "
    "knows the label of a person, or can tell it from what is known of the person, finds records that look alike on "
    "the columns of a claim and on {column}: in the smallest group {alike}; {alone} records are alone."
)
SCORE_SENTENCE = (
    "The clusters that recipients find from the centres that go along are the labelled ones with an F-measure of "
    "{f_measure} and a match point of {match_point}."
)
SCORE_WARNING = (
    "The score is counted in this table, from its labels and centres. It tells how well the clusters of the raw table "
    "are found again, and nothing about privacy; another method, or other starts, may find others."
)
OF_A_LABEL = "the number of the cluster of the raw table in which the holder found the record"


def told_in_words(form: Form) -> list[str]:
    """What a certificate says of labels and a score that go along, sentence and warning of each."""
    return [field(mapping(form[key], key), part, str) for key in (LABELS, SCORE) if key in form for part in WORDS]


def sentence(told: Form) -> str:
    """What the labels are."""
    column, clusters = quoted(field(told, "column", str)), told["clusters"]
    first = f"{column} tells in which of {clusters} clusters of the raw table the holder found each record."
    return first + (NEAREST.format(**told) if "agreement" in told else "")


def warning(told: Form) -> str:
    """What whoever knows labels gains by them."""
    alike, column = told["alike"], quoted(field(told, "column", str))
    return WARNING.format(column=column, alike=_many(alike), alone=told["alone"])


def _many(records: object) -> str:
    return f"{records} record" + ("" if records == 1 else "s")


def score_sentence(told: Form) -> str:
    """What the score is."""
    return SCORE_SENTENCE.format(**told)


def closed_labels(form: Form, columns: Sequence[str]) -> dict[str, object]:
    """Both entries as they must stand in a certificate of a table with these columns; none where there is none."""
    found: dict[str, object] = {}
    if LABELS in form:
        found[LABELS] = _labels(mapping(form[LABELS], LABELS), columns)
    if SCORE in form:
        if LABELS not in form:
            raise CheckError("a score is told of labels that go along, and none do")
        told = mapping(form[SCORE], SCORE)
        figures = {key: _figure(told, key) for key in FIGURES}
        found[SCORE] = {**figures, "sentence": score_sentence(figures), "warning": SCORE_WARNING}
    return found


def _labels(told: Form, columns: Sequence[str]) -> dict[str, object]:
    figures: dict[str, object] = {
        "column": one_of(told, "column", columns),
        "clusters": count(told, "clusters", least=2, most=MOST_CLUSTERS),
        "alike": count(told, "alike", least=1),
        "alone": count(told, "alone"),
        "shown": count(told, "shown"),
    }
    if "agreement" in told:
        figures["agreement"] = _figure(told, "agreement")
    return {**figures, "sentence": sentence(figures), "warning": warning(figures)}


def _figure(form: Form, key: str) -> float:
    """A share of at most six digits after the point."""
    found = field(form, key, float)
    if not 0 <= number(form, key) <= 1 or round(found, 6) != found:
        raise CheckError(f"{key!r} is a share of at most six digits")
    return found
