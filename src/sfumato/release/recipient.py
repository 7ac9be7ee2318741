"""README.md of a release: what a recipient needs to know, and nothing about the raw table."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data import calendar
from sfumato.data.schema import Attribute, Number
from sfumato.privacy.verify.twins import needed
from sfumato.release.certificate import Facts, not_claimed, plural, statement
from sfumato.release.differential import NOT_PRIVATE

EXPLAINED = {
    "generalize": "replaced by a more general label of its taxonomy where needed",
    "suppress": "shown, or `*` where it was suppressed",
    "centroid": "replaced by the centre of a group of similar records",
    "region": "replaced by a region of values; regions of one column may overlap",
    "transformed": "transformed; the raw value cannot be read off, and can be computed by whoever knows a few records",
    "generated": "generated: drawn from noisy counts over its declared domain",
    "discretize": "replaced by an interval such as `[17-37)`: 17 included, 37 not",
}
INTERVALS = """
An interval in `)` ends before its upper end; the last one, in `]`, includes it. An end `..` is open: how far the values
reach is not told. `*` in a column of intervals tells nothing: it hides missing values among all others, or stands in a
record that is shown at the top of every column.
"""
CITED = {
    "top_down": """Masked with Sfumato by top-down refinement (Fung, Wang, Wang, Hung, "Privacy-preserving data
publishing for cluster analysis", 2009; Fung, Wang, Yu, "Anonymizing classification data
for privacy preservation", 2007).""",
}
FILES = {
    "report.html": "all of this in pictures, for any browser",
    "recoding.json": "which values are shown, attribute by attribute",
    "centroids.json": "the centre and the size of each group",
    "regions.json": "the regions that are shown",
    "codebook.json": "the mean of each interval, and the shares of the values under each general label",
    "centres.json": "where this table's values stand, and where k-means finds the clusters of the raw table in it",
}


CHECKS_EPSILON = """checks that the recorded uses of the data add up to epsilon, that every value lies in its declared
domain, and that the file holds nothing else. That the record is complete cannot be seen from a file."""
ALONE = "It needs nothing but this folder."
STARTS = """Look for clusters from many random starts, thirty or more, and keep the best: it costs no privacy, and from
one start k-means often ends elsewhere.
"""
CLUSTERS = """## Find the clusters

    sfumato clusters .

starts k-means from `centres.json`: from random starts it often ends elsewhere. In Python,
`sfumato.find_clusters(".")` tells the cluster of each row.

"""


def title(facts: Facts) -> str:
    """What the page is called; noise that repeats is named first."""
    if facts.differential is None:
        return "A masked table"
    return "A generated table" if facts.differential.private else f"{NOT_PRIVATE}: a generated table"


def cited(facts: Facts) -> str:
    """How to cite a release."""
    made = "Masked" if facts.differential is None else "Generated"
    return " ".join(CITED.get(facts.mask, f"{made} with Sfumato ({facts.mask}).").split())


def checks(facts: Facts) -> str:
    """What verify does with a release."""
    return "recounts every claim from the file itself." if facts.differential is None else CHECKS_EPSILON


def recipient_page(facts: Facts, files: Sequence[str]) -> str:
    """The page as Markdown."""
    columns = "\n".join(
        f"| {name} | {attribute.role} | {explained(attribute, facts.masked.get(name))} |"
        for name, attribute in facts.schema.items()
        if name in facts.schema.kept
    )
    known = {**FILES, f"{facts.mask}.json": "what the masker learned"}
    if facts.differential is not None:
        known["centres.json"] = "centres of the clusters found in this table, and where its values stand"
    beside = [f"- `{name}`: {known[name]}" for name in files if name in known]
    if any(name.startswith("taxonomies/") for name in files):
        beside.append("- `taxonomies/`: the trees of labels that general values come from")
    raised = plural(facts.lifted, "record is", "records are")
    why = "shown at the top of every masked column, so that no rare value shows"
    lifted = f"\n{raised} {why}.\n" if facts.lifted else ""
    return f"""# {title(facts)}

{statement(facts)}

{facts.rows:,} rows in `{facts.table_file}`, {"in their original order" if facts.keep_order else "in random order"}.
An empty cell is a missing value, which counts as a value of its own.
{STARTS if facts.differential is not None and "centres.json" not in files else ""}{lifted}
| column | role | what is shown |
|---|---|---|
{columns}
{INTERVALS if "discretize" in facts.masked.values() else ""}
{chr(10).join([*beside, ""])}- `certificate.json`: what is claimed, with the SHA-256 of every file

## What is not claimed

{chr(10).join("- " + text for text in not_claimed(facts))}

{CLUSTERS if "centres.json" in files else ""}## Check it yourself

    pip install sfumato
    sfumato verify .

{checks(facts)} {" ".join(needed([claim.requirement.name for claim in facts.claims])) or ALONE}

## Cite

{cited(facts)}
"""


def explained(attribute: Attribute, masked: str | None) -> str:
    """What a column shows, in words."""
    if masked == "discretize" and isinstance(attribute, Number) and attribute.calendar is not None:
        low, high = (calendar.show(calendar.parse(day), attribute.calendar) for day in ("1972-08-14", "1990-08-14"))
        unit = attribute.calendar
        return f"replaced by an interval such as `[{low}-{high})`: the {unit} {low} included, the {unit} {high} not"
    return "as it is" if masked is None else EXPLAINED.get(masked, f"masked ({masked})")
