"""A raw label that is written as something else is shown: maskers that could not tell them apart refuse the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import TableError
from sfumato.maskers.masker import Masker
from sfumato.maskers.partition.extents import Along, Extent, Labels
from sfumato.maskers.partition.mask import RegionTree
from sfumato.maskers.partition.tree import Among, Leaf, Tree
from sfumato.privacy.verify.explained.extents import texts
from sfumato.privacy.verify.spelling import NOW

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


def test_a_label_may_end_in_the_words_that_say_missing(tmp_path: Path) -> None:
    """A set with missing values has braces, one label with them too: so a label without them is a label."""
    labels = ["Ghent", "Ghent or missing", None, "Lima"]
    release = published(labels, sf.Partition())
    assert release.verdict.holds
    told = {text: entry for text, entry in shown_towns(release.write(tmp_path / "out")).items() if "missing" in text}
    assert told, "some text of them is shown"
    assert all((None in entry) == text.endswith("} or missing") for text, entry in told.items())


def shown_towns(release: Path) -> dict[str, list[object]]:
    """The texts that partition.json tells of, as verify writes them, with what they stand for."""
    form = json.loads((release / "partition.json").read_text(encoding="utf-8"))
    return texts(form["attributes"]["town"], spelling=NOW)


def test_a_label_that_is_written_as_a_set_stands_in_quotation_marks() -> None:
    both = Labels(("Ghent or missing",)), Labels(("Ghent",), missing=True)
    assert [Along("labels").text(one) for one in both] == ["Ghent or missing", "{Ghent} or missing"]
    assert parts(*both).files()
    alike = Labels(("{Ghent} or missing",)), Labels(("Ghent",), missing=True)
    assert [Along("labels").text(one) for one in alike] == ['{"{Ghent} or missing"}', "{Ghent} or missing"]
    assert parts(*alike).files()


def test_no_masker_can_make_parts_that_look_alike() -> None:
    assert parts(Labels(("Ghent",)), Labels(("Lima", "Oslo"))).files()
    assert parts(Labels(("{Lima, Oslo}",)), Labels(("Lima", "Oslo"))).files()
    with pytest.raises(TableError, match="told apart"):
        parts(Labels(("*",)), Labels(("Lima", "Oslo")))
