"""The page of results: tables between marks, so that what explains them stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.papers import cluster_tables as single
from benchmarks.papers import cluster_variations as other
from benchmarks.papers.cluster_measuring import Row

TABLES: Mapping[str, Callable[[Sequence[Row]], str]] = {
    "goals": single.goals,
    "homogeneous": single.homogeneous,
    "published": single.published,
    "seeds": single.seeds,
    "costs": single.costs,
    "cold": single.cold,
    "beside": single.beside,
    "table 7": other.table_7,
    "sizes": other.sizes,
    "multi": other.multi,
    "heterogeneous": other.heterogeneous,
    "encodings": other.encodings,
    "portfolio": other.portfolio,
    "scores": other.scores,
}
END = "<!-- end of table -->"


def fill(path: Path, rows: Sequence[Row]) -> None:
    """Each table between its marks in the page; a page that is not there gets all of them."""
    text = path.read_text(encoding="utf-8") if path.exists() else "".join(f"{_marked(name, '')}\n" for name in TABLES)
    for name, table in TABLES.items():
        before, begin, rest = text.partition(_begin(name))
        if begin:
            text = before + _marked(name, table(rows)) + rest.partition(END)[2]
    path.write_text(text, encoding="utf-8")


def _begin(name: str) -> str:
    return f"<!-- table: {name} -->"


def _marked(name: str, table: str) -> str:
    return f"{_begin(name)}\n{table}\n{END}"
