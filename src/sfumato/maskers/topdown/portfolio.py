"""Portfolio: the search is fast, so run it several ways and keep what preserves the structure best.

PAPERS.md, 002-17: one tiny group blocks a whole refinement, and no single score gets around it on every table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Literal

import numpy as np

from sfumato.data.groups import group_numbers
from sfumato.maskers.masker import Columns, Labels, Task, codes_of
from sfumato.maskers.topdown.fit import Fitted, TopDown, fit_task

SCORES = ("tradeoff", "total_gain", "infogain")
SPLITS: tuple[Literal["best", "best_valid"], ...] = ("best", "best_valid")


def variants(settings: TopDown) -> Iterator[TopDown]:
    """Ways to search: the settings themselves first, so that the result is never worse than theirs.

    Records are lifted only if the settings allow it, by up to their share.

    >>> [(v.score, v.split, v.suppress) for v in variants(TopDown(score="infogain", search="portfolio"))][:3]
    [('infogain', 'best', 0.0), ('tradeoff', 'best', 0.0), ('total_gain', 'best', 0.0)]
    """
    first = replace(settings, search="greedy", seconds=None)
    yield first
    shares = (0.0, settings.suppress) if settings.suppress else (0.0,)
    for split, share, score in product(SPLITS, shares, SCORES):
        other = replace(first, score=score, split=split, suppress=share)
        if other != first:
            yield other


def best_of(task: Task, settings: TopDown) -> Fitted:
    """The variant whose masked table keeps the structure best, of those tried within the time; the first on a tie."""
    began = time.monotonic()
    best: tuple[float, Fitted] | None = None
    for variant in variants(settings):
        if best is not None and (_late(settings, began) or task.asked_to_stop()):
            break
        fitted = fit_task(task, variant)
        columns = fitted.columns(task.table)
        worth = purity(columns, task.labels) if task.objective is None else task.objective(columns)
        if best is None or worth > best[0]:
            best = (worth, fitted)
    if best is None:
        raise AssertionError("the settings themselves are always tried")
    return best[1]


def _late(settings: TopDown, began: float) -> bool:
    return settings.seconds is not None and time.monotonic() - began >= settings.seconds


def purity(columns: Columns, labels: Labels) -> float:
    """The share of records whose class is the most frequent one among the records masked alike."""
    codes = [codes_of(column) for column in columns.values()]
    groups = group_numbers(codes, len(labels.classes))
    held = np.bincount(groups * labels.n + labels.classes, minlength=(int(groups.max()) + 1) * labels.n)
    return float(held.reshape(-1, labels.n).max(axis=1).sum() / len(labels.classes))
