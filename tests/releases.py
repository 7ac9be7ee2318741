"""Small releases of every kind, published as users do: for tests that damage them or read their certificates."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

import sfumato as sf
from sfumato.maskers.registry import masker_named
from sfumato.privacy.requirements import LKC, AlphaK, ConfidenceBound, KAnonymity, LDiversity, TCloseness
from sfumato.publishing import Run
from sfumato.release.signing import load_key, make_key, sign_release

SCHOOLS: dict[str, Any] = {
    "ANY": {"Secondary": ["9th", "10th"], "University": {"Bachelors": None, "Graduate": ["Masters", "PhD"]}}
}
ILLS: dict[str, Any] = {"ANY": {"lungs": ["flu", "cough"], "other": ["rash", "fever"]}}
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(17, 90)),
    education=sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree(SCHOOLS)),
    country=sf.Category(role="quasi"),
    disease=sf.Category(role="sensitive", taxonomy=sf.Taxonomy.from_tree(ILLS)),
    hours=sf.Number(role="plain", range=(0, 80)),
)
NUMBERS = sf.Schema(
    age=sf.Number(role="quasi", range=(17, 90)),
    wage=sf.Number(role="quasi", range=(0, 100)),
    disease=sf.Category(role="sensitive", values=("flu", "cough", "rash", "fever")),
)
ON, TWO = ("age", "education", "country"), ("age", "education")


def people(rows: int = 200) -> pa.Table:
    """People with a disease, which is not much related to anything."""
    chance = random.Random(7)
    return pa.Table.from_pylist(
        [
            {
                "age": chance.randint(17, 90),
                "education": chance.choice(["9th", "10th", "Bachelors", "Masters", "PhD"]),
                "country": chance.choice(["Mexico", "Mexico", "Peru", "Chile", None]),
                "disease": chance.choice(["flu", "cough", "rash", "fever"]),
                "hours": chance.choice([20, 35, 40]),
                "wage": chance.randint(0, 100),
            }
            for _ in range(rows)
        ]
    )


NUMBERS_ALONE = ("translate", "scale", "rotate", "hybrid", "add_noise")
"""Maskers that take no categories."""
REQUIREMENTS: Mapping[str, tuple[Any, ...]] = {
    "k_anonymity": (KAnonymity(ON, 4), KAnonymity(TWO, 9), KAnonymity(("age",), 3)),
    "l_diversity": (LDiversity(ON, "disease", 2), LDiversity(TWO, "disease", 2, "entropy")),
    "recursive": (LDiversity(ON, "disease", 2, "recursive", 3), KAnonymity(TWO, 5)),
    "shares": (ConfidenceBound(ON, "disease", 0.6), AlphaK(TWO, "disease", 0.5, 5, "flu")),
    "lkc": (LKC(ON, "disease", 2, 5, 0.7),),
    "equal": (TCloseness(ON, "disease", 0.5), KAnonymity(ON, 3)),
    "ordered": (TCloseness(ON, "disease", 0.4, "ordered", ["flu", "cough", "rash", "fever"]),),
    "hierarchical": (TCloseness(ON, "disease", 0.4, "hierarchical"), KAnonymity(TWO, 3)),
}


SIGNED, BESIDE, IN_POPULATION, LABELS = "signed", "earlier", "k_map", "partition by labels"
POLICIES = "policies"


OWN = {
    "sfumato_policy": 1,
    "name": "ours",
    "title": "What we ask",
    "rule": "Groups of ten whose order tells nothing, and every sensitive column bounded.",
    "source": "we",
    "checks": [
        {"check": "least_group", "records": 10, "rule": "Ten.", "source": "we"},
        {"check": "shuffled", "rule": "No order.", "source": "we"},
        {"check": "bounded", "rule": "Nothing is told of groups.", "source": "we"},
    ],
    "attest": [{"name": "seen", "text": "Somebody has seen it.", "source": "we"}],
}


@cache
def _desk() -> TemporaryDirectory[str]:
    """Two keys, and everybody whom a record may be about."""
    found = TemporaryDirectory()
    for name in ("key", "stranger"):
        make_key(Path(found.name) / name)
    pc.write_csv(people(700).select(list(ON)), Path(found.name) / "population.csv")
    return found


def on_desk(name: str) -> Path:
    """A key, its public half, or the population."""
    return Path(_desk().name) / name


def given_with(kind: str) -> dict[str, Any]:
    """What verify is given besides a release of this kind."""
    given: dict[str, dict[str, Any]] = {
        SIGNED: {"key": on_desk("key.pub")},
        BESIDE: {"others": [untouched("k_anonymity")]},
        IN_POPULATION: {"population": on_desk("population.csv")},
    }
    return given.get(kind, {})


def recipe(kind: str) -> sf.Recipe:
    """A recipe for top-down refinement with these requirements, or for another masker."""
    structure = sf.Clusters("kmeans", k=2, n_init=1)
    if kind == SIGNED:
        return recipe("k_anonymity")
    if kind == BESIDE:
        earlier = sf.Earlier(releases=(str(untouched("k_anonymity")),), people="same")
        return replace(recipe("k_anonymity"), earlier=earlier)
    if kind == IN_POPULATION:
        asked = sf.KMap(ON, 9, population=on_desk("population.csv"))
        return sf.Recipe(schema=SCHEMA, structure=structure, mask=sf.TopDown(), privacy=[asked])
    if kind == POLICIES:
        return _under_policies(structure)
    if kind in ("groups", "values"):
        close = [TCloseness(ON, "disease", 0.15)] if kind == "groups" else []  # so that groups are larger than k
        along = sf.Along(codebook="groups" if kind == "groups" else "values")
        return sf.Recipe(
            schema=SCHEMA, structure=structure, mask=sf.Mondrian(), privacy=[KAnonymity(ON, 4), *close], release=along
        )
    if kind == LABELS:
        close = [TCloseness(ON, "disease", 0.15)]  # so that groups are larger than k, and show labels above others
        mask = sf.Partition(show="labels")
        return sf.Recipe(schema=SCHEMA, structure=structure, mask=mask, privacy=[KAnonymity(ON, 4), *close])
    if kind in REQUIREMENTS or kind == "csv":
        needed = REQUIREMENTS.get(kind, REQUIREMENTS["shares"])
        return sf.Recipe(schema=SCHEMA, structure=structure, mask=sf.TopDown(), privacy=needed)
    made = masker_named(kind)(**({"generations": 3} if kind == "genetic" else {}))
    schema = NUMBERS if kind in NUMBERS_ALONE or made.guarantee.spends else SCHEMA
    needs: tuple[Any, ...] = (KAnonymity(schema.quasi, 4),) if made.guarantee.name == "k_anonymity" else ()
    return sf.Recipe(
        schema=schema,
        structure=structure,
        mask=made,
        privacy=needs,
        i_understand="no_guarantee" if made.guarantee.name == "none" else None,
        budget=sf.Budget(1) if made.guarantee.name == "differential_privacy" else None,
    )


def _under_policies(structure: sf.Clusters) -> sf.Recipe:
    asked = [sf.Policy("cell-size-11"), sf.Policy("hipaa-safe-harbor"), sf.Policy(OWN)]  # type: ignore[arg-type]
    needs: tuple[Any, ...] = (KAnonymity(ON, 11), LDiversity(ON, "disease", 2))
    return sf.Recipe(
        schema=SCHEMA,
        structure=structure,
        mask=sf.TopDown(),
        privacy=needs,
        policies=asked,
        attest={one.name: "A. Muster" for policy in asked for one in policy.definition.attest},
    )


@cache
def _made(kind: str) -> sf.Release:
    found = recipe(kind)
    table = people().select(list(found.schema))
    made = sf.publish(table, found, run=Run(report=False, format="csv" if kind == "csv" else "parquet"))
    if kind == SIGNED:
        sign_release(Path(made.scratch.name) / "release", load_key(on_desk("key")))
    return made


def untouched(kind: str) -> Path:
    """The release of this kind that all others are copies of."""
    return Path(_made(kind).scratch.name) / "release"


def release_of(kind: str, folder: Path) -> Path:
    """A release of this kind in a new folder."""
    shutil.copytree(untouched(kind), folder)
    return folder
