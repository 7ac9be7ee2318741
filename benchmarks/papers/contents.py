"""What the five papers print, part by part, and what makes it here: a command, or the test of a worked example."""

from __future__ import annotations

from dataclasses import dataclass

RESULTS = "docs/results/"


@dataclass(frozen=True)
class Part:
    """A table or figure of a paper; `page` where it is told, the test itself where it is an example."""

    paper: str
    part: str
    command: str
    page: str


def _made(paper: str, module: str, page: str, parts: dict[str, str]) -> list[Part]:
    """Parts that one module makes; after each name the options that it wants."""
    page = page if "/" in page else RESULTS + page
    command = f"python -m benchmarks.papers.{module}"
    return [Part(paper, part, f"{command} {options}".strip(), page) for part, options in parts.items()]


def _example(paper: str, parts: dict[str, str]) -> list[Part]:
    """Worked examples: the test that has their numbers."""
    return [
        Part(paper, part, f"pytest {test.partition('::')[0]} -k {test.partition('::')[2]}", test.partition("::")[0])
        for part, test in parts.items()
    ]


CONTENTS: tuple[Part, ...] = (
    *_example(
        "000",
        {
            "Table 1, Figure 1 (the example and its trees)": "tests/golden/test_paper_002.py::table_1",
            "Table 2 (the masked example)": "tests/golden/test_paper_002.py::example_3",
            "Tables 3 and 4 (two cluster structures)": "tests/golden/test_paper_000.py::table_4",
            "Table 5 (F-measure)": "tests/golden/test_paper_000.py::table_5",
            "Table 7 (h = 120, k = 6), as printed": "tests/golden/test_paper_000.py::table_7",
        },
    ),
    *_made(
        "000",
        "cluster_anonymity",
        "cluster_anonymity.md",
        {
            "Figure 2 (the framework), as published": "--only published",
            "Table 6 (Adult's attributes)": "",
            "Figures 3 and 4 (Adult)": "",
            "Table 7, redone": "",
            "Figures 6 and 12 (fewer attributes)": "",
            "Figures 7 and 13 (several quasi-identifiers)": "",
            "Figures 8 and 14 (another clusterer afterwards)": "",
            "Figures 10 and 11 (CRX)": "",
            "the clusters of other seeds": "--only seeds",
        },
    ),
    Part("000", "Figure 9 (time)", "python -m benchmarks.topdown", RESULTS + "speed.md"),
    *_made(
        "000",
        "grown_trees",
        "docs/papers.md",
        {"Figure 5 (a grown tree of Education-num)": ""},
    ),
    *_made(
        "000", "cluster_more", "cluster_more.md", {"section 5.1.4 (h = 5000, height of trees), suppression's time": ""}
    ),
    *_example(
        "002",
        {
            "Table 1, Figures 1 and 2 (the example, its trees, a cut)": "tests/golden/test_paper_002.py::example_3",
            "Table 2 (scores)": "tests/golden/test_paper_002.py::example_4",
            "Figures 3 and 4 (TIPS, QITS: groups kept up by refinements)": "tests/properties/test_topdown.py::final",
        },
    ),
    *_made(
        "002",
        "classification",
        "classification.md",
        {
            "Table 3 (attributes by rank)": "",
            "Figure 5 (suppression)": "",
            "Figures 6a and 6b (generalization)": "",
            "Figure 8 (several quasi-identifiers)": "",
            "Figure 9 (CRX, German)": "",
            "Figure 10 (beside other maskers)": "",
            "Figure 11 (time)": "",
            "the same with Partition": "--partition",
        },
    ),
    *_made("002", "grown_trees", "docs/papers.md", {"Figure 7 (grown trees of Hours-per-week and Education-num)": ""}),
    *_example(
        "001",
        {
            "Figure 1 (k-anonymity by example)": "tests/golden/test_paper_001.py::legal_classes",
            "Figure 2 (the algorithm)": "tests/golden/test_paper_001.py::weights",
            "Figure 3 (merging classes)": "tests/golden/test_paper_001.py::illegal_classes",
        },
    ),
    *_made("001", "wfcmeans", "wfcmeans.md", {"Table 1 (1-NN error)": "", "Figures 4 and 5 (distortion, time)": ""}),
    *_example(
        "003",
        {
            "Tables 1 and 2, Figures 2 and 3 (patients, notation, a tree)": "tests/golden/test_paper_003.py::example_2",
            "Figure 1 (the approach), from publish to the recipient": "tests/e2e/test_private.py::generated_whole",
        },
    ),
    *_made(
        "003",
        "dpheter",
        "dpheter.md",
        {
            "Figures 4 to 11 (Adult and MIMIC by epsilon and number of steps)": "",
            "Figures 12 to 15 (other algorithms), Table 3": "",
            "Figures 16 and 17 (other clusterers)": "",
            "Figure 18 (time)": "--time",
            "pairs of attributes in place of parts": "--pairs 5",
            "MST and AIM beside ours": "--rival-python PYTHON",
        },
    ),
    *_example(
        "004",
        {
            "Figures 1 and 2 (translation)": "tests/golden/test_paper_004.py::figure_2b",
            "Figure 3 (scaling)": "tests/golden/test_paper_004.py::figure_3b",
            "Figure 4 (rotation)": "tests/golden/test_paper_004.py::figure_4b",
            "Figure 5 (hybrid)": "tests/golden/test_paper_004.py::figure_5b",
        },
    ),
    *_made(
        "004",
        "gdtm",
        "gdtm.md",
        {
            "Tables 1, 3 and 5 (misclassified points)": "",
            "Tables 2, 4 and 6 (Sec)": "",
            "hierarchical clustering alone, by the graph of neighbours": "--graph 20",
            "the same by Ward linkage of all points": "--ward 20",
            "what undoes them": "",
        },
    ),
    Part("004", "outlook: labels", "python -m benchmarks.label_isometries", "docs/geometric.md"),
)
