"""The attack report on Adult: the raw table against k = 5 and 50, alone and with each requirement beyond k.

    python -m benchmarks.attack_report                                  # some minutes; prints Markdown
    python -m benchmarks.attack_report --write docs/results/attacks.md  # puts it between the page's marks
    python -m benchmarks.attack_report --only "top-down, k = 50"        # these lines alone; the page keeps the others

The training part of Adult is published (30,162 complete records), its test part (15,060) is the control group, and
both together are the population. The secret is the marital status. Everything is counted or drawn with a fixed seed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.evaluation.attacks.attacker_view import Case, Seen
from sfumato.evaluation.attacks.criteria import measure_criteria
from sfumato.evaluation.attacks.results import AttackResult
from sfumato.evaluation.risk import Exposure, Population, exposures
from sfumato.maskers.recoding.recoding import Recoding
from sfumato.publishing import Run
from sfumato.randomness import Seeded

QUASI = ("age", "workclass", "education", "occupation", "race", "sex", "hours_per_week", "native_country")
SECRET = "marital_status"
LIFE = (
    "Never-married",
    "Married-civ-spouse",
    "Married-AF-spouse",
    "Married-spouse-absent",
    "Separated",
    "Divorced",
    "Widowed",
)
MASKERS = {"top-down": sf.TopDown(), "Mondrian": sf.Mondrian()}
KS = (5, 50)
PEOPLE = 2_000
BEGIN, END = "<!-- attack report: begin -->", "<!-- attack report: end -->"
COMMAND = "python -m benchmarks.attack_report --write docs/results/attacks.md"
HEADINGS = (
    "release",
    "groups",
    "alone on these",
    "prosecutor, highest",
    "journalist, highest",
    "marketer",
    "linked uniquely",
    "linked",
    "secret inferred",
    "of others",
    "excess",
    "sure >= 0.9",
    "highest confidence",
    "rows alone",
    "singled out",
    "by frequencies",
    "excess",
    "F",
    "agreement",
)


@dataclass(frozen=True, eq=False)
class Adult:
    """Who is published, who is not, and everybody."""

    raw: pa.Table
    people: Table
    control: Table
    population: Table
    schema: sf.Schema

    @classmethod
    def load(cls, rows: int | None = None) -> Adult:
        """The complete records; `rows`: of each part only the first."""
        adult = sf.datasets.load("adult", complete=True)
        schema = sf.Schema({name: _role(name, of) for name, of in adult.schema.items()})
        split = adult.table["split"].cast(pa.string())
        train, test = (adult.table.filter(pc.equal(split, pa.scalar(part))) for part in ("train", "test"))
        train, test = (part if rows is None else part.slice(0, rows) for part in (train, test))
        people, control, everybody = (encode(one, schema) for one in (train, test, pa.concat_tables([train, test])))
        return cls(train, people, control, everybody, schema)

    def recipe(self, asked: Sequence[Any], mask: Any) -> sf.Recipe:
        """Six clusters survive, the rest is up to the requirements."""
        structure = sf.Clusters("kmeans", k=6, seed=0, n_init=2)
        return sf.Recipe(schema=self.schema, structure=structure, privacy=tuple(asked), mask=mask)


def _role(name: str, attribute: Any) -> Any:
    return replace(attribute, role="quasi" if name in QUASI else "sensitive" if name == SECRET else "identifier")


Asked = Callable[[int], Sequence[Any]]
"""The requirements of one line, for a k."""


def requirements(population: pa.Table) -> dict[str, Asked]:
    """What is asked in each line."""
    return {
        "k-anonymity": lambda k: [sf.KAnonymity(QUASI, k)],
        "k, distinct 3-diversity": _and(sf.LDiversity(QUASI, SECRET, 3)),
        "k, entropy 2-diversity": _and(sf.LDiversity(QUASI, SECRET, 2, kind="entropy")),
        "k, recursive (3, 2)-diversity": _and(sf.LDiversity(QUASI, SECRET, 2, kind="recursive", c=3)),
        "k, confidence at most 0.7": _and(sf.ConfidenceBound(QUASI, SECRET, 0.7)),
        "(0.7, k)-anonymity": lambda k: [sf.AlphaK(QUASI, SECRET, 0.7, k)],
        "k, 0.35-closeness, equal distance": _and(sf.TCloseness(QUASI, SECRET, 0.35)),
        "k, 0.2-closeness, ordered": _and(sf.TCloseness(QUASI, SECRET, 0.2, distance="ordered", order=LIFE)),
        "k, 0.3-closeness, hierarchical": _and(sf.TCloseness(QUASI, SECRET, 0.3, distance="hierarchical")),
        "k-map in the population": lambda k: [sf.KMap(QUASI, k, population=population)],
        "LKC, L = 2, C = 0.7": lambda k: [sf.LKC(QUASI, SECRET, l=2, k=k, c=0.7)],
    }


def _and(requirement: Any) -> Asked:
    """k-anonymity and another requirement."""
    return lambda k: [sf.KAnonymity(QUASI, k), requirement]


@dataclass(frozen=True, eq=False)
class Shown:
    """A table that somebody sees, and how it was masked if it was."""

    table: pa.Table
    mask: Any = None
    scores: Mapping[str, Any] | None = None


def line(name: str, adult: Adult, shown: Shown) -> str:
    """All figures of one release."""
    masked = Masked.of({name: shown.table.column(name) for name in shown.table.column_names})
    seen = Seen.of(masked, adult.people, exact=QUASI if isinstance(shown.mask, Recoding) else ())
    case = Case(adult.people, seen, QUASI, PEOPLE, control=adult.control)
    found = {result.attack: result for result in measure_criteria(case).results}
    cells = [*_risk(_exposed(adult, shown)), *_linked(found["linkability of two halves"])]
    cells += _inferred(found[f"inference of {SECRET}"])
    cells += [*_singled(found["singling out, chosen predicates"]), *_survived(shown.scores)]
    return f"| {' | '.join([name, *cells])} |"


def _exposed(adult: Adult, shown: Shown) -> Exposure:
    masked, strangers = (
        Masked.made({name: one.columns[name] for name in QUASI}) for one in (adult.people, adult.population)
    )
    if shown.mask is not None:
        masked, strangers = (shown.mask.apply(one, unseen="suppress") for one in (adult.people, adult.population))
    return exposures(masked, [QUASI], population=Population(strangers))[0]


def _risk(one: Exposure) -> list[str]:
    shares = (one.prosecutor.above[2], one.prosecutor.highest, one.journalist.highest, one.prosecutor.average)
    return [f"{one.groups:,}", *(f"{share:.2%}" for share in shares)]


def _linked(result: AttackResult) -> list[str]:
    return [f"{result.details['unique']:.1%}", f"{result.success.value:.2%}"]


def _inferred(result: AttackResult) -> list[str]:
    details = result.details
    return [*_compared(result), f"{details['above_0.9']:.1%}", f"{details['highest_confidence']:.2f}"]


def _singled(result: AttackResult) -> list[str]:
    return [f"{result.details['alone']:.2%}", *_compared(result)]


def _compared(result: AttackResult) -> list[str]:
    if result.baseline is None:
        raise TypeError("a criterion has a baseline")
    excess = result.baseline.excess
    told = f"{100 * excess.value:+.1f} ({100 * excess.low:+.1f} to {100 * excess.high:+.1f})"
    return [f"{result.success.value:.1%}", f"{result.baseline.success.value:.1%}", told]


def _survived(scores: Mapping[str, Any] | None) -> list[str]:
    if scores is None:
        return ["1", "1"]
    return [f"{scores['scores'][name]['value']:.3f}" for name in ("f_measure.start", "agreement")]


def report(adult: Adult, ks: Sequence[int] = KS, only: str = "") -> Iterator[str]:
    """The table, line by line, or those whose names have `only` in them; progress goes to standard error."""
    yield f"| {' | '.join(HEADINGS)} |"
    yield f"|---|{'---:|' * (len(HEADINGS) - 1)}"
    if only in "raw":
        yield line("raw", adult, Shown(adult.people.to_arrow()))
    lines = requirements(adult.population.to_arrow())
    for masker, k, asked in product(MASKERS, ks, lines):
        began, name = time.perf_counter(), f"{masker}, k = {k}: {asked}"
        if only not in name:
            continue
        yield published(name, adult, lines[asked](k), MASKERS[masker])
        sys.stderr.write(f"{name}: {time.perf_counter() - began:.0f} s\n")


def published(name: str, adult: Adult, asked: Sequence[Any], mask: Any) -> str:
    """The line of a release with these requirements, or why there is none."""
    with TemporaryDirectory() as folder:
        run = Run(report=False, chance=Seeded(0), ledger=sf.Ledger(Path(folder) / "ledger.jsonl"))
        try:
            release = sf.publish(adult.raw, adult.recipe(asked, mask), run=run)
        except SfumatoError as refused:
            return f"| {name} | refused: {refused.rule} |{' |' * (len(HEADINGS) - 2)}"
    return line(name, adult, Shown(release.shown, release.mask, release.scores))


def placed(page: str, made: str, *, whole: bool) -> str:
    """A page with what was made between its marks: in the place of all lines, or of those of the same names."""
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    lines = {
        _name(line): line for text in ("" if whole else old, made) for line in text.splitlines() if line.startswith("|")
    }
    return f"{before}{BEGIN}\n\n    {COMMAND}\n\n{chr(10).join(lines.values())}\n\n{END}{after}"


def _name(line: str) -> str:
    """Of a line of the table: its first cell."""
    return line.split("|")[1].strip()


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", type=Path, help="a page with the marks")
    parser.add_argument("--rows", type=int, help="only so many people of each part")
    parser.add_argument("--only", default="", help="lines whose names have this in them")
    arguments = parser.parse_args()
    made = []
    for text in report(Adult.load(arguments.rows), only=arguments.only):
        made.append(text)
        print(text, flush=True)
    if arguments.write is not None:
        page = arguments.write.read_text(encoding="utf-8")
        arguments.write.write_text(placed(page, "\n".join(made), whole=not arguments.only), encoding="utf-8")


if __name__ == "__main__":
    main()
