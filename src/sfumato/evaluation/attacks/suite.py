"""All attacks that apply to a mask, on a raw table and its masked columns in the same row order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.evaluation.attacks.inference import attack_groups
from sfumato.evaluation.attacks.inversion import Both, Scene, attack_with_known
from sfumato.evaluation.attacks.linkage import link_masked, link_numbers, locate
from sfumato.evaluation.attacks.public_sample import attack_with_sample
from sfumato.evaluation.attacks.results import AttackReport, AttackResult, Measured
from sfumato.evaluation.attacks.settings import Effort
from sfumato.events import watched
from sfumato.maskers.geometric.mask import Transformation
from sfumato.maskers.geometric.operations import Add, Multiply, Turn, numbers_in, of_arrow

LEAST_ROWS = 10


def attack_transformation(
    table: Table,
    mask: Transformation,
    masked: Masked | None = None,
    *,
    effort: Effort | None = None,
) -> AttackReport:
    """Attacks on transformed numbers. `masked`: what the mask made of the table (None: it is applied again)."""
    how = effort or Effort()
    both = Both.of(table, mask.apply(table) if masked is None else masked, mask.names)
    if both.rows < LEAST_ROWS:
        return AttackReport(mask.kind, table.rows, (), {"all": f"fewer than {LEAST_ROWS} complete records"})
    scenes = scenes_of(both, mask, table)
    results: list[AttackResult] = []
    for scene in watched(scenes):
        results += attack_with_known(scene, most=min(how.known, both.rows - 1), trials=how.trials, seed=how.seed)
    results += attack_with_sample(scenes[0], seed=how.seed)
    if is_isometry(mask):
        results.append(locate(scenes[0], trials=how.trials, seed=how.seed))
    results.append(link_numbers(scenes[0], seed=how.seed))
    left_out = {
        "homogeneity and background knowledge": "groups of equal values are what recodings make",
        "prosecutor, journalist, marketer": "no two records look alike; whoever undoes the mask finds everybody",
        "singling out, linkability, inference": "transformed numbers cannot be set beside raw ones before the mask "
        "is undone, which the attacks above do",
    }
    if not is_isometry(mask):
        left_out["locating by distances"] = "this mask changes the distances between records"
    return AttackReport(mask.kind, table.rows, tuple(results), left_out)


def attack_recoding(
    table: Table, masked: Masked, *, kind: str, effort: Effort | None = None, measured: Measured | None = None
) -> AttackReport:
    """Attacks on labels and intervals: the three criteria as `measured`, linkage, and what groups tell of secrets."""
    how, found = effort or Effort(), measured or Measured()
    groups = attack_groups(table, masked)
    results = (*found.results, link_masked(table, masked, seed=how.seed), *groups)
    left_out = {
        **found.left_out,
        "known records, public sample": "a recoding shows intervals and labels; there is no key to solve for",
    }
    if not groups:
        left_out["homogeneity and background knowledge"] = "no attribute has the role sensitive"
    return AttackReport(kind, table.rows, results, left_out, found.risk)


def attack_generated(table: Table, *, kind: str, measured: Measured) -> AttackReport:
    """What is measured of rows that were generated: nobody's own record is among them."""
    left_out = {
        **measured.left_out,
        "prosecutor, journalist, marketer": "generated rows are nobody's: the size of a group protects no one in it",
        "record linkage, homogeneity": "no row is any person's own record",
        "known records, public sample": "there is no key to solve for",
    }
    return AttackReport(kind, table.rows, measured.results, left_out)


def is_isometry(mask: Transformation) -> bool:
    """Whether distances, in the scale of its frames, are those of the raw table."""
    return bool(mask.operations) and not any(isinstance(step, Multiply) for step in mask.operations)


def scenes_of(both: Both, mask: Transformation, table: Table) -> list[Scene]:
    """The attacker who knows the kind of transformation and its scale, then the one who knows neither."""
    complete = np.ones(table.rows, dtype=np.bool_)
    for name in mask.names:
        column = table.column(name)
        complete &= column.codes != column.missing_code
    noisy_everywhere = any(noise.share == 1 for noise in mask.noises)
    fair = np.ones(both.rows, dtype=np.bool_) if noisy_everywhere else ~mask.touched(table.rows)[complete]
    if not fair.any():
        fair = np.ones(both.rows, dtype=np.bool_)
    blur = _blur(both, mask, table)
    blind = Scene.of(both, "affine", fair, blur)
    model = model_of(mask)
    if model == "affine" or both.dims == 1:
        return [Scene.of(both, model, fair, blur)]
    if model != "rotation":
        return [Scene.of(both, model, fair, blur), blind]
    centre = np.array([frame.centre for frame in mask.frames.values()])
    unit = np.array([frame.unit for frame in mask.frames.values()])
    return [Scene(both, model, centre, unit, fair, blur), blind]


def _blur(both: Both, mask: Transformation, table: Table) -> NDArray[np.float64]:
    """(attributes,): how far the key itself misses 99 of 100 raw numbers, if the release is rounded."""
    if not mask.rounding:
        return np.zeros(both.dims)
    back = mask.invert(mask.apply(table))
    missed = [np.abs(of_arrow(back[name]) - numbers_in(table, name)) for name in mask.names]
    return np.array([float(np.nanquantile(one, 0.99)) for one in missed])


def model_of(mask: Transformation) -> str:
    """What an attacker who is told the kind of mask takes it for."""
    kinds = {type(step) for step in mask.operations}
    plain = {frozenset({Add}): "translation", frozenset({Multiply}): "scaling", frozenset({Turn}): "rotation"}
    if kinds <= {Add, Multiply} and len(kinds) == 2:
        return "moved and scaled"
    return plain.get(frozenset(kinds), "affine" if kinds else "translation")
