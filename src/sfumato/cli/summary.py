"""What a release looks like in the terminal: verdict, what is shown, what survived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli.claims import across, claims_table
from sfumato.cli.columns import BAR, LONGEST_LABEL, columns_note, columns_table, lost_relations
from sfumato.cli.ledger import show_promise
from sfumato.cli.output import show
from sfumato.errors import visible

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.data.schema import Schema
    from sfumato.evaluation.worth import GivenAway, Worth
    from sfumato.recipe import Recipe
    from sfumato.release.release import Release

STABLE = 0.95
"""Raw data that are clustered again and are less like themselves than this have no clusters that everybody finds."""
OTHER_K = "Another k may be found again better (structure: {k: auto} tries 2 to 10)."
OTHER_THAN_AUTO = (
    "`k: auto` took the number from 2 to 10 with the best silhouette: a smaller one (structure: k: 3), or records that "
    "are compared by fewer columns (structure: attributes: [...]), may be found again better."
)
"""What to try where they do not."""
NAMED = 5
"""Columns that a line names."""
USUAL_BOUND = 0.75
"""What is proposed as a bound of a secret's certainty, where the table allows it."""
WIDTH = 10


def show_release(release: Release, output: Path) -> None:
    """The verdict, each claim, what each masked column still tells, the scores, and what would show more."""
    from rich.text import Text

    worth = release.worth
    style = "bold red" if not release.verdict.holds else "bold yellow" if worth.but else "bold green"
    show(Text(headline(release), style=style))
    for line in bounds(release):
        show(f"  {line}")
    if release.recipe.mask.guarantee.spends:
        show_promise(release.certificate)
    else:
        show(claims_table(release.certificate, release.recipe.schema.quasi))
        for line in across(release.certificate["claims"]):
            show(line)
    if worth.columns:
        show(columns_table(worth.columns))
        if noted := columns_note(worth.columns, release.recipe.mask, release.recipe.schema):
            show(noted)
    if worth.relations is not None and worth.relations.gone:
        show(lost_relations(worth.relations))
    if release.scores.get("detail"):
        show(detail_kept(release.scores["detail"]))
    for line in found_again(release.scores, worth, auto=_chosen(release.recipe)):
        show(line)
    show_certain(release.scores, numbers_in(release.recipe.schema))
    show_scores(release.scores)
    for line in (*tries_told(release.scores), *beside_earlier(release.recipe, release.worth)):
        show(line)
    if not release.tells_centres and (release.scores.get("clusters") or _generates_clusters(release.recipe)):
        show(centres_stay(release.recipe))
    if release.recipe.people is not None and not release.mask.rules and not release.recipe.mask.guarantee.spends:
        show(
            "No later release of these people can be made safe with this one (earlier:): that takes releases by "
            "top_down, or a budget."
        )
    show(f"Check it again at any time: {recheck(release.recipe, output)}")


def numbers_in(schema: Schema) -> list[str]:
    """The columns of numbers."""
    from sfumato.data.schema import Number

    return [name for name in schema if isinstance(schema[name], Number)]


def headline(release: Release) -> str:
    """The first line: the verdict, what must be known before anything is handed over, and what survived."""
    return release.worth.sentence("VERIFIED" if release.verdict.holds else "NOT VERIFIED")


def suggestions(release: Release) -> list[str]:
    """What could be done about it, a line each, as the terminal tells it."""
    lines = (*tries_told(release.scores), *beside_earlier(release.recipe, release.worth))
    return [*bounds(release), *(" ".join(line.split()) for line in lines)]


def proposals(release: Release) -> list[dict[str, str]]:
    """The same for programs, in two fields: what is to be added to the command, if anything, and what it does."""
    from sfumato.evaluation.tries import Tries

    found = []
    for line in bounds(release):
        says, option, change = line.partition("--set ")
        found.append({"set": f"{option}{change}", "says": says.rstrip(", ") if option else line})
    better = Tries.from_json(release.scores["tries"]).better if "tries" in release.scores else ()
    found += [{"set": one.settings, "says": f"{one.figures}; {one.price}"} for one in better]
    return [*found, *({"set": "", "says": line} for line in beside_earlier(release.recipe, release.worth))]


def beside_earlier(recipe: Recipe, worth: Worth) -> list[str]:
    """What could be done where little can be shown beside earlier releases; there no other settings are tried."""
    if not recipe.before.releases or not worth.hardly:
        return []
    bare = [name for name in recipe.schema.kept if recipe.schema[name].role == "plain"]
    named = f" ({', '.join(bare[:NAMED])}{', ...' if len(bare) > NAMED else ''})" if bare else ""
    return [
        "Beside earlier releases little is left to be shown: whoever has them all compares rows by every column that "
        "they have in common. What would show more: fewer quasi-identifiers (role: identifier, and out of on:), fewer "
        f"plain columns{named}, a smaller k; or publish this one and those to come under a budget (mask: private_tree, "
        "budget: {epsilon: 1}, without earlier), whose promise holds whatever else is out. docs/several.md tells what "
        "growing costs."
    ]


def bounds(release: Release) -> list[str]:
    """How to bound what is told of each secret that is given away; not of one of which no bound would help."""
    found = [(secret, feasible_bound(release.shown, secret)) for secret in release.worth.given_away]
    return [bounding(release.recipe, secret, share) for secret, share in found if share is not None]


def feasible_bound(shown: pa.Table, secret: GivenAway) -> float | None:
    """A bound that the whole table keeps with some room, and below what counts as nearly certain; None where there is
    none. One that is asked of fewer columns stays as it is."""
    from math import ceil

    import numpy as np

    from sfumato.data.table import column_of
    from sfumato.evaluation.certainty import NEARLY

    if secret.bound is not None and secret.bound < NEARLY:
        return secret.bound
    held = column_of(shown.column(secret.name)).codes
    commonest = np.bincount(held).max(initial=0) / max(shown.num_rows, 1)
    bound = max(USUAL_BOUND, ceil(100 * (commonest + NEARLY) / 2) / 100)
    return bound if bound < NEARLY else None


def bounding(recipe: Recipe, secret: GivenAway, share: float) -> str:
    """How to bound what is told of a secret: in place of what the recipe asks for it, or beside it."""
    needs = list(recipe.privacy)
    at = next((n for n, need in enumerate(needs) if need.claim().get("sensitive") == secret.name), None)
    on = ", ".join(recipe.schema.quasi if at is None or secret.bound == share else needs[at].on)
    asked = f"l_diversity: 2, kind: items, c: {share:g}" if secret.of_items else f"confidence_bound: {share:g}"
    bound = f"{{{asked}, on: [{on}], sensitive: {secret.name}}}"
    whom = f"to bound what is told of {secret.name}"
    return f"{whom}, --set 'privacy.{at}={bound}'" if at is not None else f"{whom}, in privacy: - {bound}"


def centres_stay(recipe: Recipe) -> str:
    """Why the centres of the clusters are not released, and what would change that."""
    from sfumato.data.schema import ItemSet, Number
    from sfumato.structure.layouts import MOST_NODES
    from sfumato.structure.structures import clusters_of

    if not recipe.release.starting_centres:
        return "The clusters' centres do not go along, as the recipe says."
    clusters = clusters_of(recipe.structure)
    chosen = None if clusters is None else clusters.attributes
    compared = chosen or (*recipe.schema.quasi, *recipe.schema.with_role("plain"))
    if recipe.mask.guarantee.spends:
        return _none_generated(recipe, compared)
    why: list[str] = []
    for name, attribute in ((name, recipe.schema[name]) for name in compared):
        if isinstance(attribute, ItemSet):
            if name in recipe.schema.quasi:
                why.append(f"{name}, an item set")
            elif len(attribute.taxonomy.labels if attribute.taxonomy else attribute.values or ()) > MOST_NODES:
                why.append(f"{name}, an item set of more than {MOST_NODES} labels")
        elif isinstance(attribute, Number) and (recipe.mask.averages or name not in recipe.schema.quasi):
            if attribute.calendar is not None:
                why.append(f"{name}, a date or time")
            elif attribute.range is None and name in recipe.schema.quasi:
                why.append(f"{name}, a number without a declared range (declare it)")
    if not why:
        return (
            "The clusters' centres do not go along: either a cluster has fewer records than k, or a mask by "
            f"{recipe.mask.__class__.__name__} leaves no space for them."
        )
    return f"The clusters' centres do not go along: they would tell more than the table does of {'; '.join(why)}."


def _generates_clusters(recipe: Recipe) -> bool:
    """Whether clusters would be found in generated rows."""
    from sfumato.structure.structures import clusters_of

    return recipe.mask.guarantee.spends and clusters_of(recipe.structure) is not None


def _none_generated(recipe: Recipe, compared: Sequence[str]) -> str:
    """Why generated rows have no centres beside them, and what their recipient can do."""
    from sfumato.data.schema import Number

    found = ((name, recipe.schema[name]) for name in compared)
    dates = [name for name, one in found if isinstance(one, Number) and one.calendar is not None]
    needed = "they are found in rows of values (rows: values), ten of them at least, and two for each cluster"
    bare = f"; none are where records are compared by dates ({visible(', '.join(dates))})" if dates else ""
    return (
        f"The clusters' centres do not go along: {needed}{bare}. Whoever has the release finds as many clusters "
        "as he asks for: sfumato clusters RELEASE --k 5, in Python sf.load(RELEASE).clusters(5)."
    )


def told_of_secrets(release: Release) -> dict[str, float]:
    """Sensitive columns that groups tell with 90 % certainty or more, each with the share of the records.

    Groups are of records that show the same in all masked columns. What plain columns tell is not in it: of these a
    warning speaks. Also those that anybody would guess as well, or of few records: of these the headline is silent.
    Not those of which one value is bounded, and it is others that can be told.
    """
    from sfumato.evaluation.certainty import ONE_BOUNDED

    secret = release.recipe.schema.with_role("sensitive")
    told = [one for one in release.scores.get("certain", ()) if not one.get(ONE_BOUNDED)]
    found = {one["attribute"]: float(one["nearly_certain"]) for one in told}
    return {name: share for name, share in found.items() if share and name in secret}


def recheck(recipe: Recipe, output: Path) -> str:
    """The command that verifies the release, with what lies outside its folder."""
    return f"sfumato verify {output}{beside(recipe)}"


def beside(recipe: Recipe) -> str:
    """What a command that verifies a release takes besides its folder: earlier releases, a population."""
    populations = [need.population for need in recipe.privacy if need.population is not None]
    earlier = [f" --with {folder}" for folder in recipe.before.releases]
    return "".join([*earlier, *(f" --population {one}" for one in populations)])


def detail_kept(kept: Sequence[Mapping[str, Any]]) -> str:
    """The recipe's wishes for detail: what comes out has kept them.

    >>> detail_kept([{"column": "age", "shown": "in intervals of at most 10"}])
    'As finely as detail wishes, everybody is shown: age in intervals of at most 10.'
    """
    told = "; ".join(f"{visible(one['column'])} {one['shown']}" for one in kept)
    return f"As finely as detail wishes, everybody is shown: {told}."


def _chosen(recipe: Recipe) -> bool:
    """Whether the number of clusters was chosen by their silhouette."""
    from sfumato.structure.structures import clusters_of

    clusters = clusters_of(recipe.structure)
    return clusters is not None and clusters.k == "auto"


def found_again(scores: Mapping[str, Any], worth: Worth, *, auto: bool = False) -> list[str]:
    """Which clusters are lost, and how well they are found without help. `auto`: the recipe says `k: auto` already."""
    values = {name: score["value"] for name, score in scores.get("scores", {}).items()}
    lines = [f"Lost: {one}." for one in worth.lost]
    if "f_measure.cold1" in values and not worth.unmasked:
        one, ten = values["f_measure.cold1"], values["f_measure.cold10"]
        raw = values.get("f_measure.ceiling.mean")
        beside = "" if raw is None else f"; raw data clustered again with another seed: {raw:.2f}"
        lines.append(
            f"Clusters found again without help (F-measure): {one:.2f} with one start, {ten:.2f} with the best of "
            f"ten{beside}."
        )
        if raw is not None and raw < STABLE:
            unstable = "So many clusters are not stable in the raw table itself: other starts find others."
            lines.append(f"{unstable} {OTHER_THAN_AUTO if auto else OTHER_K}")
    return lines


def show_certain(scores: Mapping[str, Any], numbers: Sequence[str] = ()) -> None:
    """Of how many people the class, or a secret, is certain: it may be, under k-anonymity. `numbers`: such columns."""
    from rich.table import Table

    from sfumato.evaluation.certainty import EXACT, OF_ITEMS, ONE_BOUNDED, OTHERS, SETS

    if not scores.get("certain"):
        return
    table = Table(title="Records whose value their group gives away", title_justify="left")
    for heading in ("", "certain", "90 % or more", "without masking: certain", "90 % or more"):
        table.add_column(heading, justify="right" if heading else "left")
    for one in scores["certain"]:
        shares = [one[key] for key in ("certain", "nearly_certain", "certain.raw", "nearly_certain.raw")]
        table.add_row(visible(one["attribute"]), *(f"{share:.0%}" for share in shares))
    show(table)
    if exact := [visible(one["attribute"]) for one in scores["certain"] if one["attribute"] in numbers]:
        show(f"{', '.join(exact)}: {EXACT}")
    if sets := [visible(one["attribute"]) for one in scores["certain"] if one.get(OF_ITEMS)]:
        show(f"{', '.join(sets)}: {SETS}")
    if others := [visible(one["attribute"]) for one in scores["certain"] if one.get(ONE_BOUNDED)]:
        show(f"{', '.join(others)}: {OTHERS}")


def tries_told(scores: Mapping[str, Any]) -> list[str]:
    """Settings that were tried and show more, beside the table as it is; each in one line, to be copied."""
    if "tries" not in scores:
        return []
    from sfumato.evaluation.tries import Tries

    found = Tries.from_json(scores["tries"])
    as_it_is = [f"  as it is: {found.as_it_is.figures}. To be added to the command:"] if found.better else []
    tried = [f"  {visible(one.settings)}\n    {one.figures}; {visible(one.price)}" for one in found.better]
    return [found.told, *as_it_is, *tried]


def frequencies(table: pa.Table, name: str) -> list[tuple[str, float]]:
    """Values of a column and their shares, most frequent first."""
    import numpy as np

    from sfumato.data.table import ItemColumn, column_of

    shown = column_of(table.column(name))
    labels = shown.items if isinstance(shown, ItemColumn) else shown.labels
    counts = np.bincount(shown.codes, minlength=len(labels) + 1).tolist()
    pairs = [
        (visible(label, most=LONGEST_LABEL), count)
        for label, count in zip((*labels, "(missing)"), counts, strict=True)
        if count
    ]
    total = max(sum(counts), 1)
    return [(label, count / total) for label, count in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))]


def decades(table: pa.Table, name: str) -> list[tuple[str, float]]:
    """Shares of a whole number's tens, in order."""
    import numpy as np

    tens = table.column(name).drop_null().to_numpy() // 10
    counts = np.bincount(tens)
    return [(f"{10 * ten}-{10 * ten + 9}", count / len(tens)) for ten, count in enumerate(counts.tolist()) if count]


def bars(pairs: Sequence[tuple[str, float]], most: int = 8) -> str:
    """A small bar chart, one line a value."""
    widest = max((share for _, share in pairs), default=1.0)
    lines = [f"{BAR * max(1, round(WIDTH * share / widest)):<{WIDTH}} {label}" for label, share in pairs[:most]]
    return "\n".join([*lines, *([f"{'':<{WIDTH}} and {len(pairs) - most} more"] if len(pairs) > most else [])])


def show_scores(scores: Mapping[str, Any]) -> None:
    """What survived of the structure, beside raw data clustered again and its floor."""
    if not scores:
        return
    from rich.table import Table

    table = Table(title="What survived, and what is risked (for your eyes only)", title_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for score in scores.get("headline", ()):
        table.add_row(score["says"], f"{score['value']:.3f}")
    show(table)


def show_all_scores(scores: Mapping[str, Any]) -> None:
    """Every figure by name, with its meaning and who may see it."""
    from rich.table import Table

    table = Table(title="Every figure", title_justify="left")
    for heading in ("name", "value", "may be published", "meaning"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for name, score in scores["scores"].items():
        table.add_row(name, f"{score['value']:.4g}", "yes" if score["publishable"] else "no", score["meaning"])
    show(table)
    for row in scores.get("clusters", ()):
        show(", ".join(f"{key} {value}" for key, value in row.items()))
