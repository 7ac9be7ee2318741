"""The first steps of a run, from its recipe to a masked table that was measured; `handover.py` has the later ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

from sfumato.counting import Engine
from sfumato.data.reading import index_left_out, read
from sfumato.data.schema import Number
from sfumato.data.sources.openers import in_order
from sfumato.data.sources.source import RawTable
from sfumato.data.table import Table
from sfumato.errors import Infeasible, RecipeError, SchemaError, TableError, TaxonomyError, warn
from sfumato.evaluation.advice import advice_on_classes, advice_on_clusters
from sfumato.evaluation.detail import check_detail
from sfumato.evaluation.evaluate import judge, objective_for
from sfumato.evaluation.scores import ALONE_UNMASKED, FOLLOWED, RELATIONS, Scores
from sfumato.events import settling
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.sensitive import counted
from sfumato.privacy.requirements import largest_k
from sfumato.privacy.requirements.anonymity import FEW
from sfumato.publishing.case import Case, prepare
from sfumato.publishing.moved import Clipped
from sfumato.publishing.remarks import Remarks, tell
from sfumato.publishing.same_people import repeated
from sfumato.recipe import Recipe
from sfumato.recipe.policies import findings as policies
from sfumato.release.accounting import Accounting, costs_of
from sfumato.release.earlier import fixed_groups, mask_beside
from sfumato.release.labels import with_labels
from sfumato.release.reading import (
    another_table,
    read_history,
    read_lifted,
    read_mask,
    read_masked,
    refuse_other_table,
)
from sfumato.structure.followed import followed
from sfumato.structure.structures import Found, declared_labels, find, find_any


def open_account(case: Case) -> Case:
    """What may be spent, and where it is entered; what the ledger forbids is told once the table is read."""
    recipe, run = case.recipe, case.run
    policies.refuse(recipe)
    costs = costs_of(recipe, run.chance)
    accounting = Accounting(recipe, costs, run.ledger, trial=run.trial)
    return replace(case, costs=costs, accounting=accounting)


def read_seen(case: Case) -> Case:
    """Read and prepare the table, seen by the ledger as it came in."""
    recipe = case.recipe
    clips = any(isinstance(one, Number) and one.outside is not None for one in recipe.schema.values())
    clipped = Clipped(recipe, case.accounting.look) if clips else None
    _refuse_order(case)
    index_left_out(case.source)
    everything = read(
        case.source,
        recipe.schema,
        encoding=recipe.encoding,
        witness=clipped or case.accounting.look,
        stream=case.run.stream,
        query=recipe.query,
    )
    people = prepare(everything, recipe)
    policies.refuse(recipe, people)
    _refuse_too_few(people, recipe)
    case.accounting.begin()
    rows = repeated(case.source, recipe, stream=case.run.stream)
    remarks = tell(people, recipe, read=everything.rows, more=chain(rows, clipped.told() if clipped else ()))
    left_out = 0 if recipe.mask.guarantee.spends else everything.rows - people.rows
    account = case.accounting.account(people)
    return replace(case, people=people, left_out=left_out, account=account, remarks=remarks)


def _refuse_too_few(people: Table, recipe: Recipe) -> None:
    """No masker makes groups of more people than there are; that is known before anything is masked."""
    sizes = largest_k(recipe.privacy) if recipe.mask.guarantee.claims else {}
    k = max(sizes.values(), default=0)
    if 0 < people.rows < k and k > FEW:  # of fewer, where no size is asked, nothing follows
        raise Infeasible(
            f"k_anonymity on {', '.join(name for name, asked in sizes.items() if asked == k)}",
            "even the most masked table is one group, and a group has at least k people",
            given=f"k = {k} of {people.rows:,} rows",
            remedy="ask for a far smaller k: one near the number of rows shows nothing of anybody; 5 inside a house "
            "and 20 outside it are usual",
        )


def _refuse_order(case: Case) -> None:
    if case.recipe.keep_order and not in_order(case.source):
        raise RecipeError(
            "keep_order",
            "rows that a database or Spark counts have no order",
            given="a recipe that keeps it",
            remedy="leave keep_order out",
        )


def read_again(case: Case) -> Case:
    """Read and prepare the table that a release was made from."""
    recipe, seen = case.recipe, []

    def look(raw: RawTable) -> None:
        """Another table is told as such before anything in it is held against the recipe."""
        seen.append(raw.rows)
        if not recipe.missing:
            refuse_other_table(case.release, raw.rows)

    how: dict[str, Any] = {"encoding": recipe.encoding, "stream": case.run.stream, "query": recipe.query}
    try:
        read_in = read(case.source, recipe.schema, witness=look, **how)
    except (SchemaError, TableError, TaxonomyError) as error:
        if not seen:
            raise
        raise another_table(case.release, f"one that does not fit its recipe ({error.thing}: {error.rule})") from None
    people = prepare(read_in, recipe)
    refuse_other_table(case.release, people.rows)
    return replace(case, people=people)


def find_structure(case: Case) -> Case:
    """Label the records (000 section 4.1, step 1), and say what the masker is given.

    Under a budget, spending begins here: it is reserved in the ledger first.
    """
    recipe, people = case.recipe, case.people
    if recipe.mask.guarantee.spends:
        _tell_unguided(recipe)
    case.closing.enter_context(case.costs.reserving(case.account, recipe))
    found = (find_any if recipe.mask.guarantee.spends else find)(recipe.structure, people)
    if recipe.release.labels and (more := with_labels(recipe, people, found)) is not None:
        case = replace(case, labels=more.labels, recipe=more.recipe, people=more.people)
        recipe, people = more.recipe, more.people
    case = replace(case, remarks=_followed(case, found))
    labels = Labels(
        found.guide,
        max(found.n, int(found.guide.max()) + 1),
        declared_labels(recipe.structure, recipe.schema),
        told_in_part=found.of_column,
    )
    task = Task(
        people,
        labels,
        recipe.privacy,
        case.run.engine or _local(),
        objective=objective_for(recipe.structure, found, people),
        mechanisms=case.costs.mechanisms,
        fixed=fixed_groups(recipe, people),
        detail=recipe.wishes,
    )
    return replace(case, found=found, task=task, counting=replace(task, table=counted(people, recipe.privacy)))


def _tell_unguided(recipe: Recipe) -> None:
    """Warn of classes that guide nothing; under a budget before anything is spent."""
    if (said := advice_on_classes(recipe.structure, recipe.mask)) is not None:
        warn(said)


def _followed(case: Case, found: Found) -> Remarks:
    """Warn of clusters that follow one or two columns; under a budget nothing is told."""
    said = None if case.recipe.mask.guarantee.spends else followed(found, case.people)
    if said is None:
        return case.remarks
    warn(str(said))
    return replace(case.remarks, lines=(*case.remarks.lines, str(said)), followed=said.names)


def find_labels(case: Case) -> Case:
    """The structure, if its labels are in the release that is looked at."""
    return case if case.recipe.release.label_role is None else find_structure(case)


def mask_table(case: Case) -> Case:
    """Mask (step 2), and close what was reserved for it."""
    outcome = mask_beside(case.counting, case.recipe.masker, case.recipe)
    case.closing.close()
    outcome = replace(outcome, masked=outcome.masked.over(case.people))
    return replace(case, outcome=outcome, history=outcome.history)


def mask_until_enough(case: Case) -> Case:
    """The same, unless somebody asks to end the search early: then with what it has found by then, which is told."""
    with settling():
        case = mask_table(case)
    how_far = case.outcome.settled
    if how_far is None:
        return case
    warn(f"masking was ended early, {how_far}. Every claim holds; the recipe as it stands shows more in the end")
    return replace(case, history={**case.history, "settled": how_far})


def mask_again(case: Case) -> Case:
    """What a release shows of the raw table that it was made from, by its mask; and its rows as they were written."""
    mask, written = read_mask(case.release), read_masked(case.release, case.recipe.schema)
    if not written.row_by_row:
        return replace(case, outcome=Outcome(mask, written))
    masked = mask.apply(case.people, lifted=read_lifted(case.release, case.people.rows)).over(case.people)
    return replace(case, outcome=Outcome(mask, masked), written=written)


def measure(case: Case) -> Case:
    """Find the structure again in what is shown, and compare (steps 3 and 4). Wishes for detail must have been kept."""
    recipe, outcome = case.recipe, case.outcome
    detail = check_detail(case.people, outcome.masked, recipe.wishes)
    kind = recipe.release.kind(local=outcome.mask.local)
    judged = judge(
        recipe.structure,
        replace(case.found, measures=case.run.measures),
        case.task,
        outcome,
        seeds=case.seeds,
        written=case.written,
        codebook=kind,
        whole=case.whole,
    )
    advice = advice_on_clusters(case.found.clusters, judged.scores)
    if advice is not None:
        warn(advice)
    if not recipe.mask.guarantee.spends:
        _tell_unguided(recipe)
    scores = {**judged.scores, **({"detail": [one.to_json() for one in detail]} if detail else {})}
    scores |= {ALONE_UNMASKED: case.remarks.alone} if case.remarks.alone else {}
    if RELATIONS in scores:
        scores[RELATIONS] = {**scores[RELATIONS], "remedy": recipe.mask.keeping_relations(recipe.schema)}
    scores |= {FOLLOWED: list(case.remarks.followed)} if case.remarks.followed else {}
    return replace(case, judged=replace(judged, scores=Scores(scores)))


def search_again(case: Case) -> Case:
    """What searching again can tell of a release, such as which k would show more."""
    found = case.recipe.masker.explained(case.counting, read_history(case.release), read_mask(case.release))
    return replace(case, history=found)


def _local() -> Engine:
    from sfumato.engines import LocalEngine

    return LocalEngine()
