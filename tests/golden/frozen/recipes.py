"""What is frozen: a recipe for every masker, every requirement, and every way of publishing, in YAML.

Only the public form of a recipe is used, so that the cases stay as they are whatever the code behind it becomes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Format = Literal["parquet", "csv"]

AGE = "{kind: number, role: quasi, range: [17, 90], integer: true}"
HOURS = "{kind: number, role: quasi, range: [1, 99], integer: true}"
YEARS = "{kind: number, role: quasi, range: [1, 16], integer: true}"
WEIGHT = "{kind: number, role: quasi, range: [12285, 1490400], integer: true}"
EDUCATION = "{kind: category, role: quasi, taxonomy: 'bundled:education'}"
WORK = "{kind: category, role: quasi, taxonomy: 'bundled:workclass'}"
MARRIED = "{kind: category, role: quasi, taxonomy: 'bundled:marital_status'}"
SEX = "{kind: category, role: quasi, taxonomy: 'bundled:sex'}"
RACE = "{kind: category, role: quasi}"
INCOME = "{kind: category, role: sensitive, values: [<=50K, '>50K']}"
OCCUPATION = "{kind: category, role: sensitive, taxonomy: 'bundled:occupation'}"
JOBS = "{kind: item_set, role: quasi, taxonomy: 'bundled:occupation', separator: ';'}"

PEOPLE = {"age": AGE, "education": EDUCATION, "sex": SEX, "hours_per_week": HOURS, "income": INCOME}
WORKERS = {"age": AGE, "workclass": WORK, "marital_status": MARRIED, "sex": SEX, "occupation": OCCUPATION}
NUMBERS = {"age": AGE, "fnlwgt": WEIGHT, "education_num": YEARS, "hours_per_week": HOURS, "income": INCOME}
MIXED = {"age": AGE, "education": EDUCATION, "sex": SEX, "occupation": JOBS}
FLOWERS = {
    "sepal_length": "{kind: number, role: quasi, range: [4.3, 7.9]}",
    "sepal_width": "{kind: number, role: quasi, range: [2.0, 4.4]}",
    "petal_length": "{kind: number, role: quasi, range: [1.0, 6.9]}",
    "petal_width": "{kind: number, role: quasi, range: [0.1, 2.5]}",
    "species": "{kind: category, role: sensitive, values: [setosa, versicolor, virginica]}",
}

CLUSTERS = "structure: {clusters: kmeans, k: 4, n_init: 2}"
INCOMES = "structure: {classes: income}"
ON_PEOPLE = "on: [age, education, sex, hours_per_week]"
ON_WORKERS = "on: [age, workclass, marital_status, sex]"
TEN = f"privacy: [{{k_anonymity: 10, {ON_PEOPLE}}}]"
FIVE_WORKERS = f"{{k_anonymity: 5, {ON_WORKERS}}}"
NUMBERED = "privacy: [{k_anonymity: 8, on: [age, fnlwgt, education_num, hours_per_week]}]"
NOTHING = "i_understand: no_guarantee"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A recipe and its table.

    `attributes`: columns of the bundled `table`, each with its line of YAML. `recipe`: what follows them. `read` and
    `write`: the format of the table that comes in, and of the one that goes out. `earlier`: so many of the rows were
    released before, and the people are "same" or "growing"; `before`: by what recipe, if by another one. `population`:
    so many rows stand in population.csv. `family`: a version for each number of clusters. `seed`: of all chance in the
    run (None: secure, as users have it). `quick`: runs with every change of the code.
    """

    attributes: Mapping[str, str]
    recipe: tuple[str, ...]
    table: str = "adult"
    rows: int = 600
    read: Format = "parquet"
    write: Format = "parquet"
    earlier: tuple[int, Literal["same", "growing"]] | None = None
    before: tuple[str, ...] = ()
    population: int = 0
    family: tuple[int, ...] = ()
    seed: int | None = 7
    quick: bool = False

    def first(self) -> str:
        """The recipe of the earlier release, as YAML."""
        return replace(self, recipe=self.before or self.recipe).text()

    def text(self, *, beside: str | None = None) -> str:
        """The recipe as YAML; `beside` names the folder of an earlier release."""
        lines = ["sfumato: 1", f"table: people.{self.read}", "attributes:"]
        lines += [f"  {name}: {form}" for name, form in self.attributes.items()]
        lines += self.recipe
        if beside is not None and self.earlier is not None:
            lines.append(f"earlier: {{releases: [{beside}], people: {self.earlier[1]}}}")
        return "\n".join(lines) + "\n"


TOP_DOWN = {
    "top_down_clusters": Case(attributes=PEOPLE, recipe=(CLUSTERS, TEN), quick=True),
    "top_down_classes": Case(attributes=PEOPLE, recipe=(INCOMES, TEN), read="csv", write="csv", quick=True),
    "top_down_several_qids": Case(
        attributes={**PEOPLE, "workclass": WORK, "race": RACE},
        recipe=(
            CLUSTERS,
            "privacy:",
            "- {k_anonymity: 12, on: [age, sex]}",
            "- {k_anonymity: 4, on: [age, education, workclass]}",
            "- {k_anonymity: 7, on: [sex, race, hours_per_week]}",
            "- {k_anonymity: 3, on: [sex]}",
        ),
        rows=900,
    ),
    "top_down_diverse_close_unsure": Case(
        attributes=WORKERS,
        recipe=(
            CLUSTERS,
            "privacy:",
            f"- {{l_diversity: 3, {ON_WORKERS}, sensitive: occupation}}",
            "- {t_closeness: 0.45, on: [age, sex], sensitive: occupation}",
            f"- {{confidence_bound: 0.6, {ON_WORKERS}, sensitive: occupation}}",
            f"- {FIVE_WORKERS}",
        ),
        rows=900,
    ),
    "top_down_entropy_hierarchical_alpha_k": Case(
        attributes=WORKERS,
        recipe=(
            CLUSTERS,
            "privacy:",
            "- {l_diversity: {l: 3, kind: entropy}, on: [age, workclass], sensitive: occupation}",
            "- {l_diversity: {l: 2, kind: recursive, c: 3}, on: [age, sex], sensitive: occupation}",
            "- {t_closeness: {t: 0.4, distance: hierarchical}, on: [age, sex], sensitive: occupation}",
            f"- {{alpha_k: {{alpha: 0.7, k: 6}}, {ON_WORKERS}, sensitive: occupation}}",
            "missing: {occupation: drop}",
        ),
        rows=900,
        write="csv",
    ),
    "top_down_numbers_ordered": Case(
        attributes={**PEOPLE, "hours_per_week": "{kind: number, role: sensitive, range: [1, 99], integer: true}"},
        recipe=(
            "structure: {clusters: kmeans, k: 3, n_init: 2, attributes: [age, education, sex]}",
            "privacy:",
            "- {t_closeness: {t: 0.25, distance: ordered}, on: [age, education, sex], sensitive: hours_per_week}",
            "- {k_anonymity: 6, on: [age, education, sex]}",
        ),
    ),
    "top_down_suppress": Case(
        attributes=PEOPLE, recipe=(CLUSTERS, TEN, "mask: {top_down: {suppress: 0.05, split: best_valid}}")
    ),
    "top_down_lkc": Case(
        attributes=WORKERS,
        recipe=(CLUSTERS, "privacy:", f"- {{lkc: {{l: 2, k: 8, c: 0.8}}, {ON_WORKERS}, sensitive: occupation}}"),
        rows=900,
    ),
    "top_down_k_map": Case(
        attributes=PEOPLE,
        recipe=(CLUSTERS, f"privacy: [{{k_map: {{k: 12, population: population.csv}}, {ON_PEOPLE}}}]"),
        rows=500,
        population=2000,
    ),
    "top_down_earlier_same": Case(
        attributes=PEOPLE,
        recipe=(CLUSTERS, f"privacy: [{{k_anonymity: 5, {ON_PEOPLE}}}]"),
        before=(INCOMES, TEN, "mask: {top_down: {score: infogain, max_steps: 3}}"),
        earlier=(600, "same"),
    ),
    "top_down_earlier_growing": Case(
        attributes=PEOPLE, recipe=(CLUSTERS, TEN), earlier=(500, "growing"), rows=700, write="csv"
    ),
    "top_down_item_set": Case(
        attributes={**MIXED, "occupation": JOBS.replace("quasi", "plain")},
        recipe=(CLUSTERS, "privacy: [{k_anonymity: 10, on: [age, education, sex]}]"),
        table="adult_heterogeneous",
        read="csv",
        write="csv",
    ),
    "top_down_dates": Case(
        attributes={
            "born": "{kind: number, role: quasi, calendar: quarter}",
            "education": EDUCATION,
            "sex": SEX,
            "income": INCOME,
        },
        recipe=(CLUSTERS, "privacy: [{k_anonymity: 10, on: [born, education, sex]}]"),
        read="csv",
    ),
    "top_down_plain_missing_dropped": Case(
        attributes={
            "person": "{kind: category, role: identifier}",
            **WORKERS,
            "race": RACE,
            "native_country": "{kind: category, role: quasi}",
            "relationship": "{kind: category, role: plain}",
            "hours_per_week": HOURS.replace("quasi", "plain"),
        },
        recipe=(
            "structure: {clusters: bisecting, k: 3, recluster: kmeans, weights: {age: 2, sex: 0.5}, placement: own}",
            "privacy: [{k_anonymity: 6, on: [age, workclass, marital_status, sex, race, native_country]}]",
            "missing: {occupation: drop, workclass: value}",
            "keep_order: true",
        ),
        rows=800,
        read="csv",
        write="csv",
    ),
    "top_down_portfolio": Case(
        attributes=PEOPLE,
        recipe=(
            "structure: {clusters: kmeans, k: 3, n_init: 1, also: [2]}",
            TEN,
            "mask: {top_down: {search: portfolio, last: [sex]}}",
            "release: {codebook: false, starting_centres: false}",
        ),
        rows=400,
    ),
    "top_down_distortion_some_steps": Case(
        attributes=PEOPLE,
        recipe=(
            "structure: {clusters: ward, k: 3}",
            TEN,
            "mask: {top_down: {score: distortion, max_steps: 5, beneficial_only: true}}",
            "release: {spreadsheet_safe: true}",
        ),
        write="csv",
    ),
    "top_down_density_noise": Case(
        attributes=PEOPLE,
        recipe=("structure: {clusters: hdbscan, recluster: kmedoids}", TEN),
    ),
    "top_down_family": Case(attributes=PEOPLE, recipe=(CLUSTERS, TEN), family=(2, 4)),
}
OTHERS = {
    "partition_clusters": Case(
        attributes=PEOPLE, recipe=(CLUSTERS, TEN, "mask: partition"), read="csv", write="csv", quick=True
    ),
    "partition_cuts_diverse": Case(
        attributes={**WORKERS, "income": INCOME},
        recipe=(
            INCOMES,
            f"privacy: [{FIVE_WORKERS}, {{l_diversity: 2, {ON_WORKERS}, sensitive: occupation}}]",
            "mask: {partition: {extent: cuts}}",
        ),
    ),
    "mondrian_clusters": Case(
        attributes=PEOPLE, recipe=(CLUSTERS, TEN, "mask: mondrian"), read="csv", write="csv", quick=True
    ),
    "mondrian_median_diverse": Case(
        attributes={**WORKERS, "income": INCOME},
        recipe=(
            INCOMES,
            f"privacy: [{FIVE_WORKERS}, {{l_diversity: 2, {ON_WORKERS}, sensitive: occupation}}]",
            "mask: {mondrian: {score: median}}",
        ),
    ),
    "genetic_classes": Case(
        attributes=PEOPLE, recipe=(INCOMES, TEN, "mask: {genetic: {generations: 40, population: 12, seed: 3}}")
    ),
    "genetic_clusters": Case(
        attributes=PEOPLE,
        recipe=(CLUSTERS, TEN, "mask: {genetic: {generations: 40, population: 12, metric: LM}}"),
        write="csv",
    ),
    "microaggregate_mixed": Case(
        attributes=MIXED,
        recipe=(CLUSTERS, "privacy: [{k_anonymity: 6, on: [age, education, sex, occupation]}]", "mask: microaggregate"),
        table="adult_heterogeneous",
        rows=400,
    ),
    "microaggregate_fast_mode": Case(
        attributes={**WORKERS, "education_num": YEARS},
        recipe=(
            CLUSTERS,
            "privacy: [{k_anonymity: 6, on: [age, workclass, marital_status, sex, education_num]}]",
            "mask: {microaggregate: {fast: true, categories: mode, missing: impute, whole: false}}",
        ),
        read="csv",
        write="csv",
        quick=True,
    ),
    "wf_c_means": Case(attributes=NUMBERS, recipe=(CLUSTERS, NUMBERED, "mask: {wf_c_means: {seed: 5}}"), rows=400),
    "mdav": Case(attributes=NUMBERS, recipe=(CLUSTERS, NUMBERED, "mask: {mdav: {whole: false}}"), write="csv"),
    "linkage_complete": Case(
        attributes=FLOWERS,
        recipe=(
            "structure: {classes: species}",
            "privacy: [{k_anonymity: 5, on: [sepal_length, sepal_width, petal_length, petal_width]}]",
            "mask: {linkage: {link: complete, scale: none}}",
        ),
        table="iris",
        rows=150,
        quick=True,
    ),
    "linkage_average": Case(attributes=NUMBERS, recipe=(CLUSTERS, NUMBERED, "mask: linkage"), rows=300, write="csv"),
    "private_tree_values": Case(
        attributes={**PEOPLE, "income": INCOME},
        recipe=(CLUSTERS, "mask: {private_tree: {bins: 6}}", "budget: {epsilon: 2}"),
        rows=900,
        quick=True,
    ),
    "private_tree_generalized": Case(
        attributes=MIXED,
        recipe=(
            "structure: {clusters: kmeans, k: 3, n_init: 1}",
            "mask: {private_tree: {rows: generalized, bins: 4, splits: 3, may_miss: [occupation], weights: {age: 2}}}",
            "budget: {epsilon: 1}",
        ),
        table="adult_heterogeneous",
        write="csv",
    ),
    "dp_heter_clusters": Case(
        attributes=MIXED,
        recipe=(CLUSTERS, "mask: {dp_heter: {steps: 8, may_miss: [occupation]}}", "budget: {epsilon: 2}"),
        table="adult_heterogeneous",
    ),
    "dp_heter_classes": Case(
        attributes=PEOPLE,
        recipe=(INCOMES, "mask: {dp_heter: {steps: 6}}", "budget: {epsilon: 1}"),
        write="csv",
        quick=True,
    ),
    "translate": Case(attributes=NUMBERS, recipe=(CLUSTERS, "mask: {translate: {by: {age: 7}, seed: 1}}", NOTHING)),
    "scale": Case(
        attributes=NUMBERS,
        recipe=(INCOMES, "mask: {scale: {by: {age: 1.5}, seed: 2}}", NOTHING),
        write="csv",
        quick=True,
    ),
    "rotate": Case(
        attributes=FLOWERS, recipe=(CLUSTERS, "mask: {rotate: {seed: 3}}", NOTHING), table="iris", rows=150, quick=True
    ),
    "rotate_enhanced": Case(
        attributes=NUMBERS,
        recipe=(
            CLUSTERS,
            "mask: {rotate: {pairs: [[age, fnlwgt, 31.5], [education_num, hours_per_week]], normalise: spread, "
            "enhance: 0.1, round: nearest, seed: 4}}",
            NOTHING,
        ),
        rows=400,
        write="csv",
    ),
    "hybrid": Case(
        attributes=NUMBERS,
        recipe=(
            CLUSTERS,
            "mask: {hybrid: {operations: {age: [add, 3], fnlwgt: [multiply, 0.9]}, seed: 5}}",
            NOTHING,
        ),
        rows=400,
    ),
    "add_noise": Case(
        attributes=NUMBERS,
        recipe=(CLUSTERS, "mask: {add_noise: {noise: {age: {normal: [0, 5]}}, seed: 6}}", NOTHING),
        rows=400,
        quick=True,
    ),
    "multiply_noise": Case(
        attributes=FLOWERS,
        recipe=("structure: {classes: species}", "mask: {add_noise: {how: multiply, strength: 0.1, seed: 7}}", NOTHING),
        table="iris",
        rows=150,
        write="csv",
    ),
}


def _named(case: Case) -> Case:
    """A recipe that names no masker had this one when it was frozen."""
    if any(line.startswith("mask:") for line in case.recipe):
        return case
    return replace(case, recipe=(*case.recipe, "mask: {top_down: {score: tradeoff}}"))


CASES: Mapping[str, Case] = {**{name: _named(case) for name, case in TOP_DOWN.items()}, **OTHERS}
