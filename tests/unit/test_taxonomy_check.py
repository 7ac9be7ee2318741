from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.data.taxonomy.check import Finding, check
from sfumato.data.taxonomy.taxonomy import Taxonomy

BROKEN = """\
ANY:
  North: [a, b, a]
  South:
    - c
    - b
    - no
    - 7
  West:
    - ANY
  East: {Far: [d, e]}
"""


def found(findings: list[Finding]) -> list[tuple[str, str, int | None]]:
    return [(finding.rule, finding.label, finding.line) for finding in findings]


def test_all_findings_of_a_file_at_once_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(BROKEN)
    assert found(check(path, ["a", "c", "d", "e", "zzz", "East"])) == [
        ("duplicate", "a", 2),
        ("two-parents", "b", 5),
        ("type", "no", 6),
        ("type", "7", 7),
        ("cycle", "ANY", 9),
        ("unary", "East", 10),
        ("not-a-leaf", "East", 10),
        ("not-a-leaf", "zzz", None),
    ]


def test_a_clean_file_has_no_findings(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;North;*\nb;North;*\nc;South;*\nd;South;*\n")
    assert check(path, ["a", "d", None, "d"]) == []


def test_arx_conflicts_are_told_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;North;*\nb;South;*\nc;South;Top;*\nd;South;Top;*\ne;North;*\nf;Top;*\ng;Top;*\n")
    assert found(check(path)) == [("two-parents", "South", 3)]


@pytest.mark.parametrize(
    ("leaves", "values", "expected"),
    [
        ("[1, 2]", [1, 2], []),
        ("['1', '2']", ["1", "2"], []),
        ("[1, 2]", ["1", "2"], [("type", "1", 1), ("type", "2", 1)]),
        ("['1.0', '2.0']", ["1", "2.0"], [("type", "1.0", 1)]),
        ("['01', b]", ["1", "b"], [("type", "01", 1)]),
        ("[1, other]", [1, 1], [("type", "other", 1)]),
        ("[a, null]", ["a"], [("type", "null", 1)]),
    ],
)
def test_types_of_leaves_and_values(
    tmp_path: Path, leaves: str, values: list[object], expected: list[tuple[str, str, int | None]]
) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(f"ANY: {leaves}\n")
    assert found(check(path, values)) == expected


def test_a_value_spelt_otherwise_points_to_its_leaf(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("ANY:\n- Bachelors\n- Masters\n")
    (finding,) = check(path, ["bachelors "])
    assert (finding.line, "'Bachelors'?" in finding.message) == (2, True)


def test_many_strays_against_many_leaves_stay_quick() -> None:
    tree = Taxonomy.flat([f"leaf {n}" for n in range(3000)])
    findings = check(tree, [f"value {n}" for n in range(3000)])
    assert len(findings) == 3000


def test_syntax_errors_are_findings_too(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"ANY": ["a",]}')
    assert [finding.rule for finding in check(path)] == ["syntax"]
