"""What the attributes of joined patients are."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.data.datasets.icd9 import icd9
from sfumato.data.datasets.patients.facts import Facts, facts
from sfumato.data.datasets.patients.joining import CATEGORIES, OLDEST
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema

MOST = 40
"""No generated patient has more diagnoses."""


def schema(*, codes: Iterable[str] | None = None, group: bool = False) -> Schema:
    """All is quasi-identifying but subject_id, which identifies, and the planted group, which is plain.

    Without `codes` it describes generated patients, with all their domains declared. With `codes` it
    describes other patients: the codes hang in the tree of diagnoses, the categories' values are left open.
    """
    domains = _domains(facts()) if codes is None else dict.fromkeys(CATEGORIES)
    tree = icd9(codes=facts().codes if codes is None else codes)
    attributes: dict[str, Attribute] = {
        "subject_id": Category(role="identifier"),
        "age": Number(role="quasi", range=(0, OLDEST), integer=True),
        **{name: Category(role="quasi", values=domains[name]) for name in CATEGORIES},
        "diagnoses": ItemSet(role="quasi", taxonomy=tree, most=MOST if codes is None else None),
    }
    return Schema(attributes | ({"group": Category(values=facts().groups)} if group else {}))


def _domains(source: Facts) -> dict[str, tuple[str, ...] | None]:
    return {
        "gender": ("F", "M"),
        "insurance": source.insurance.values,
        "ethnicity": source.ethnicity.values,
        "marital_status": tuple(value for value in source.marital_status.values if value),
        "religion": source.religion.values,
        "admission_type": source.admission_type.values,
        "admission_location": source.location.values,
    }
