"""What a certificate says of a release under differential privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from sfumato.privacy.budget import UNIT, Event
from sfumato.privacy.mechanisms import Mechanisms

NOT_PRIVATE = "NOT PRIVATE"
GROUNDS = (
    "Differential privacy is a property of how the table was made and cannot be recounted from it. verify checks that "
    "the recorded uses of the data add up to epsilon exactly, that every value lies in its declared domain and that "
    "the file holds nothing else; that the recorded uses are all there were rests on the program that made it."
)
NOT_CLAIMED = (
    "What is true of people in general may be learned from the table, and with it something about a person whose "
    "record was not used at all.",
    "A person with several records is protected for each record; of all of them together epsilon grows in proportion.",
    "Other releases of the same people cost their own epsilon, which adds up.",
    "Choosing this release after comparing others with the raw data is not covered by epsilon.",
)


@dataclass(frozen=True)
class Differential:
    """Epsilon and the events it went to. `private`: the noise came from a secure generator."""

    epsilon: Fraction
    events: Sequence[Event]
    private: bool

    @classmethod
    def of(cls, mechanisms: Mechanisms) -> Differential:
        """What a run spent."""
        spending = mechanisms.spending
        return cls(spending.budget.epsilon, spending.events, mechanisms.noise.private)

    def statement(self) -> str:
        """What is promised, in a paragraph a lawyer can read."""
        odds = _odds(float(self.epsilon))
        text = (
            f"The rows of this table are not records of people: they were generated from counts to which random noise "
            f"was added, and from nothing else. The way they were made is differentially private with epsilon = "
            f"{self.epsilon}; the unit of privacy is {UNIT}. Whatever anybody could conclude about a person from this "
            f"table, or do to a person because of it, would have been almost as likely had that person's record not "
            f"been used: its probability differs by a factor of at most {odds}. That holds whatever else is known "
            f"about the person, now or later, and whatever is done with the table."
        )
        if self.private:
            return text
        return f"{NOT_PRIVATE}: the noise repeats from a seed, so nothing is promised. Otherwise it would read: {text}"

    def to_json(self) -> dict[str, Any]:
        """The certificate's part of its own."""
        return {
            "epsilon": str(self.epsilon),
            "delta": "0",
            "unit": UNIT,
            "private": self.private,
            **({} if self.private else {"warning": NOT_PRIVATE}),
            "events": [event.to_json() for event in self.events],
        }


def _odds(epsilon: float) -> str:
    """e to the epsilon with three digits, rounded up.

    >>> _odds(1.0), _odds(0.1)
    ('2.72', '1.11')
    """
    if epsilon > 50:
        return "more than anybody would call a limit"
    factor = math.exp(epsilon)
    unit = 10.0 ** (math.floor(math.log10(factor)) - 2)
    return f"{math.ceil(factor / unit) * unit:.3g}"


def deployment(found: Differential, *, mask: str, columns: Mapping[str, str], created: str) -> dict[str, Any]:
    """The fields of OpenDP's deployments registry, as far as the program knows them; the curator adds the others."""
    uses = "; ".join(f"{event.mechanism} for {event.purpose}: {event.epsilon}" for event in found.events)
    return {
        "basic": {
            "name": None,
            "data_curators": None,
            "description": f"A table generated from noisy counts ({mask}), for cluster analysis.",
            "intended_use": None,
            "data_product_type": "Synthetic data",
            "data_product_region": None,
            "data_product_sector": None,
            "publication_date": created[:10],
        },
        "dp_variant": {
            "variant_name": "Pure DP" if found.private else NOT_PRIVATE,
            "data_domain": "; ".join(f"{name}: {kind}" for name, kind in columns.items()),
            "unprotected_quantities": "declared domains and settings, which are public",
        },
        "privacy_loss": {
            "privacy_unit": "Record-level",
            "privacy_unit_details": UNIT,
            "privacy_parameters": {"epsilon": float(found.epsilon), "delta": 0},
            "privacy_parameters_details": f"epsilon = {found.epsilon} exactly: {uses}",
        },
        "deployment_model": {
            "model_name": "Central",
            "actors": "the holder of the table, who runs the program and releases its output",
            "release_type": "One release",
            "release_type_details": "one generated table; further releases of the same people add their own epsilon",
            "access_type": "Non-interactive",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": "numbers in equal bins of their declared ranges",
            "mechanisms": ", ".join(dict.fromkeys(event.mechanism for event in found.events)),
            "composition": "sequential over the events; within a parallel event disjoint parts of the records",
            "post_processing": "counts made consistent and not negative, rows drawn from them",
            "libraries": {name: version(name) for name in ("opendp", "sfumato")},
            "justification": None,
        },
        "administrative": {"evidence_sources": None, "status": None, "registry_authors": None, "tier": None},
    }
