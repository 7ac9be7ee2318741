"""What paper 000 says in numbers, to stand beside ours. Levels are only drawn there, so ranges must do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Case = tuple[str, str]
"""Table and clusterer."""

TABLE_7 = (
    (12655, 0, 0, 0, 13, 1),
    (0, 6198, 0, 0, 19, 22),
    (0, 0, 6513, 0, 0, 59),
    (0, 0, 0, 4239, 386, 0),
    (0, 0, 0, 3846, 3171, 0),
    (0, 0, 0, 0, 0, 8100),
)


@dataclass(frozen=True)
class Told:
    """Benefit over distortion as the text gives it, and the p-values for 2, 6 and 10 clusters."""

    benefit: str
    p: tuple[float | None, float | None, float | None]


F: Mapping[Case, Told] = {
    ("adult", "kmeans"): Told("24 to 125 %", (5.02e-7, 8.97e-25, 6.14e-14)),
    ("adult", "bisecting"): Told("34 to 66 %", (7.44e-14, 2.55e-6, 4.72e-7)),
    ("crx", "kmeans"): Told("40 to 155 %", (2.24e-26, 4.67e-17, 1.40e-10)),
    ("crx", "bisecting"): Told("0, 45, 57 %", (None, 4.25e-9, 1.11e-10)),
}
MATCH_POINT: Mapping[Case, Told] = {
    ("adult", "kmeans"): Told("28 to 85 %", (7.94e-8, 3.72e-22, 1.67e-10)),
    ("adult", "bisecting"): Told("5 to 32 %", (5.71e-34, 4.24e-5, 1.07e-8)),
    ("crx", "kmeans"): Told("9 to 60 %", (1.67e-16, 8.50e-14, 1.81e-6)),
    ("crx", "bisecting"): Told("-, 13, 8 %", (None, 1.04e-9, 1.06e-11)),
}
COST: Mapping[str, str] = {
    "adult": "F 2 to 20 % at 2 and 6 clusters, 33 % at 10 (bisecting); match point 9 to 23 %",
    "crx": "F 0 to 23 % at 2 and 6 clusters, 30 % at 10 (k-means); match point 0 to 20 %",
}
MULTI: Mapping[Case, tuple[float, float, float]] = {
    ("adult", "kmeans"): (4.20e-6, 9.27e-6, 2.27e-5),
    ("adult", "bisecting"): (2.05e-9, 2.49e-9, 6.94e-8),
    ("crx", "kmeans"): (2.12e-9, 6.25e-6, 3.12e-3),
    ("crx", "bisecting"): (1.03e-12, 2.49e-12, 1.42e-12),
}
"""p-values at h = 20, 50, 80, of F."""
