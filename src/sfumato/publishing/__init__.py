"""Runs: rows of steps from a raw table to a verified release, and shorter rows that measure or explain one."""

from sfumato.publishing.case import Run
from sfumato.publishing.orders import attack, evaluate, explain, find_clusters, publish

__all__ = ["Run", "attack", "evaluate", "explain", "find_clusters", "publish"]
