"""The fields of OpenDP's registry of deployments, made from the rest of a certificate and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.privacy.verify.differential import NOT_PRIVATE, UNIT
from sfumato.privacy.verify.fields import Form
from sfumato.privacy.verify.wording import quoted

LIBRARIES = ("opendp", "sfumato")


@dataclass(frozen=True)
class Deployed:
    """What the registry's fields are made of. `events` as they stand in the certificate, `columns` with their kinds."""

    epsilon: Fraction
    private: bool
    events: Sequence[Form]
    mask: str
    columns: Mapping[str, str]
    created: str
    versions: Mapping[str, str]


def deployment(of: Deployed) -> dict[str, object]:
    """As far as the program knows them; the curator adds the others."""
    uses = "; ".join(f"{event['mechanism']} for {event['purpose']}: {event['epsilon']}" for event in of.events)
    return {
        "basic": {
            "name": None,
            "data_curators": None,
            "description": f"A table generated from noisy counts ({of.mask}), for cluster analysis.",
            "intended_use": None,
            "data_product_type": "Synthetic data",
            "data_product_region": None,
            "data_product_sector": None,
            "publication_date": of.created[:10],
        },
        "dp_variant": {
            "variant_name": "Pure DP" if of.private else NOT_PRIVATE,
            "data_domain": "; ".join(f"{quoted(name)}: {kind}" for name, kind in of.columns.items()),
            "unprotected_quantities": "declared domains and settings, which are public",
        },
        "privacy_loss": {
            "privacy_unit": "Record-level",
            "privacy_unit_details": UNIT,
            "privacy_parameters": {"epsilon": float(of.epsilon), "delta": 0},
            "privacy_parameters_details": f"epsilon = {of.epsilon} exactly: {uses}",
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
            "mechanisms": ", ".join(dict.fromkeys(str(event["mechanism"]) for event in of.events)),
            "composition": "sequential over the events; within a parallel event disjoint parts of the records",
            "post_processing": "counts made consistent and not negative, rows drawn from them",
            "libraries": {name: of.versions[name] for name in LIBRARIES},
            "justification": None,
        },
        "administrative": {"evidence_sources": None, "status": None, "registry_authors": None, "tier": None},
    }
