"""Forgeries of a codebook that tells of groups, and of the places that follow from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.forgeries import forgery
from tests.forgeries.explanations import RAW, Form, change, put, reversed_keys


def _columns(folder: Path, how: Callable[[Form], object]) -> None:
    change(folder, "codebook.json", lambda form: how(form["columns"]))


def _some_shares(entries: list[Any], least: int = 2) -> Form:
    """The first group of which so many shares are told."""
    found: Form = next(entry for entry in entries if entry is not None and len(entry) >= least)
    return found


@forgery("raw numbers as means of further groups", of="groups")
def further_groups(folder: Path) -> None:
    _columns(folder, lambda columns: columns["age"].extend([36.0, 41.0]))


@forgery("raw numbers as further groups that are counted", of="groups")
def counted_groups(folder: Path) -> None:
    def other(form: Form) -> None:
        form["groups"] += 1
        for entries in form["columns"].values():
            entries.append(None)
        form["columns"]["age"][-1] = 36.0

    change(folder, "codebook.json", other)


@forgery("a group that is missing", of="groups")
def missing_group(folder: Path) -> None:
    def other(form: Form) -> None:
        form["groups"] -= 1
        for entries in form["columns"].values():
            entries.pop()

    change(folder, "codebook.json", other)


@forgery("raw rows beside the groups", of="groups")
def beside_groups(folder: Path) -> None:
    change(folder, "codebook.json", lambda form: form.update(people=[RAW]))


@forgery("a mean of a group outside its interval", of="groups")
def group_outside(folder: Path) -> None:
    _columns(folder, lambda columns: columns["age"].reverse())


@forgery("a mean of a group with digits that say something", of="groups")
def group_digits(folder: Path) -> None:
    def other(columns: Form) -> None:
        columns["age"][1] = round(columns["age"][1] + 0.0036, 4)

    _columns(folder, other)


@forgery("a group with a share of a label that it does not stand for", of="groups")
def stranger_in_group(folder: Path) -> None:
    def other(columns: Form) -> None:
        spread = _some_shares(columns["country"])
        put(spread, {"Ada": 0.5, **dict.fromkeys([list(spread)[-1]], 0.5)})

    _columns(folder, other)


@forgery("a group with a share of fewer records than k", of="groups")
def few_in_group(folder: Path) -> None:
    def other(columns: Form) -> None:
        spread = _some_shares(columns["education"])
        name, last = next(iter(spread)), list(spread)[-1]
        spread.update({last: round(spread[last] + spread[name] - 0.05, 4), name: 0.05})

    _columns(folder, other)


@forgery("shares of a group in another order", of="groups")
def group_shares_reversed(folder: Path) -> None:
    def other(columns: Form) -> None:
        spread = _some_shares(columns["education"])
        put(spread, reversed_keys(spread))

    _columns(folder, other)


@forgery("shares of a group that do not add up", of="groups")
def group_shares_too_many(folder: Path) -> None:
    def other(columns: Form) -> None:
        spread = _some_shares(columns["education"])
        spread[next(iter(spread))] = 0.3601

    _columns(folder, other)


@forgery("groups without anything told, a bit each", of="groups")
def empty_groups(folder: Path) -> None:
    _columns(folder, lambda columns: columns.update(country=[None] * len(columns["age"])))


@forgery("a scale of means that reaches to somebody's age", of="groups")
def scale_of_somebody(folder: Path) -> None:
    change(folder, "centres.json", lambda form: form["attributes"]["age"].update(high=87.36))


@forgery("a raw label in the book of a column of groups", of="groups")
def raw_label_in_book(folder: Path) -> None:
    def other(form: Form) -> None:
        labels = form["attributes"]["country"]["labels"]
        put(labels, {"Ada, 36, PhD": next(iter(labels.values())), **labels})

    change(folder, "centres.json", other)
