"""Tables and taxonomies to try things on: `load("adult")`, `taxonomy("education")`, `blow_up`, `patients`.

Sources, licences and citations are in SOURCES.md beside this file.
"""

from __future__ import annotations

from sfumato.data.datasets import patients, schemas
from sfumato.data.datasets.loading import Dataset, blow_up, load, names
from sfumato.data.datasets.trees import TAXONOMIES, taxonomy

__all__ = ["TAXONOMIES", "Dataset", "blow_up", "load", "names", "patients", "schemas", "taxonomy"]
