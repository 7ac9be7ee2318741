"""What commands of the papers do to their pages, and the clusterer that stands in Chameleon's place."""

from __future__ import annotations

import numpy as np
from benchmarks.papers.gdtm import into_page
from benchmarks.papers.gdtm_graph import by_graph

from sfumato.evaluation.clusters import misclassification


def test_a_table_goes_in_the_place_of_its_own_title() -> None:
    page = "# head\n\n### one\n\n| 1 |\n\n### Table 2: Sec\n\n| s |\n"
    once = into_page(page, "### graph\n\n| 7 |\n", "### Table 2: Sec")
    assert once == "# head\n\n### one\n\n| 1 |\n\n### graph\n\n| 7 |\n\n### Table 2: Sec\n\n| s |\n"
    assert into_page(once, "### graph\n\n| 8 |\n", "### Table 2: Sec") == once.replace("7", "8")


def test_merging_along_a_graph_of_neighbours_finds_groups_and_follows_a_rotation() -> None:
    random = np.random.default_rng(1)
    true = np.repeat([0, 1, 2], 60)
    points = np.array([(0, 0), (9, 1), (3, 8)])[true] + random.normal(0, 1, (180, 2))
    turned = points @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    found = by_graph(points * (1, 1000), 3, 0)
    assert misclassification(true, found) == 0
    assert misclassification(found, by_graph(turned * (1, 1000), 3, 0)) == 0
