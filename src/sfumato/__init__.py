"""Publish a table of people so that nobody in it can be picked out and the groups in it can still be found.

`import sfumato as sf` costs nothing: a public name is looked up in the table below when it is first used,
and only then is its module imported. To add one: a line in `_NAMES` and an import for the type checker.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.data import datasets as datasets
    from sfumato.data.reading import read as read
    from sfumato.data.schema import Category as Category
    from sfumato.data.schema import ItemSet as ItemSet
    from sfumato.data.schema import Number as Number
    from sfumato.data.schema import Schema as Schema
    from sfumato.data.taxonomy.taxonomy import Taxonomy as Taxonomy
    from sfumato.errors import DatasetError as DatasetError
    from sfumato.errors import Infeasible as Infeasible
    from sfumato.errors import PolicyError as PolicyError
    from sfumato.errors import RecipeError as RecipeError
    from sfumato.errors import ReleaseError as ReleaseError
    from sfumato.errors import SchemaError as SchemaError
    from sfumato.errors import SfumatoError as SfumatoError
    from sfumato.errors import TableError as TableError
    from sfumato.errors import TaxonomyError as TaxonomyError
    from sfumato.estimators import Recoder as Recoder
    from sfumato.holders.lines import RemoteHolder as RemoteHolder
    from sfumato.holders.parts import publish_parts as publish_parts
    from sfumato.holders.parts import verify_parts as verify_parts
    from sfumato.holders.together import publish_together as publish_together
    from sfumato.maskers.centroids.fit import MDAV as MDAV
    from sfumato.maskers.centroids.fit import Linkage as Linkage
    from sfumato.maskers.centroids.fit import Microaggregate as Microaggregate
    from sfumato.maskers.centroids.fit import WFCMeans as WFCMeans
    from sfumato.maskers.genetic.fit import Genetic as Genetic
    from sfumato.maskers.geometric.masker import AddNoise as AddNoise
    from sfumato.maskers.geometric.masker import Hybrid as Hybrid
    from sfumato.maskers.geometric.masker import Rotate as Rotate
    from sfumato.maskers.geometric.masker import Scale as Scale
    from sfumato.maskers.geometric.masker import Translate as Translate
    from sfumato.maskers.histogram.dpheter import DPHeter as DPHeter
    from sfumato.maskers.histogram.fit import PrivateTree as PrivateTree
    from sfumato.maskers.mondrian.fit import Mondrian as Mondrian
    from sfumato.maskers.partition.fit import Partition as Partition
    from sfumato.maskers.topdown.masker import TopDown as TopDown
    from sfumato.people.door import load as load
    from sfumato.people.people import People as People
    from sfumato.privacy.budget import Budget as Budget
    from sfumato.privacy.budget import BudgetError as BudgetError
    from sfumato.privacy.ledger import Ledger as Ledger
    from sfumato.privacy.requirements import LKC as LKC
    from sfumato.privacy.requirements import AlphaK as AlphaK
    from sfumato.privacy.requirements import ConfidenceBound as ConfidenceBound
    from sfumato.privacy.requirements import KAnonymity as KAnonymity
    from sfumato.privacy.requirements import KMap as KMap
    from sfumato.privacy.requirements import LDiversity as LDiversity
    from sfumato.privacy.requirements import TCloseness as TCloseness
    from sfumato.privacy.verify import Verdict as Verdict
    from sfumato.privacy.verify import verify as verify
    from sfumato.publishing import Run as Run
    from sfumato.publishing import attack as attack
    from sfumato.publishing import evaluate as evaluate
    from sfumato.publishing import find_clusters as find_clusters
    from sfumato.publishing import publish as publish
    from sfumato.publishing.explanation import explain as explain
    from sfumato.randomness import Secure as Secure
    from sfumato.randomness import Seeded as Seeded
    from sfumato.recipe import Along as Along
    from sfumato.recipe import Earlier as Earlier
    from sfumato.recipe import Policy as Policy
    from sfumato.recipe import Recipe as Recipe
    from sfumato.recipe import draft as draft
    from sfumato.release.copies import recount as recount
    from sfumato.release.release import Release as Release
    from sfumato.structure.structures import Classes as Classes
    from sfumato.structure.structures import Clusters as Clusters
    from sfumato.sweeping.advice import advise as advise
    from sfumato.sweeping.sweep import sweep as sweep

    __version__: str

# A public name and the module that defines it.
_NAMES = {
    "Category": "sfumato.data.schema",
    "DatasetError": "sfumato.errors",
    "Infeasible": "sfumato.errors",
    "ItemSet": "sfumato.data.schema",
    "Number": "sfumato.data.schema",
    "RecipeError": "sfumato.errors",
    "ReleaseError": "sfumato.errors",
    "Schema": "sfumato.data.schema",
    "PolicyError": "sfumato.errors",
    "SchemaError": "sfumato.errors",
    "SfumatoError": "sfumato.errors",
    "TableError": "sfumato.errors",
    "Taxonomy": "sfumato.data.taxonomy.taxonomy",
    "TaxonomyError": "sfumato.errors",
    "Verdict": "sfumato.privacy.verify",
    "read": "sfumato.data.reading",
    "Recoder": "sfumato.estimators",
    "RemoteHolder": "sfumato.holders.lines",
    "publish_parts": "sfumato.holders.parts",
    "verify_parts": "sfumato.holders.parts",
    "publish_together": "sfumato.holders.together",
    "attack": "sfumato.publishing",
    "AddNoise": "sfumato.maskers.geometric.masker",
    "Hybrid": "sfumato.maskers.geometric.masker",
    "Rotate": "sfumato.maskers.geometric.masker",
    "Scale": "sfumato.maskers.geometric.masker",
    "Translate": "sfumato.maskers.geometric.masker",
    "Linkage": "sfumato.maskers.centroids.fit",
    "MDAV": "sfumato.maskers.centroids.fit",
    "WFCMeans": "sfumato.maskers.centroids.fit",
    "Microaggregate": "sfumato.maskers.centroids.fit",
    "Genetic": "sfumato.maskers.genetic.fit",
    "Mondrian": "sfumato.maskers.mondrian.fit",
    "Release": "sfumato.release.release",
    "Run": "sfumato.publishing",
    "evaluate": "sfumato.publishing",
    "explain": "sfumato.publishing.explanation",
    "find_clusters": "sfumato.publishing",
    "publish": "sfumato.publishing",
    "recount": "sfumato.release.copies",
    "Classes": "sfumato.structure.structures",
    "Clusters": "sfumato.structure.structures",
    "Secure": "sfumato.randomness",
    "Seeded": "sfumato.randomness",
    "Along": "sfumato.recipe",
    "Earlier": "sfumato.recipe",
    "Policy": "sfumato.recipe",
    "Recipe": "sfumato.recipe",
    "draft": "sfumato.recipe",
    "Partition": "sfumato.maskers.partition.fit",
    "TopDown": "sfumato.maskers.topdown.masker",
    "KAnonymity": "sfumato.privacy.requirements",
    "LKC": "sfumato.privacy.requirements",
    "AlphaK": "sfumato.privacy.requirements",
    "ConfidenceBound": "sfumato.privacy.requirements",
    "KMap": "sfumato.privacy.requirements",
    "LDiversity": "sfumato.privacy.requirements",
    "TCloseness": "sfumato.privacy.requirements",
    "DPHeter": "sfumato.maskers.histogram.dpheter",
    "PrivateTree": "sfumato.maskers.histogram.fit",
    "Budget": "sfumato.privacy.budget",
    "BudgetError": "sfumato.privacy.budget",
    "Ledger": "sfumato.privacy.ledger",
    "advise": "sfumato.sweeping.advice",
    "sweep": "sfumato.sweeping.sweep",
    "People": "sfumato.people.people",
    "load": "sfumato.people.door",
    "verify": "sfumato.privacy.verify",
}
# A public name that is a module.
_MODULES = {
    "datasets": "sfumato.data.datasets",
}

__all__ = ["__version__", *_MODULES, *_NAMES]


def __getattr__(name: str) -> object:
    if name == "__version__":
        found: object = import_module("importlib.metadata").version("sfumato")
    elif name in _MODULES:
        found = import_module(_MODULES[name])
    elif name in _NAMES:
        found = getattr(import_module(_NAMES[name]), name)
    else:
        near = import_module("difflib").get_close_matches(name, __all__, n=1)
        hint = f". Did you mean {near[0]!r}?" if near and not name.startswith("__") else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
