"""Every claim by its definition, in plain Python, for tests to hold verify against."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog

Row = Mapping[str, Any]
Ground = Callable[[Any, Any], float]


def groups(rows: Sequence[Row], on: Sequence[str], sensitive: str) -> list[Counter[Any]]:
    """How often each sensitive value stands in each group."""
    found: dict[tuple[Any, ...], Counter[Any]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in on), Counter())[row[sensitive]] += 1
    return list(found.values())


def entropy(counts: Counter[Any]) -> float:
    return -sum(n / counts.total() * math.log(n / counts.total()) for n in counts.values())


def ratio(counts: Counter[Any], l: int) -> float:  # noqa: E741
    """r1 / (r_l + ...): infinite where there are fewer than l values."""
    falling = sorted(counts.values(), reverse=True)
    return math.inf if len(falling) < l else float(Fraction(falling[0], sum(falling[l - 1 :])))


def largest(counts: Counter[Any], value: Any = None) -> float:
    """The share of a value, or of the most frequent one."""
    return (max(counts.values()) if value is None else counts[value]) / counts.total()


def moved(p: Counter[Any], q: Counter[Any], ground: Ground) -> float:
    """The earth mover's distance as what it is: the cheapest flow."""
    values = sorted(q, key=str)
    cost = [ground(a, b) for a in values for b in values]
    n, rows = len(values), []
    for at in range(n):
        rows.append([float(cell // n == at) for cell in range(n * n)])
        rows.append([float(cell % n == at) for cell in range(n * n)])
    sums = [part for v in values for part in (p[v] / p.total(), q[v] / q.total())]
    return float(linprog(cost, A_eq=np.array(rows), b_eq=sums).fun or 0)


def by_rank(values: Sequence[Any], order: Sequence[Any]) -> Ground:
    """How many ranks apart, as a share of all; ranks are those of the values that occur."""
    place = {value: at for at, value in enumerate(value for value in order if value in values)}
    return lambda a, b: abs(place[a] - place[b]) / max(1, len(place) - 1)


def by_tree(tree: Mapping[str, Any]) -> Ground:
    """The height of the lowest common label, as a share of the tree's."""
    ways: dict[str, list[str]] = {}
    heights: dict[str, int] = {}

    def walk(label: str, under: Any, above: list[str]) -> int:
        branches = dict.fromkeys(under) if isinstance(under, list) else under or {}
        below = [walk(child, part, [label, *above]) for child, part in branches.items()]
        ways[label], heights[label] = above, 1 + max(below) if below else 0
        return heights[label]

    ((root, under),) = tree.items()
    walk(root, under, [])
    return lambda a, b: 0.0 if a == b else heights[next(x for x in ways[a] if x in ways[b])] / heights[root]


def by_bare_tree(tree: Mapping[str, Any]) -> Ground:
    """The same of a tree whose labels have heights and no names."""
    ways: dict[str, list[tuple[int, int]]] = {}

    def walk(node: Any, above: list[tuple[int, int]]) -> None:
        if isinstance(node, str):
            ways[node] = above
        else:
            for part in node["below"]:
                walk(part, [(id(node), node["height"]), *above])

    walk(tree, [])
    return lambda a, b: 0.0 if a == b else next(x for x in ways[a] if x in ways[b])[1] / tree["height"]


def closeness(rows: Sequence[Row], claim: Mapping[str, Any]) -> float:
    """The largest distance of a group from the table."""
    sensitive = claim["sensitive"]
    table = Counter(row[sensitive] for row in rows)
    grounds: dict[str, Callable[[], Ground]] = {
        "equal": lambda: lambda a, b: float(a != b),
        "ordered": lambda: by_rank(list(table), claim.get("order") or sorted(table)),
        "hierarchical": lambda: by_bare_tree(claim["tree"]),
    }
    ground = grounds[claim["distance"]]()
    return max(moved(group, table, ground) for group in groups(rows, claim["on"], sensitive))


def _diverse(claim: Mapping[str, Any], found: Sequence[Counter[Any]]) -> bool:
    least = int(claim["l"])
    if claim["kind"] == "distinct":
        return min(len(group) for group in found) >= least
    if claim["kind"] == "entropy":
        return min(entropy(group) for group in found) >= math.log(least) - 1e-9
    return max(ratio(group, least) for group in found) < float(claim["c"])


def true(claim: Mapping[str, Any], rows: Sequence[Row]) -> bool:
    """Whether a claim is true of these rows."""
    kind, value = claim["claim"], claim.get("value")
    found = groups(rows, claim["on"], claim.get("sensitive", claim["on"][0]))
    smallest = min(group.total() for group in found)
    if kind == "l_diversity":
        return _diverse(claim, found)
    if kind == "t_closeness":
        return closeness(rows, claim) <= float(claim["t"]) + 1e-6
    if kind == "lkc":
        parts = [g for on in combinations(claim["on"], claim["l"]) for g in groups(rows, on, claim["sensitive"])]
        return all(group.total() >= claim["k"] and largest(group, value) <= claim["c"] for group in parts)
    shares = {"confidence_bound": "h", "alpha_k": "alpha"}
    if kind in shares and max(largest(group, value) for group in found) > claim[shares[kind]]:
        return False
    return bool(smallest >= claim.get("k", 1))
