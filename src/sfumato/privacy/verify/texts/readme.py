"""README.md of a release: what a recipient needs to know, made from the certificate and from nothing else.

Whoever publishes writes what `readme` gives, and verify demands the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sfumato.privacy.verify.canonical import DESCRIBED, GATHERED, LEARNED, OUTSIDE, QUOTED, SHORTENED, TOLD_BY_GROUPS
from sfumato.privacy.verify.fields import Form, field, forms, mapping, names, whole
from sfumato.privacy.verify.texts.labels import LABELS, OF_A_LABEL, told_in_words
from sfumato.privacy.verify.texts.pages import escaped, needed
from sfumato.privacy.verify.texts.snippet import CLASSES, loaded, snippet
from sfumato.privacy.verify.texts.wording import GUARANTEE, NOT_PRIVATE
from sfumato.privacy.verify.values import floor

README = "README.md"
EXPLAINED = {
    "generalize": "replaced by a more general label of its taxonomy where needed",
    "suppress": "shown, or `*` where it was suppressed",
    "centroid": "replaced by the centre of a group of similar records",
    "extent": "shown as what the record's group covers: a label, several labels, or an interval; groups differ",
    "region": "replaced by a region of values; regions of one column may overlap",
    "transformed": "transformed; the raw value cannot be read off, and can be computed by whoever knows a few records",
    "generated": "generated: drawn from noisy counts over its declared domain",
    "generalize_sets": "a set of items, replaced by the set of general labels that it has items under",
    "discretize": "replaced by an interval such as `[17-37)`: 17 included, 37 not",
}
BEYOND = {
    "number": "what lies beyond its declared range stands at the nearer end: an end stands for itself and beyond",
    "category": "labels that were not declared stand under a declared one",
    "item_set": "items that were not declared stand under a declared one",
}
"""What is said of columns in which values beyond the declared ones were moved, by kind."""
FIRST = "of a set with more items than declared the first ones are kept, in the order of their labels"
"""What is said of sets that were cut short."""
INTERVALS = """
An interval in `)` ends before its upper end; the last one, in `]`, includes it. An end `..` is open: how far the values
reach is not told. `*` in a column of intervals tells nothing: it hides missing values among all others, or stands in a
record that is shown at the top of every column.
"""
DOTTED = """
Where an end has a minus sign of its own, two dots stand between the ends: `[-5..3)`, `[1897-01-01..1946-12-31]`. An end
that is not told is `*`: `[*..37)` is anything below 37. Behind an interval, `or missing` says that some of its records
miss the value. `{a, b}` is one of these labels, and an empty one among them a missing value.
"""
SPELLED = """
`[17-37)` is from 17 to below 37; of numbers the last interval includes its end, `[37-90]`. Intervals of dates never do:
`[1990-03..1991-01)` is from the first day of March 1990 to the last one of that year. Where an end has a minus sign of
its own, two dots stand between the ends: `[-5..3)`. An end that is not told is `*`: `[*..37)` is anything below 37.
`{a, b}` is one of these labels. Behind an interval or a set, `or missing` says that some of its records miss the value.
"""
"""How intervals and sets are read from format 5 on; `INTERVALS` and `DOTTED` said it before."""
QUOTES = """In a set, a label with a comma, a quotation mark or a brace in it stands in quotation marks, its own twice:
`{a, "b, c"}`. Without its braces a set is a line of CSV. `*` alone stands for any value of its column.
"""
"""Said from format 6 on."""
STARS = """
`*` in a column of intervals tells nothing: it hides missing values among all others, or stands in a record that is
shown at the top of every column.
"""
SHOWS_INTERVALS = ("discretize", "extent", "region")
SHOWS_SETS = ("extent", "region")
OPEN_END = """ An end `..` is open: how far the values
reach is not told."""
CITED = {
    "top_down": 'Masked with Sfumato by top-down refinement (Fung, Wang, Wang, Hung, "Privacy-preserving data '
    'publishing for cluster analysis", 2009; Fung, Wang, Yu, "Anonymizing classification data for privacy '
    'preservation", 2007).',
}
FILES = {
    "report.html": "all of this in pictures, for any browser; what it says is not checked by verify",
    "recoding.json": "which values are shown, attribute by attribute",
    "centroids.json": "the centre and the size of each group",
    "regions.json": "the regions that are shown",
    "partition.json": "what each shown interval and set of labels stands for",
    "datapackage.json": "columns, types and labels of the table, for readers of Data Packages",
    "codebook.json": "the mean of each interval, and the shares of the values under each general label",
    "centres.json": "where this table's values stand, and where k-means finds the clusters of the raw table in it",
}
OWN_CENTRES = "centres of the clusters found in this table, and where its values stand"
TREES = "- `taxonomies/`: the trees of labels that general values come from"
CHECKS = "recounts every claim from the file itself."
CHECKS_EPSILON = """checks that the recorded uses of the data add up to epsilon, that every value lies in its declared
domain, and that the file holds nothing else. That the record is complete cannot be seen from a file."""
ALONE = "It needs nothing but this folder."
SAFE = """Texts and names that a spreadsheet would run have an apostrophe before them, which is not part of them.
"""
STARTS = """Look for clusters from many random starts, thirty or more, and keep the best: it costs no privacy, and from
one start k-means often ends elsewhere.
"""
CLUSTERS = """## Find the clusters

    sfumato clusters .

starts k-means from `centres.json`: from random starts it often ends elsewhere. In Python,
`sfumato.find_clusters(".")` tells the cluster of each row.

"""


def title(*, generated: bool, private: bool) -> str:
    """What the page is called; noise that repeats is named first."""
    if not generated:
        return "A masked table"
    return "A generated table" if private else f"{NOT_PRIVATE}: a generated table"


def cited(mask: str, *, generated: bool) -> str:
    """How to cite a release."""
    return CITED.get(mask, f"{'Generated' if generated else 'Masked'} with Sfumato ({mask}).")


def checks(*, generated: bool) -> str:
    """What verify does with a release."""
    return CHECKS_EPSILON if generated else CHECKS


def explained(masked: str | None, calendar: str | None, *, dotted: bool) -> str:
    """What a column shows, in words.

    >>> explained("discretize", "quarter", dotted=True)
    'replaced by an interval such as `[1972-07..1990-07)`: the quarter 1972-07 included, the quarter 1990-07 not'
    """
    if masked == "discretize" and calendar is not None:
        low, high = (floor(day, calendar) for day in ("1972-08-14", "1990-08-14"))
        both = f"the {calendar} {low} included, the {calendar} {high} not"
        between = ".." if dotted and "-" in f"{low}{high}" else "-"
        return f"replaced by an interval such as `[{low}{between}{high})`: {both}"
    shown = "as it is" if masked is None else EXPLAINED[masked]
    return f"{shown}; {_drawn_dates(calendar)}" if masked == "generated" and calendar is not None else shown


def _drawn_dates(calendar: str) -> str:
    """How dates that are generated are written."""
    if calendar in ("hour", "minute", "second"):
        return f"moments in whole {calendar}s"
    return "dates" if calendar == "day" else f"dates in whole {calendar}s, one {calendar} alone as its first day"


def readme(form: Form) -> str:
    """The page as Markdown; the certificate's list of files may be without the page itself."""
    files: dict[str, object] = field(form, "files", dict)
    generated = form.get("guarantee") == GUARANTEE
    private = not generated or bool(mapping(form.get(GUARANTEE), GUARANTEE).get("private"))
    table, mask = field(form, "table", dict), field(form, "mask", str)
    starts = STARTS if generated and "centres.json" not in files else ""
    order = "in their original order" if form.get("row_order") == "kept" else "in random order"
    described = whole(form, "format") >= DESCRIBED
    latest = whole(form, "format") >= LEARNED
    told = whole(form, "format") >= TOLD_BY_GROUPS
    lines = snippet(table, files, classes=form.get(CLASSES), dated=latest, told=told)
    claims = [field(claim, "claim", str) for claim in forms(form, "claims")]
    lines = loaded(lines, claims) if whole(form, "format") >= GATHERED else lines
    more = " ".join(needed(claims))
    return f"""# {title(generated=generated, private=private)}

{escaped(field(form, "statement", str))}

{whole(table, "rows"):,} rows in `{field(table, "file", str)}`, {order}.
An empty cell is a missing value, which counts as a value of its own.
{SAFE if table.get("spreadsheet_safe") else ""}{starts}{_lifted(whole(form, "lifted"))}
| column | role | what is shown |
|---|---|---|
{chr(10).join(_columns(form, dotted=described))}
{_intervals(table, whole(form, "format"))}
{chr(10).join(_beside(files, mask, generated=generated))}

{_labels(form)}## What is not claimed

{chr(10).join("- " + escaped(text) for text in names(form, "not_claimed"))}

{CLUSTERS if "centres.json" in files else ""}{lines if described else ""}## Check it yourself

    pip install sfumato
    sfumato verify .

{checks(generated=generated)} {more or ALONE}

## Cite

{cited(mask, generated=generated)}
"""


def _lifted(count: int) -> str:
    if not count:
        return ""
    who = "1 record is" if count == 1 else f"{count} records are"
    return f"\n{who} shown at the top of every masked column, so that no rare value shows.\n"


def _intervals(table: Form, number: int) -> str:
    """How intervals and sets are read in a format, where there are some."""
    shown = {column.get("masked") for column in forms(table, "columns")}
    if number >= LEARNED:
        sets = QUOTES if number >= QUOTED and shown & {*SHOWS_SETS} else ""
        return (SPELLED + sets if shown & {*SHOWS_INTERVALS} else "") + (STARS if "discretize" in shown else "")
    if number < DESCRIBED:
        return INTERVALS if "discretize" in shown else ""
    said = INTERVALS.replace(OPEN_END, "") if "discretize" in shown else ""
    return said + (DOTTED if shown & {*SHOWS_INTERVALS} else "")


def _columns(form: Form, *, dotted: bool) -> Iterator[str]:
    for column in forms(field(form, "table", dict), "columns"):
        shown = explained_column(form, column, dotted=dotted)
        yield f"| {escaped(field(column, 'name', str))} | {field(column, 'role', str)} | {shown} |"


def explained_column(form: Form, column: Form, *, dotted: bool) -> str:
    """What a column of a certificate shows, in words."""
    masked, unit = column.get("masked"), column.get("calendar")
    shown = explained(None if masked is None else str(masked), None if unit is None else str(unit), dotted=dotted)
    shown = moved(shown, column)
    labels = mapping(form[LABELS], LABELS).get("column") if LABELS in form else None
    return f"{OF_A_LABEL}; {shown}" if column.get("name") == labels else shown


def moved(shown: str, column: Form) -> str:
    """What a column shows, and what became of values beyond the declared ones and of sets that were too large."""
    beyond = [BEYOND[field(column, "kind", str)]] if column.get(OUTSIDE) else []
    return "; ".join([shown, *beyond, *([FIRST] if column.get(SHORTENED) else [])])


def _labels(form: Form) -> str:
    """What is said of labels and a score that go along; nothing where none do."""
    if LABELS not in form:
        return ""
    return "## The labels\n\n" + "".join(f"{escaped(text)}\n\n" for text in told_in_words(form))


def _beside(files: Collection[str], mask: str, *, generated: bool) -> Iterator[str]:
    known = {**FILES, f"{mask}.json": "what the masker learned"} | ({"centres.json": OWN_CENTRES} if generated else {})
    yield from (f"- `{name}`: {known[name]}" for name in sorted(files) if name in known)
    if any(name.startswith("taxonomies/") for name in files):
        yield TREES
    yield "- `certificate.json`: what is claimed, with the SHA-256 of every file"
