"""A raw label that is written as something else is shown: maskers that could not tell them apart refuse the table."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.errors import TableError
from sfumato.maskers.masker import Masker
from sfumato.maskers.partition.extents import Along, Extent, Labels
from sfumato.maskers.partition.mask import Among, Leaf, RegionTree, Tree

SCHEMA = sf.Schema(age=sf.Number(role="quasi", range=(0, 99)), town=sf.Category(role="quasi"))


def published(labels: list[str | None], mask: Masker, schema: sf.Schema = SCHEMA) -> sf.Release:
    import pyarrow as pa

    table = pa.table({"age": [n % 90 for n in range(80)], "town": [labels[n % len(labels)] for n in range(80)]})
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(("age", "town"), 5)], mask=mask)
    return sf.publish(table, recipe, run=sf.Run(report=False, trial=True))


@pytest.mark.parametrize("mask", [sf.Partition(), sf.MDAV(), sf.Microaggregate(), sf.WFCMeans()])
def test_a_label_that_is_a_star_is_refused(mask: Masker) -> None:
    with pytest.raises(TableError, match="town: what is shown can be told apart"):
        published(["*", "Ghent", "Lima"], mask)


def test_where_a_star_stands_for_nothing_else_it_is_a_label() -> None:
    assert published(["*", "Ghent"], sf.MDAV(categories="mode")).verdict.holds
    gone = sf.Schema(age=SCHEMA["age"], town=sf.Category(role="quasi", missing=("*",)))
    assert published(["*", "Ghent", "Lima"], sf.MDAV(), gone).verdict.holds


def parts(*shown: Extent) -> RegionTree:
    cut = Among("town", (("Ghent",), ("Lima",)), (1, 2))
    tree = Tree(("town",), (cut, *(Leaf({"town": extent}) for extent in shown)))
    return RegionTree({"town": Along("labels")}, (tree,))


def test_no_masker_can_make_parts_that_look_alike() -> None:
    assert parts(Labels(("Ghent",)), Labels(("Lima", "Oslo"))).files()
    for one, other in (("*", "Lima"), ("{Lima, Oslo}", "Lima")):
        with pytest.raises(TableError, match="told apart"):
            parts(Labels((one,)), Labels((other, "Oslo")))
