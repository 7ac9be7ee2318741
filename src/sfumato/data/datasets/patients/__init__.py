"""Patients in the shape of MIMIC-III: generated tables, and real ones where a user has them.

`generate` draws the three tables, `read_tables` reads them from a folder, `join` makes one row per patient of
them, and `read` is the last two at once.
"""

from __future__ import annotations

from sfumato.data.datasets.patients.drawing import ROWS, generate, group_names, schema
from sfumato.data.datasets.patients.tables import PatientTables, join, known_codes, read, read_tables

__all__ = [
    "ROWS",
    "PatientTables",
    "generate",
    "group_names",
    "join",
    "known_codes",
    "read",
    "read_tables",
    "schema",
]
